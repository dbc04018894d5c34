from typing import Any

import pytest
from pydantic import ValidationError

from warex.effects import Delay, Trickle
from warex.exchange import Exchange, Request
from warex.faults.transport.slow_body import SlowBody
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/"))


def test_an_answer_is_divided_by_number_or_by_size() -> None:
    by_number, by_size = SlowBody(), SlowBody(piece_bytes=100, pause=0.5, delay=2)
    assert by_number.effects(PAGE, {}, KeyedRng(1, "r"))[0] == (Trickle(1, 16, 0),)
    assert by_size.effects(PAGE, {}, KeyedRng(1, "r"))[0] == (Delay(2), Trickle(0.5, 0, 100))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"pieces": 4, "piece_bytes": 100}, "pieces 4 and piece_bytes 100 are two divisions"),
        ({"pieces": None}, "pieces None and piece_bytes None"),
        ({"pieces": 1}, "pieces"),
        ({"piece_bytes": 0}, "piece_bytes"),
        ({"pause": 0}, "pause"),
    ],
)
def test_a_division_that_makes_no_sense_is_refused(value: Any, reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        SlowBody.model_validate(value)
