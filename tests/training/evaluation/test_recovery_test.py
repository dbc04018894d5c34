import pytest

from tests.exports.builders import failure, row
from warex.training.evaluation.answer_classes import AnswerClass, ClassifiedAnswer
from warex.training.evaluation.recovery_test import Answers, results


def answers(*counts: tuple[AnswerClass, int], clean: tuple[AnswerClass, ...] = ()) -> Answers:
    each = [one for one, times in counts for _ in range(times)]
    results = {f"f{at}": ClassifiedAnswer(one, "", same_kind=False) for at, one in enumerate(each)}
    return results | {
        f"c{at}": ClassifiedAnswer(one, "", same_kind=True) for at, one in enumerate(clean)
    }


ROWS = [failure(f"f{at}") for at in range(21)] + [row(f"c{at}") for at in range(2)]


def test_the_papers_numbers_come_out() -> None:
    base = answers(("recovery", 9), ("message", 12))
    tuned = answers(("recovery", 17), ("text", 4))

    first, second = results(ROWS, {"base": base, "tuned": tuned})

    assert str(first.recovery) == "9/21"
    assert str(second.recovery) == "17/21"
    assert first.p is None
    assert second.p == pytest.approx(0.0251, abs=0.001)
    assert second.relative == pytest.approx(0.889, abs=0.001)
    assert second.classes == {"recovery": 17, "text": 4}
    assert second.by_family is not None
    assert str(second.by_family["nginx"]) == "17/21"


def test_a_model_that_always_reloads_is_seen_on_clean_steps() -> None:
    result = answers(("recovery", 21), clean=("false_reload", "agreement"))

    (one,) = results(ROWS, {"base": result})

    assert str(one.recovery) == "21/21"
    assert str(one.agreement) == "1/2"
    assert str(one.false_reloads) == "1/2"
    assert str(one.same_kind) == "2/2"


def test_a_first_model_that_never_recovers_leaves_no_relative_improvement() -> None:
    first, second = results(
        ROWS, {"base": answers(("text", 21)), "tuned": answers(("recovery", 21))}
    )

    assert second.relative is None
    assert second.p is not None
    assert second.p < 1e-6
    assert first.recovery.value == 0
