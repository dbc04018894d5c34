import pytest
from msgspec.structs import replace
from pydantic import ValidationError

from warex.effects import Cut, Delay
from warex.exchange import Exchange, Request
from warex.faults.transport.offline import Offline
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/"), at=7.0)


def test_offline_time_starts_at_the_first_hit_and_is_not_extended() -> None:
    fault, rng = Offline(lasts=10), KeyedRng(1, "r")
    effects, state = fault.effects(PAGE, {}, rng)
    assert effects == (Cut("reset", ends_open=True),)
    later = replace(PAGE, at=16.9)
    assert fault.still_applies(later, state)
    _, state = fault.effects(later, state, rng)
    assert not fault.still_applies(replace(PAGE, at=17.0), state)


def test_a_request_may_be_held_first() -> None:
    effects, _ = Offline(delay=2).effects(PAGE, {}, KeyedRng(1, "r"))
    assert effects == (Delay(2), Cut("reset", ends_open=True))


@pytest.mark.parametrize("lasts", [0, -1, 3601, float("inf"), True, "10", None])
def test_an_invalid_time_is_refused_by_name(lasts: object) -> None:
    with pytest.raises(ValidationError, match="lasts"):
        Offline.model_validate({"lasts": lasts})


def test_what_the_client_meets_is_reported() -> None:
    assert Offline(lasts=20).explain() == (
        "is cut off without an answer (a TCP reset); so are all that is open and all else that"
        " matches within 20 s"
    )
