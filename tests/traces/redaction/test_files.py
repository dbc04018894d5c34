import json
import tracemalloc
from pathlib import Path

import pytest

from warex.errors import MachineError
from warex.traces.redaction.files import redact_file, redact_learned, secrets_of

HUSH = 'hush-hush é"1'


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("OPENAI_API_KEY", True),
        ("API_KEY", True),
        ("hf_token", True),
        ("APP_SECRET", True),
        ("OPENAI_API_KEY_FILE", False),
        ("TOKENIZERS", False),
        ("MONKEY", False),
    ],
)
def test_a_variable_is_secret_by_its_name(name: str, secret: bool) -> None:
    assert secrets_of({name: "12345678"}) == ({"12345678"} if secret else set())


def test_what_is_short_is_not_a_secret_and_lines_are_secrets_by_themselves() -> None:
    assert secrets_of({"A_TOKEN": "1234567", "B_SECRET": "-----\n12345678\nabcdefgh\n"}) == {
        "12345678",
        "abcdefgh",
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"no key {HUSH}.\n", "no key [redacted].\n"),
        ("provided: Bearer a1b2c3d4e5f6g7\n", "provided: Bearer [redacted]\n"),
        ("at http://u:p@h.example/?key=p now", "at http://redacted@h.example/?key=[redacted] now"),
        ("a\r\nb\n\nc", "a\r\nb\n\nc"),
    ],
)
def test_secrets_go_and_all_else_stays(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "agent.log"
    path.write_bytes(b"\xff\x00" + before.encode())

    redact_file(path, [HUSH])

    assert path.read_bytes() == b"\xff\x00" + after.encode()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_file_of_json_stays_json(tmp_path: Path, ascii_only: bool) -> None:
    path = tmp_path / "result.json"
    answer = {"error": f'"{HUSH}" at "http://u:p@h/?key=p"', "answer": "7"}
    path.write_text(json.dumps(answer, ensure_ascii=ascii_only, indent=1), "utf-8")

    redact_file(path, [HUSH])

    assert json.loads(path.read_bytes()) == {
        "error": '"[redacted]" at "http://redacted@h/?key=[redacted]"',
        "answer": "7",
    }


def test_what_is_not_a_file_is_left(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text(HUSH)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")

    for name in ("none", "link", "."):
        redact_file(tmp_path / name, [HUSH])

    assert (tmp_path / "elsewhere").read_text() == HUSH


@pytest.mark.parametrize("before", [0, 300_000])
def test_a_private_key_goes_with_all_its_lines(tmp_path: Path, before: int) -> None:
    path = tmp_path / "agent.log"
    kind = "RSA PRIVATE KEY-----"
    key = f"-----BEGIN {kind}\nMIIEvQIBADANBg\nkqhkiG9w0\n-----END {kind}"
    path.write_text("x" * before + f"\n{key}\nafter\n")

    redact_file(path)

    left = path.read_text()
    assert "MIIE" not in left
    assert "kqhk" not in left
    assert left.endswith("-----END RSA PRIVATE KEY-----\nafter\n")


def test_a_file_that_cannot_be_read_is_reported_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "agent.log"
    log.write_text("key")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # Root may read any file.

    with pytest.raises(MachineError, match="permission denied"):
        redact_file(log)
    assert [path.name for path in tmp_path.iterdir()] == ["agent.log"]


@pytest.mark.parametrize("before", [0, 7, 2**18 - 9, 2**18 - 5, 2**18 + 3])
def test_a_learned_secret_is_removed_everywhere_in_a_file(tmp_path: Path, before: int) -> None:
    path = tmp_path / "agent.log"
    path.write_bytes(b"\xff" * before + b'"Kettle!4711xyz" or Kettle%214711xyz' + b"\xfe" * 2**18)

    redact_learned(path, ["Kettle!4711xyz"])

    expected = b"\xff" * before + b'"[redacted]" or [redacted]' + b"\xfe" * 2**18
    assert path.read_bytes() == expected


def test_a_file_without_what_was_learned_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    path.write_text("maplekettles")
    before = path.stat().st_ino

    redact_learned(path, ["Kettle!4711xyz"])
    redact_learned(tmp_path / "none.log", ["Kettle!4711xyz"])

    assert path.stat().st_ino == before


def test_a_line_of_any_length_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    path.write_bytes((b"word " * 16_000 + b"password=Kettle!4711xyz ") * 100)

    tracemalloc.start()
    redact_file(path)
    redact_learned(path, ["Tundra!4711xyz"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 6 * 2**20 < path.stat().st_size
    with path.open("rb") as file:
        assert all(b"Kettle" not in block for block in iter(lambda: file.read(2**20), b""))
