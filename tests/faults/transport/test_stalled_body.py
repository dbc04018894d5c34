from math import inf
from typing import Any

import pytest
from pydantic import ValidationError

from warex.effects import Effect, Stall, Truncate
from warex.exchange import Exchange, Request
from warex.faults.transport.stalled_body import StalledBody
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/"))


@pytest.mark.parametrize(
    ("value", "effect"),
    [
        ({}, Stall(30, 0.5, "share")),
        ({"stall": 2, "after_bytes": 7}, Stall(2, 7, "bytes")),
        ({"stall": 2, "then": "reset"}, Truncate(0.5, "reset", "share", 2)),
        ({"then": "never", "share": 0.1}, Truncate(0.1, "close", "share", inf)),
    ],
)
def test_after_its_silence_the_answer_goes_on_or_ends(value: Any, effect: Effect) -> None:
    assert StalledBody(**value).effects(PAGE, {}, KeyedRng(1, "r"))[0] == (effect,)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"then": "never", "stall": 3}, "stall 3 and then: never do not go together"),
        ({"stall": None}, "stall null and then: go_on do not go together"),
        ({"stall": 0}, "stall 0 is not silence"),
        ({"then": "later"}, "then"),
    ],
)
def test_a_silence_that_makes_no_sense_is_refused(value: Any, reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        StalledBody.model_validate(value)


def test_only_a_silence_for_good_is_endless_until_holds_are_limited() -> None:
    silent = StalledBody(then="never")
    assert silent.is_endless
    assert not StalledBody().is_endless
    assert silent.with_hold_at_most(5) == StalledBody(stall=5)
    assert StalledBody(stall=9, then="close").with_hold_at_most(5) == StalledBody(
        stall=5, then="close"
    )


def test_a_page_that_falls_silent_for_longer_does_not_respond_in_time() -> None:
    assert StalledBody(stall=2).responds_within(2)
    assert not StalledBody(stall=3).responds_within(2)
    assert not StalledBody(stall=1, then="reset").responds_within(2)
