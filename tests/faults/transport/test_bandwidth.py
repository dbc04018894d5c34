from typing import Any

import pytest
from pydantic import ValidationError

from warex.effects import Delay, Effect, Throttle
from warex.exchange import Exchange, Request
from warex.faults.transport.bandwidth import Bandwidth
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/"))


@pytest.mark.parametrize(
    ("value", "effects"),
    [
        ({}, (Delay(0.3), Throttle(200_000, 96_000))),
        ({"profile": "edge"}, (Delay(0.84), Throttle(30_000, 25_000))),
        ({"profile": "dsl", "up": 10, "delay": 0}, (Throttle(187_500, 10),)),
        ({"down": 1000}, (Throttle(1000, None),)),
        ({"up": 5, "burst": 9, "scope": "connection"}, (Throttle(None, 5, 9, "connection"),)),
    ],
)
def test_a_profile_gives_what_is_left_out(value: Any, effects: tuple[Effect, ...]) -> None:
    assert Bandwidth(**value).effects(PAGE, {}, KeyedRng(1, "r"))[0] == effects


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"profile": "5g"}, "'3g', '4g', 'dsl' or 'edge'"),
        ({"down": 0}, "down"),
        ({"up": -1}, "up"),
        ({"down": float("inf")}, "down"),
        ({"burst": -1}, "burst"),
        ({"scope": "host"}, "scope"),
        ({"profile": None}, "all null"),
    ],
)
def test_a_line_that_does_not_exist_is_refused(value: Any, reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        Bandwidth.model_validate(value)
