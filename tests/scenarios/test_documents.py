"""Every file gives plain data or a sentence."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from warex.errors import ScenarioError
from warex.scenarios.load import load_scenario

type Refusal = Callable[..., str]


@pytest.fixture
def refusal(tmp_path: Path) -> Refusal:
    """Return what is said of a file with this content, without the folder's name."""

    def refused(content: str | bytes, name: str = "shop.yaml") -> str:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        with pytest.raises(ScenarioError) as caught:
            load_scenario(path)
        return str(caught.value).replace(f"{tmp_path}{os.sep}", "")

    return refused


def test_a_byte_order_mark_is_not_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "s.yml"
    path.write_bytes(b"\xef\xbb\xbfname: s\n")
    assert load_scenario(str(path)).name == "s"


def test_a_date_as_a_name_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("name: 2026-01-31\n")
    assert load_scenario(path).name == "2026-01-31"


def test_keys_must_be_text(refusal: Refusal) -> None:
    assert refusal("name: s\n1: x\n") == (
        "shop.yaml cannot be used: line 2: the key 1 is not text; put it in quotes"
    )
    assert "line 2: the key on is not text; YAML reads on, off" in refusal("name: s\non: x\n")
    assert "line 1: a key must be text, not a list or a mapping" in refusal("? [a]\n: b\n")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.yaml", "name: a\nname: b\n"),
        ("s.json", '{"name": "a", "name": "b"}'),
        ("s.toml", 'name = "a"\nname = "b"\n'),
    ],
)
def test_a_key_given_twice_is_refused(refusal: Refusal, name: str, content: str) -> None:
    message = refusal(content, name)
    assert message.startswith(name)
    assert "twice" in message or "overwrite" in message


@pytest.mark.parametrize("content", ["", "   \n\t", "# only this\n", "---\n"])
def test_an_empty_file_is_refused(refusal: Refusal, content: str) -> None:
    assert refusal(content).startswith("shop.yaml is empty")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.yaml", "[" * 100_000),
        ("s.yaml", "a: " + "{a: " * 100_000),
        ("s.yaml", "- " * 100_000),
        ("s.json", "[" * 100_000 + "]" * 100_000),
        ("s.json", '{"a":' * 100_000),
        ("s.toml", "a = " + "[" * 100_000),
        ("s.toml", ".".join("a" * 100) + " = 1"),
        ("s.yaml", "name: &a [*a]\n"),
        ("s.yaml", "name: &a {b: *a}\n"),
    ],
)
def test_a_file_that_is_too_deep_is_refused(refusal: Refusal, name: str, content: str) -> None:
    assert refusal(content, name) == f"{name} is nested more than 32 levels deep"


def test_brackets_in_text_do_not_nest(tmp_path: Path) -> None:
    brackets = "[" * 100 + "." * 400
    (tmp_path / "s.json").write_text(json.dumps({"name": "s", "description": brackets}))
    (tmp_path / "s.toml").write_text(f'name = "s"\ndescription = "{brackets}"\n')
    assert load_scenario(tmp_path / "s.json") == load_scenario(tmp_path / "s.toml")


def test_a_yaml_bomb_is_refused(refusal: Refusal) -> None:
    lines = ['a0: &a0 ["x", "x", "x", "x", "x", "x", "x", "x", "x", "x"]']
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    message = refusal("\n".join(lines))
    assert message == (
        "shop.yaml cannot be used: it has more than 50,000 values, with aliases expanded"
    )


@pytest.mark.parametrize("suffix", ["yaml", "json", "toml"])
def test_a_file_of_too_many_values_is_refused(refusal: Refusal, suffix: str) -> None:
    content = f"[{', '.join('1' * 50_001)}]"
    message = refusal(content if suffix != "toml" else f"name = {content}", f"s.{suffix}")
    assert "it has more than 50,000 values" in message


def test_an_alias_that_stays_small_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(
        "name: s\nrules:\n"
        "  - {name: a, trigger: &t {first: 1}, fault: &f {kind: http_error}}\n"
        "  - {name: b, trigger: *t, fault: {<<: *f, status: 503}}\n"
    )
    first, second = load_scenario(path).rules
    assert first.trigger == second.trigger


def test_yaml_tags_are_refused(refusal: Refusal) -> None:
    message = refusal('name: !!python/object/apply:os.system ["true"]\n')
    assert (
        "line 1: the tag tag:yaml.org,2002:python/object/apply:os.system is not allowed" in message
    )


@pytest.mark.parametrize(
    ("name", "content", "where"),
    [
        ("s.yaml", "name: s\nrules: [\n", "line 3, column 1"),
        ("s.yaml", "name: s\nrules: {]\n", "line 2, column 9"),
        ("s.yaml", "name: s\n\x01\n", "line 2: the control character U+0001 is not allowed"),
        ("s.json", '{"name": "s"\n"rules": []}', "line 2, column 1"),
        ("s.toml", 'name = "s"\nrules = \n', "line 2, column 9"),
    ],
)
def test_a_slip_of_syntax_is_reported_with_its_line(
    refusal: Refusal, name: str, content: str, where: str
) -> None:
    message = refusal(content, name)
    assert message.startswith(f"{name} is not well-formed ")
    assert where in message


@pytest.mark.parametrize("suffix", ["yaml", "json", "toml"])
def test_binary_rubbish_is_refused(refusal: Refusal, suffix: str) -> None:
    message = refusal(bytes(range(256)), f"s.{suffix}")
    assert message == f"s.{suffix} is not text in UTF-8: byte 0x80 at position 128"


def test_values_that_json_has_no_word_for_are_refused(refusal: Refusal) -> None:
    assert "NaN is not allowed; give a finite number" in refusal('{"name": NaN}', "s.json")
    assert "infinity is not allowed" in refusal('{"name": 1e999}', "s.json")
    assert "holds a date, 2026-01-01; put it in quotes" in refusal("name = 2026-01-01", "s.toml")
    assert "holds text that is not Unicode: '\\ud800'" in refusal('{"name": "\\ud800"}', "s.json")
    assert "cannot be read" in refusal("name: " + "1" * 5000)


def test_a_file_that_is_too_large_is_refused(refusal: Refusal) -> None:
    message = refusal("#" * 1_000_001)
    assert message == "shop.yaml is larger than 1,000,000 bytes, which is too large for a scenario"


def test_what_is_not_a_readable_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "dir.yaml").mkdir()
    (tmp_path / "s.txt").write_text("name: s\n")
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    for name, sentence in (
        ("dir.yaml", "is a directory; give the file of a scenario"),
        ("gone.yaml", "does not exist; give the file of a scenario"),
        ("s.txt", "its name must end in .yaml, .yml, .toml or .json"),
        ("loop.yaml", "cannot be read: "),
        ("pipe.yaml", "is not an ordinary file"),
    ):
        with pytest.raises(ScenarioError, match=sentence):
            load_scenario(tmp_path / name)


def test_a_file_without_permission_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.yaml"
    path.write_text("name: s\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    # Root may read every file, so the refusal is the test's own.
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ScenarioError, match="cannot be read: Permission denied"):
        load_scenario(path)
