import pytest

from warex.faults import Stage
from warex.faults.words import what_happens


@pytest.mark.parametrize(
    ("stage", "delay", "sentence"),
    [
        ("request", 0, "is cut"),
        ("request", 10.0, "is held for 10 s and then cut"),
        ("response", 0, "is handled by the site and then cut"),
        ("response", 0.25, "is handled by the site, held for 0.25 s and then cut"),
    ],
)
def test_steps_are_told_in_their_order(stage: Stage, delay: float, sentence: str) -> None:
    assert what_happens(stage, delay, "cut") == sentence
