import pytest

from warex.faults import Stage
from warex.faults.words import describe_connection_tries, describe_exchange


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
    assert describe_exchange(stage, delay, "cut") == sentence


def test_a_hold_is_told_where_there_is_one() -> None:
    assert describe_connection_tries("refused", 0) == "is refused"
    assert describe_connection_tries("refused", 2.5) == (
        "is refused; so is every connection try at that host within 2.5 s of the first"
    )
