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
