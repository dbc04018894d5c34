import pytest
from pydantic import ValidationError

from warex.traces.outcome import Counted, Unscored, Void, outcome_adapter


def test_a_void_trial_has_no_score_to_average() -> None:
    assert not hasattr(Void(reason="the proxy died"), "score")
    with pytest.raises(ValidationError, match="Extra inputs"):
        outcome_adapter.validate_python({"outcome": "void", "reason": "x", "score": 0.0})


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan")])
def test_a_score_lies_between_0_and_1(score: float) -> None:
    with pytest.raises(ValidationError):
        Counted(ending="answered", score=score, latency_s=1.0)


def test_the_summary_of_an_unscored_trial_has_only_what_is_known() -> None:
    assert Unscored(ending="answered", latency_s=1.25).summary == "answered, 1.2 s"
    assert Unscored().summary == ""


def test_an_outcome_must_say_which_one_it_is() -> None:
    with pytest.raises(ValidationError, match="outcome"):
        outcome_adapter.validate_python({"reason": "x"})


@pytest.mark.parametrize("died", [False, True])
def test_only_a_void_since_a_process_died_says_so(died: bool) -> None:
    void = Void(reason="r", died=died)

    written = void.model_dump()

    assert written == {"outcome": "void", "reason": "r", **({"died": True} if died else {})}
    assert outcome_adapter.validate_python(written) == void
