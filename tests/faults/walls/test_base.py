import pytest
from msgspec.structs import replace

from warex.effects import Reply, WallExit
from warex.exchange import Exchange, Request, SiteLook
from warex.faults import FaultState
from warex.faults.walls.base import Wall
from warex.faults.walls.captcha_wall import CaptchaWall
from warex.faults.walls.consent_wall import ConsentWall
from warex.faults.walls.session_expired import SessionExpired
from warex.faults.world.two_factor import TwoFactor
from warex.seeds import KeyedRng

LUCK = KeyedRng(1, "rule")
WALLS = (CaptchaWall(), ConsentWall(), SessionExpired(login="own"), TwoFactor())

each_wall = pytest.mark.parametrize("wall", WALLS, ids=lambda it: it.kind)


def page(url: str = "https://shop.test/a?b=1", cookie: str = "") -> Exchange:
    return Exchange("1", Request("GET", url, {"cookie": cookie} if cookie else {}))


def met(
    wall: Wall, exchange: Exchange, state: FaultState, seed: int = 1
) -> tuple[Reply, WallExit, FaultState]:
    (reply,), state = wall.effects(exchange, state, KeyedRng(seed, "rule"))
    assert isinstance(reply, Reply)
    assert reply.wall_exit is not None
    return reply, reply.wall_exit, state


@each_wall
def test_a_wall_precedes_every_page_until_its_cookie_is_sent(wall: Wall) -> None:
    assert not wall.still_applies(page(), {})
    _, gate, state = met(wall, page(), {})

    assert wall.still_applies(page(), state)
    assert wall.still_applies(page("https://shop.test/other", "a=b"), state)
    assert wall.still_applies(page("https://www.shop.test/"), state)
    assert not wall.still_applies(page("https://news.test/"), state)
    assert not wall.still_applies(page(cookie=f"a=b; {gate.cookie}"), state)


@each_wall
def test_a_passed_wall_does_not_come_back(wall: Wall) -> None:
    _, gate, state = met(wall, page(), {})
    assert not wall.spares(page(), state)
    assert wall.spares(page(cookie=gate.cookie), state)

    state = wall.noted(state, page(), "cleared")
    assert wall.spares(page(), state)
    assert wall.spares(page("http://www.shop.test/"), state)
    assert not wall.still_applies(page(), state)
    assert not wall.spares(page("https://shop.test:8443/"), state)
    assert not wall.spares(page("https://news.test/"), state)


@each_wall
def test_two_sites_have_a_wall_each(wall: Wall) -> None:
    other = page("https://news.test/")
    _, first, state = met(wall, page(), {})
    _, second, state = met(wall, other, state)

    assert first.cookie != second.cookie
    state = wall.noted(state, page(), "cleared")
    assert not wall.still_applies(page(), state)
    assert wall.still_applies(other, state)


@each_wall
def test_other_requests_do_not_pass_a_wall(wall: Wall) -> None:
    _, _, state = met(wall, page(), {})

    assert wall.noted(state, page(), "visited") == state


@each_wall
def test_always_brings_it_back(wall: Wall) -> None:
    wall = wall.model_copy(update={"always": True})
    _, first, state = met(wall, page(), {})
    state = wall.noted(state, page(), "cleared")

    assert not wall.spares(page(cookie=first.cookie), state)
    _, second, state = met(wall, page(cookie=first.cookie), state)
    assert first.cookie != second.cookie
    assert wall.still_applies(page(cookie=first.cookie), state)


@each_wall
def test_every_wall_leads_back_and_accepts_the_same_cookie(
    wall: Wall,
) -> None:
    _, first, state = met(wall, page(), {})
    _, second, state = met(wall, page("https://shop.test//c.test"), state)

    assert (first.back, second.back) == ("/a?b=1", "/.//c.test")
    assert first.path != second.path
    assert first.cookie == second.cookie


@each_wall
def test_a_walls_form_goes_to_its_own_path_and_does_not_name_warex(wall: Wall) -> None:
    for seed in range(20):
        reply, gate, _ = met(wall, page(), {}, seed)
        text = reply.body.decode().lower()
        assert f'action="{gate.path}"' in text
        assert not [word for word in ("warex", "fault", "inject", "test/") if word in text]
        assert reply == met(wall, page(), {}, seed)[0]


@each_wall
def test_a_wall_has_the_sites_look_and_language(wall: Wall) -> None:
    look = SiteLook(
        name="Laden", language="de-AT", logo="https://shop.test/l.svg", ground="#fffdf0",
        ink="#221100", accent="#a01020", on_accent="#fefefe", bar="#102030", on_bar="#e0e0e0",
        font="Lora, serif", corner="9px",
    )  # fmt: skip
    reply, _, _ = met(wall, replace(page(), look=look), {})
    text = reply.body.decode()

    assert '<html lang="de" dir="ltr">' in text
    assert '<img src="https://shop.test/l.svg" alt=""><span>Laden</span>' in text
    for value in (look.ground, look.ink, look.accent, look.bar, look.font, look.corner):
        assert value in text


@each_wall
def test_a_browser_s_language_is_spoken_where_the_site_has_said_nothing(wall: Wall) -> None:
    request = Request("GET", "https://shop.test/", {"accept-language": "xx, he-IL;q=0.9, en"})
    reply, _, _ = met(wall, Exchange("1", request), {})

    assert b'<html lang="he" dir="rtl">' in reply.body
