import pytest

from warex.effects import Delay, Reply
from warex.exchange import Exchange, Request
from warex.faults.walls.resource_failure import ResourceFailure
from warex.seeds import KeyedRng

STYLE = Exchange("1", Request("GET", "https://shop.test/a.css", {"sec-fetch-dest": "style"}))


def test_resource_failure_is_about_styles_images_and_fonts_by_default() -> None:
    assert ResourceFailure.default_resource == ("stylesheet", "image", "font")


@pytest.mark.parametrize("seed", range(20))
def test_what_comes_is_an_error_and_never_a_style(seed: int) -> None:
    (reply,), _ = ResourceFailure().effects(STYLE, {}, KeyedRng(seed, "rule"))

    assert isinstance(reply, Reply)
    assert reply.status == 503
    assert reply.headers["content-type"].startswith(("text/html", "text/plain"))
    assert reply.headers["cache-control"] == "no-store"


def test_a_resource_can_be_held_first() -> None:
    (wait, _), _ = ResourceFailure(delay=2).effects(STYLE, {}, KeyedRng(1, "rule"))

    assert wait == Delay(2)
