import math

import pytest
from pydantic import TypeAdapter, ValidationError

from warex.faults import Stage
from warex.faults.base import Seconds
from warex.faults.connection.connection_cut import ConnectionCut
from warex.faults.connection.connection_refused import ConnectionRefused

SECONDS: TypeAdapter[float] = TypeAdapter(Seconds)


@pytest.mark.parametrize("value", [-0.1, 3600.1, math.nan, math.inf, True, "10"])
def test_a_hold_is_a_finite_number_of_seconds_within_an_hour(value: object) -> None:
    with pytest.raises(ValidationError):
        SECONDS.validate_python(value)


@pytest.mark.parametrize("value", [0, 0.5, 3600])
def test_a_hold_may_be_anything_within_an_hour(value: float) -> None:
    assert SECONDS.validate_python(value) == value


@pytest.mark.parametrize(
    ("stage", "delay", "words"),
    [
        ("request", 0, "is cut"),
        ("request", 10.0, "is held for 10 s and then cut"),
        ("response", 0, "is handled by the site and then cut"),
        ("response", 0.25, "is handled by the site, held for 0.25 s and then cut"),
    ],
)
def test_steps_are_reported_in_their_order(stage: Stage, delay: float, words: str) -> None:
    fault = ConnectionCut(stage=stage, delay=delay)
    assert fault.explain() == f"{words} off without an answer (a TCP reset)"


def test_an_explanation_names_a_hold_if_any() -> None:
    refused = "is refused at once (a TCP reset), as where nobody listens"
    assert ConnectionRefused(hold=0).explain() == refused
    assert ConnectionRefused(hold=2.5).explain() == (
        f"{refused}; so is every connection try at that host within 2.5 s of the first"
    )
