from typing import get_args

import pytest
from msgspec import ValidationError

from warex.traces.outcome import Counted, Ending, Unscored, Void, outcome_of


def test_a_void_trial_has_no_score_to_average() -> None:
    assert not hasattr(Void(reason="the proxy died"), "score")
    with pytest.raises(ValidationError, match="unknown field `score`"):
        outcome_of({"outcome": "void", "reason": "x", "score": 0.0})


@pytest.mark.parametrize("score", [-0.1, 1.1, float("nan")])
def test_a_score_is_between_0_and_1(score: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        Counted(ending="answered", score=score, latency_s=1.0)
    with pytest.raises(ValidationError):
        outcome_of({"outcome": "counted", "ending": "answered", "score": score, "latency_s": 1})


def test_the_summary_of_an_unscored_trial_has_only_what_is_known() -> None:
    assert Unscored(ending="answered", latency_s=1.25).summary == "the agent ended by itself, 1.2 s"
    assert Unscored().summary == ""


def test_an_ending_is_summarised_in_words_and_not_by_its_name() -> None:
    for ending in get_args(Ending.__value__):
        for ended in (Counted(ending=ending, score=1, latency_s=1), Unscored(ending=ending)):
            assert ended.summary.startswith("the ")
            assert "_" not in ended.summary


def test_an_outcome_must_say_which_one_it_is() -> None:
    with pytest.raises(ValidationError, match="outcome"):
        outcome_of({"reason": "x"})


@pytest.mark.parametrize("died", [False, True])
def test_only_a_void_since_a_process_died_says_so(died: bool) -> None:
    void = Void(reason="r", died=died)

    written = void.as_json()

    assert written == {"outcome": "void", "reason": "r", **({"died": True} if died else {})}
    assert outcome_of(written) == void
