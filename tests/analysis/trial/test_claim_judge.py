from pathlib import Path

import pytest

from warex.analysis.recovery import Claim
from warex.analysis.recovery.claims import claim_in_words
from warex.analysis.trial.claim_judge import (
    LONGEST_ANSWER,
    agreement,
    judge_messages,
    labelled_answers,
    parse_judgement,
)


@pytest.mark.parametrize(
    ("reply", "claim"),
    [
        ("success", "success"),
        ("**Failure**.", "failure"),
        ("It is not success, since the page failed: failure", "failure"),
        ("unclear\n", "unclear"),
        ("I cannot say", None),
        ("", None),
    ],
)
def test_the_last_word_that_names_a_claim_is_the_judgement(reply: str, claim: str | None) -> None:
    assert parse_judgement(reply) == claim


def test_a_judge_sees_the_end_of_a_long_answer() -> None:
    (message,) = judge_messages("a" * 2 * LONGEST_ANSWER + "The order failed.")
    assert "The order failed.\n-----" in message["content"]
    assert len(message["content"]) < 2 * LONGEST_ANSWER


def test_kappa_is_zero_for_a_reader_who_always_says_the_same() -> None:
    labels: list[Claim] = ["success", "success", "failure", "unclear"]
    assert agreement(list(zip(labels, labels, strict=True))).kappa == 1
    always: list[tuple[Claim | None, Claim]] = [("success", label) for label in labels]
    assert agreement(always).kappa == pytest.approx(0)
    assert agreement([(None, "success"), ("failure", "failure")]).equal == 1


def test_every_claim_has_labelled_answers_and_none_occurs_twice() -> None:
    answers = labelled_answers()
    assert {answer.claim for answer in answers} == {"success", "failure", "unclear"}
    assert len({answer.text for answer in answers}) == len(answers)


def test_the_words_alone_agree_with_as_many_labels_as_the_docs_say() -> None:
    pairs = [(claim_in_words(answer.text), answer.claim) for answer in labelled_answers()]
    result = agreement(pairs)
    page = Path("docs/reference/report.md").read_text(encoding="utf-8")
    assert f"({result.equal} of {result.n}, {result.kappa:.2f})".replace(" 0.", " .") in page
