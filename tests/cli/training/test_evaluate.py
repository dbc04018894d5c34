import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.exports.builders import MANIFEST, failure, row
from tests.training.endpoint import CHOICE, Endpoint, endpoint
from warex.cli import main
from warex.cli.training.evaluate import _names
from warex.exports.dataset import UnwrittenDataset, write_dataset
from warex.exports.rows import ChatMessage, Row


def code(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return int(ended.value.code or 0)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    test = [*(row(f"c{at}") for at in range(3)), *(failure(f"f{at}") for at in range(3))]
    write_dataset(tmp_path / "data", UnwrittenDataset(MANIFEST, {"test": test}), lambda _: "")
    return tmp_path / "data"


@pytest.fixture
def url() -> Iterator[str]:
    with endpoint() as served:
        yield served


def asked(data: Path, url: str, *more: object) -> int:
    return code("evaluate", "--data", data, "--model", "m", "--endpoint", url, *more)


@pytest.mark.wire
def test_a_model_that_always_reloads_recovers_and_is_seen_for_what_it_is(
    data: Path, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(data, url, "--json", "--out", tmp_path / "out") == 0

    numbers = json.loads(capsys.readouterr().out)
    (one,) = numbers
    assert (one["recovery"]["hits"], one["recovery"]["n"]) == (3, 3)
    assert one["clean"]["agreement"]["hits"] == 0
    assert one["clean"]["false_reloads"]["hits"] == 3
    lines = (tmp_path / "out/answers.jsonl").read_text().splitlines()
    assert {json.loads(line)["class"] for line in lines} == {"recovery", "false_reload"}
    assert "✓ recovery `reload()`" in (tmp_path / "out/table.md").read_text()
    assert json.loads((tmp_path / "out/summary.json").read_text()) == numbers
    assert one["separable_by"] is None
    assert one["answered_freely"] is None
    assert {it["baseline"] for it in one["baselines"]} >= {"few elements", "majority"}
    assert "| few elements | — | 3/3" in (tmp_path / "out/table.md").read_text()


@pytest.mark.wire
def test_an_evaluation_that_did_not_end_is_resumed(
    data: Path, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    Endpoint.answers[:] = [(200, CHOICE)] * 2 + [(401, {"error": "no more credit"})]
    assert asked(data, url, "--out", out, "--batch", "1") == 2
    partial = out / "answers.partial.jsonl"
    assert f"2 of 6 answers are kept in {partial}; ask the others with --resume" in (
        capsys.readouterr().err
    )

    assert asked(data, url, "--out", out) == 2
    assert "--resume" in capsys.readouterr().err
    assert len(partial.read_text().splitlines()) == 2

    with partial.open("a") as torn:
        torn.write('{"model": "m", "ro')
    Endpoint.answers[:], Endpoint.asked[:] = [(200, CHOICE)], []
    assert asked(data, url, "--out", out, "--resume", "--json") == 0
    assert len(Endpoint.asked) == 4
    assert json.loads(capsys.readouterr().out)[0]["recovery"]["n"] == 3
    rows = [json.loads(line)["row"] for line in (out / "answers.jsonl").read_text().splitlines()]
    assert sorted(rows) == ["c0", "c1", "c2", "f0", "f1", "f2"]
    assert not partial.exists()


def interrupted(data: Path, url: str, out: Path, *more: object) -> Path:
    """Return the answers of an evaluation that an endpoint ended after two of them."""
    Endpoint.answers[:] = [(200, CHOICE)] * 2 + [(401, {"error": "no more credit"})]
    assert asked(data, url, "--out", out, "--batch", "1", *more) == 2
    Endpoint.answers[:], Endpoint.asked[:] = [(200, CHOICE)], []
    return out / "answers.partial.jsonl"


@pytest.mark.wire
@pytest.mark.parametrize(
    ("options", "different"),
    [
        (("--model", "other"), "--model and --adapter"),
        (("--precision", "fp32"), "--precision"),
        (("--test", "hard"), "--test and the rows of --data"),
        (("--endpoint", "http://127.0.0.1:1/v1"), "--endpoint"),
    ],
    ids=lambda it: it[0] if isinstance(it, tuple) else "",
)
def test_answers_that_were_asked_in_another_way_are_not_resumed(
    data: Path,
    url: str,
    tmp_path: Path,
    options: tuple[str, ...],
    different: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    partial = interrupted(data, url, tmp_path / "out")
    answers = partial.read_text()

    assert asked(data, url, "--out", tmp_path / "out", "--resume", *options) == 2
    assert f"other options; different: {different}. " in capsys.readouterr().err
    assert partial.read_text() == answers
    assert not Endpoint.asked


@pytest.mark.wire
def test_answers_without_their_options_or_with_damage_are_not_resumed(
    data: Path, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    partial = interrupted(data, url, tmp_path)
    partial.write_text("[1]\n")
    assert asked(data, url, "--out", tmp_path, "--resume") == 2
    assert "line 1, is not an answer" in capsys.readouterr().err

    (tmp_path / "evaluation.json").write_text("{}")
    assert asked(data, url, "--out", tmp_path, "--resume") == 2
    assert "evaluation.json cannot be read: models: Field required" in capsys.readouterr().err

    (tmp_path / "evaluation.json").unlink()
    assert asked(data, url, "--out", tmp_path, "--resume") == 2
    assert "delete it to ask all rows again" in capsys.readouterr().err
    assert partial.read_text() == "[1]\n"


@pytest.mark.wire
def test_a_finished_evaluation_is_not_replaced(
    data: Path, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(data, url, "--out", tmp_path, "--json") == 0
    numbers = capsys.readouterr().out
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    Endpoint.asked.clear()

    for options, reason in (
        ((), "holds a finished evaluation (answers.jsonl): name another folder"),
        (("--resume", "--model", "other"), "different: --model and --adapter"),
        (("--resume", "--limit", "1"), "is finished, with 6 answers, and 2 are asked for"),
    ):
        assert asked(data, url, "--out", tmp_path, *options) == 2
        assert reason in capsys.readouterr().err
    (tmp_path / "summary.json").unlink()  # As after an interrupt.
    assert asked(data, url, "--out", tmp_path, "--resume", "--json", "--fail-under", "1") == 0

    captured = capsys.readouterr()
    assert captured.out == numbers
    assert "finished  all 6 answers are in" in captured.err
    assert {it.name: it.read_bytes() for it in tmp_path.iterdir() if it.is_file()} == files
    assert not Endpoint.asked


def test_an_evaluation_is_resumed_in_a_named_folder(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(data, "http://127.0.0.1:1/v1", "--resume") == 2
    assert "--out" in capsys.readouterr().err


@pytest.mark.wire
def test_the_hard_test_needs_no_data_set(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    hard = ("evaluate", "--test", "hard", "--model", "m", "--endpoint", url, "--limit", "4")

    assert code(*hard, "--json") == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers[0]["recovery"]["n"] == 4
    first = next(it for it in numbers[0]["baselines"] if it["baseline"] == "first element")
    assert first["balanced_accuracy"] == 0.5
    assert code(*hard) == 0
    assert "few elements" in capsys.readouterr().out


@pytest.mark.wire
def test_so_many_rows_of_each_kind_are_asked_as_are_wanted(
    data: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(data, url, "--limit", "1") == 0

    assert "1/1" in capsys.readouterr().out


@pytest.mark.wire
def test_a_model_that_recovers_too_seldom_fails_a_build(data: Path, url: str) -> None:
    assert asked(data, url, "--fail-under", "1") == 0
    assert asked(data, url, "--split", "test", "--fail-under", "0.5") == 0


@pytest.mark.wire
def test_a_test_without_a_failure_is_named(
    tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    splits = {"test": [row("c1"), row("c2")]}
    write_dataset(tmp_path / "data", UnwrittenDataset(MANIFEST, splits), lambda _: "")

    assert asked(tmp_path / "data", url, "--fail-under", "0.8") == 1
    assert "no failure to recover from: all 2 rows of test are clean" in capsys.readouterr().err


def test_prompts_without_a_legal_action_are_counted(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def answers(rows: list[Row], *_: object) -> Iterator[tuple[str, Row, ChatMessage]]:
        yield from (("m", it, {"role": "assistant", "content": "reload()"}) for it in rows)

    monkeypatch.setattr("warex.cli.training.evaluate._local_answers", answers)
    clicks = UnwrittenDataset(MANIFEST, {"train": [row()]})
    write_dataset(tmp_path / "clicks", clicks, lambda _: "")
    command = ("evaluate", "--data", data, "--model", "m", "--legal", tmp_path / "clicks")

    assert code(*command, "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["answered_freely"] == 3
    assert code(*command) == 0
    assert "3 of 6 prompts have no legal action: they are answered freely" in (
        capsys.readouterr().out
    )


def test_a_data_set_of_another_version_is_to_be_exported_again(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = data / "dataset.json"
    manifest.write_text(manifest.read_text().replace('"schema_version": 1', '"schema_version": 2'))

    assert asked(data, "http://127.0.0.1:1/v1") == 2
    assert (
        "another version of WAREX made it (schema_version 2; this one reads 1); export it again"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--split", "validation"), "has no row in validation: there is nothing to ask"),
        (("--endpoint", "http://a/\udcff"), "has a character that is not ASCII"),
        (("--endpoint", "x"), "--endpoint 'x' is not an http:// or https:// address"),
        (("--endpoint", "http://["), "--endpoint 'http://[' is not an http:// or https:// address"),
        (
            ("--endpoint", "http://a", "--adapter", "b"),
            "--adapter goes with a model of this machine, not with --endpoint",
        ),
    ],
)
def test_what_cannot_be_asked_is_reported(
    data: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], text: str
) -> None:
    assert code("evaluate", "--data", data, "--model", "m", *options) == 2
    assert text in capsys.readouterr().err


def test_a_model_of_this_machine_is_called_by_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("models/base.gguf", "a/tuned", "b/tuned"):
        (tmp_path / name).mkdir(parents=True)

    assert _names(["models/base.gguf", f"{tmp_path}/a/tuned"]) == ["base.gguf", "tuned"]
    assert _names(["Qwen/Qwen3-8B", "a/tuned"]) == ["Qwen/Qwen3-8B", "tuned"]
    assert _names(["Qwen/Qwen3-8B", "a/tuned", "b/tuned"]) == [
        "Qwen/Qwen3-8B",
        "a/tuned",
        "b/tuned",
    ]
    assert _names(["m\udcff"]) == [r"m\udcff"]


def test_the_recovery_test_needs_a_data_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert code("evaluate", "--model", "m") == 2

    assert "name a data set with --data DIR, or ask the hard test: --test hard" in (
        capsys.readouterr().err
    )
