import pytest
from pydantic import ValidationError

from warex.effects import Delay, Trickle
from warex.exchange import Exchange, Request
from warex.faults.walls.slow_page import SlowPage
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/"))


def test_the_sites_own_page_comes_piece_by_piece() -> None:
    assert SlowPage().effects(PAGE, {}, KeyedRng(1, "rule"))[0] == (Trickle(1.0),)


def test_the_first_piece_can_be_late() -> None:
    effects, _ = SlowPage(delay=3, pause=0.5).effects(PAGE, {}, KeyedRng(1, "rule"))
    assert effects == (Delay(3), Trickle(0.5))


@pytest.mark.parametrize("pause", [0, -1, 4000, "1"])
def test_an_invalid_pause_is_refused(pause: object) -> None:
    with pytest.raises(ValidationError, match="pause"):
        SlowPage.model_validate({"pause": pause})
