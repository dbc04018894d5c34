import pytest

from warex.effects import Reply, WallExit
from warex.exchange import Exchange, Request
from warex.faults import CaptchaWall, ConsentWall, FaultState, SessionExpired
from warex.faults.walls.base import Wall
from warex.seeds import KeyedRng

LUCK = KeyedRng(1, "rule")
WALLS = (CaptchaWall(), ConsentWall(), SessionExpired(login="own"))

each_wall = pytest.mark.parametrize("wall", WALLS, ids=lambda it: it.kind)


def page(url: str = "https://shop.test/a?b=1", cookie: str = "") -> Exchange:
    return Exchange("1", Request("GET", url, {"cookie": cookie} if cookie else {}))


def met(
    wall: Wall, exchange: Exchange, memory: FaultState, seed: int = 1
) -> tuple[Reply, WallExit, FaultState]:
    (reply,), memory = wall.effects(exchange, memory, KeyedRng(seed, "rule"))
    assert isinstance(reply, Reply)
    assert reply.wall_exit is not None
    return reply, reply.wall_exit, memory


@each_wall
def test_it_stands_before_every_page_of_its_host_until_the_cookie_is_shown(wall: Wall) -> None:
    assert not wall.still_applies(page(), {})
    _, gate, memory = met(wall, page(), {})

    assert wall.still_applies(page(), memory)
    assert wall.still_applies(page("https://shop.test/other", "a=b"), memory)
    assert not wall.still_applies(page("https://news.test/"), memory)
    assert not wall.still_applies(page(cookie=f"a=b; {gate.cookie}"), memory)


@each_wall
def test_each_page_of_it_leads_back_to_what_was_asked_for_and_takes_the_same_cookie(
    wall: Wall,
) -> None:
    _, first, memory = met(wall, page(), {})
    _, second, memory = met(wall, page("https://shop.test//c.test"), memory)

    assert (first.back, second.back) == ("/a?b=1", "/.//c.test")
    assert first.path != second.path
    assert first.cookie == second.cookie


@each_wall
def test_another_wall_takes_another_cookie(wall: Wall) -> None:
    _, first, memory = met(wall, page(), {})
    _, second, memory = met(wall, page(cookie=first.cookie), memory)

    assert first.cookie != second.cookie
    assert wall.still_applies(page(cookie=first.cookie), memory)


@each_wall
def test_its_form_goes_to_the_path_that_is_heard_and_it_tells_nothing(wall: Wall) -> None:
    for seed in range(20):
        reply, gate, _ = met(wall, page(), {}, seed)
        text = reply.body.decode().lower()
        assert f'action="{gate.path}"' in text
        assert not [word for word in ("warex", "fault", "inject", "test/") if word in text]
        assert reply == met(wall, page(), {}, seed)[0]
