import math

import pytest
from pydantic import TypeAdapter, ValidationError

from warex.faults.base import (
    Certificate,
    Cut,
    Delay,
    Drop,
    Effect,
    Refuse,
    Reply,
    Seconds,
    Unresolved,
    ends,
)

SECONDS: TypeAdapter[float] = TypeAdapter(Seconds)


def test_a_reply_and_a_cut_end_the_exchange_and_a_delay_does_not() -> None:
    assert ends(Reply(500))
    assert ends(Cut("reset"))
    assert not ends(Delay(1.0))


@pytest.mark.parametrize(
    "effect", [Unresolved("nxdomain"), Refuse(), Drop(), Certificate("expired")]
)
def test_what_happens_to_an_attempt_ends_it(effect: Effect) -> None:
    assert ends(effect)


@pytest.mark.parametrize("value", [-0.1, 3600.1, math.nan, math.inf, True, "10"])
def test_a_hold_is_a_finite_number_of_seconds_within_an_hour(value: object) -> None:
    with pytest.raises(ValidationError):
        SECONDS.validate_python(value)


@pytest.mark.parametrize("value", [0, 0.5, 3600])
def test_a_hold_may_be_anything_within_an_hour(value: float) -> None:
    assert SECONDS.validate_python(value) == value
