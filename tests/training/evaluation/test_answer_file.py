from pathlib import Path

import pytest

from tests.exports.builders import row
from warex.errors import InputError
from warex.training.evaluation.answer_file import AnswerFile, Record
from warex.training.evaluation.options import EvaluationOptions, legal_digest, rows_digest
from warex.training.ranking.legal import LegalAnswers

ASKED = [("m", "c1"), ("m", "c2")]


def record(name: str) -> Record:
    return {"model": "m", "row": name, "answer": {"content": "noop()"}}


def options(legal: LegalAnswers | None = None, prompt: str = "A page") -> EvaluationOptions:
    asked = row("c1", messages=[{"role": "user", "content": prompt}, row().answer])
    return EvaluationOptions(
        models={"m": "/models/m"},
        test="recovery",
        split="test",
        rows=rows_digest([asked]),
        legal=legal_digest(legal) if legal is not None else None,
        precision="auto",
    )


def test_legal_answers_and_prompts_decide_the_answers() -> None:
    free, bound = options(), options(LegalAnswers((), {}))

    assert free.differences(options()) == []
    assert free.differences(bound) == ["--legal"]
    assert bound.differences(options(LegalAnswers((), {}, thought=True))) == ["--legal"]
    assert free.differences(options(prompt="Another page")) == ["the rows of --data"]


def test_answers_bound_to_legal_ones_are_not_resumed_as_free_ones(tmp_path: Path) -> None:
    begun = AnswerFile(tmp_path, options(LegalAnswers((), {})), ASKED, resume=False)
    begun.add(record("c1"))

    with pytest.raises(InputError, match="different: --legal"):
        AnswerFile(tmp_path, options(), ASKED, resume=True)
    resumed = AnswerFile(tmp_path, options(LegalAnswers((), {})), ASKED, resume=True)
    assert resumed.earlier == [record("c1")]


def test_a_finished_file_stays_as_it_is(tmp_path: Path) -> None:
    begun = AnswerFile(tmp_path, options(), ASKED, resume=False)
    for _, name in ASKED:
        begun.add(record(name))
    begun.finish()
    written = begun.path.read_bytes()

    again = AnswerFile(tmp_path, options(), ASKED, resume=True)
    again.finish()

    assert again.is_finished
    assert [it["row"] for it in again.earlier] == ["c1", "c2"]
    assert again.path.read_bytes() == written


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("name", ["answers.jsonl", "answers.partial.jsonl"])
def test_answers_of_another_version_are_refused_with_what_can_be_done(
    tmp_path: Path, name: str, resume: bool
) -> None:
    (tmp_path / name).write_text("")

    with pytest.raises(InputError, match=r"another version of WAREX .*--out") as refused:
        AnswerFile(tmp_path, options(), ASKED, resume=resume)
    assert "--resume" not in str(refused.value)
    assert (tmp_path / name).exists()


def test_a_name_that_is_not_utf_8_is_written_and_compared(tmp_path: Path) -> None:
    named = options().model_copy(update={"models": {"m": "m"}}).model_dump()
    raw = EvaluationOptions(**{**named, "models": {"m\udcff": "/m\udcff"}})
    AnswerFile(tmp_path, raw, ASKED, resume=False).add(record("c1"))

    assert raw.models == {r"m\udcff": r"/m\udcff"}
    assert AnswerFile(tmp_path, raw, ASKED, resume=True).earlier == [record("c1")]
    with pytest.raises(InputError, match="different: --model and --adapter"):
        AnswerFile(tmp_path, options(), ASKED, resume=True)


@pytest.mark.parametrize(
    "line",
    [
        '{"model": "m", "row": ["r"], "answer": {"content": "a"}}',
        '{"model": {}, "row": "r", "answer": {"content": "a"}}',
        '{"model": "m", "row": "r", "answer": {"content": 1}}',
        '{"model": "m", "row": "r", "answer": {"content": "a", "tool_calls": [1]}}',
        '{"model": "m", "row": "r", "answer": ["content"]}',
        "[" * 100_000,
        "9" * 10_000,
        "",
    ],
    ids=["row", "model", "content", "tool calls", "answer", "nested", "number", "empty"],
)
@pytest.mark.parametrize("name", ["answers.jsonl", "answers.partial.jsonl"])
def test_a_damaged_line_is_named(tmp_path: Path, name: str, line: str) -> None:
    AnswerFile(tmp_path, options(), ASKED, resume=False).add(record("c1"))
    (tmp_path / "answers.partial.jsonl").unlink()
    (tmp_path / name).write_text(f"{line}\n")

    with pytest.raises(InputError, match=r"jsonl, line 1, is not an answer of `warex evaluate`"):
        AnswerFile(tmp_path, options(), ASKED, resume=True)


def test_answers_that_are_not_a_file_are_refused(tmp_path: Path) -> None:
    AnswerFile(tmp_path, options(), ASKED, resume=False).add(record("c1"))
    (tmp_path / "answers.jsonl").mkdir()

    with pytest.raises(InputError, match=r"answers\.jsonl cannot be read: Is a directory"):
        AnswerFile(tmp_path, options(), ASKED, resume=True)
