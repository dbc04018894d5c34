import pytest

from warex.effects import Reply
from warex.exchange import Exchange, Request
from warex.faults import FaultState
from warex.faults.walls.redirect_loop import RedirectLoop
from warex.seeds import KeyedRng

URL = "https://shop.test/a?b=1"


def ask(at: float = 0.0, url: str = URL) -> Exchange:
    return Exchange("1", Request("GET", url), at=at)


def led(fault: RedirectLoop, exchange: Exchange, state: FaultState) -> tuple[str, FaultState]:
    (reply,), state = fault.effects(exchange, state, KeyedRng(1, "rule"))
    assert isinstance(reply, Reply)
    assert reply.status == 307
    return reply.headers["location"], state


@pytest.mark.parametrize(
    ("url", "location"),
    [
        (URL, "/a?b=1"),
        ("https://shop.test", "/"),
        ("https://shop.test//evil.test/", "/.//evil.test/"),
    ],
)
def test_a_page_leads_to_itself_and_to_no_other_site(url: str, location: str) -> None:
    assert led(RedirectLoop(), ask(url=url), {})[0] == location


def test_a_redirect_loop_affects_only_clients_that_follow_it() -> None:
    fault = RedirectLoop()
    assert not fault.still_applies(ask(), {})
    _, state = led(fault, ask(5.0), {})

    assert fault.still_applies(ask(5.1), state)
    assert not fault.still_applies(ask(6.0), state)
    assert not fault.still_applies(ask(5.1, "https://shop.test/b"), state)


def test_the_page_comes_after_as_many_redirects_as_said() -> None:
    fault = RedirectLoop(times=3)
    state: FaultState = {}
    for _ in range(2):
        _, state = led(fault, ask(), state)
        assert fault.still_applies(ask(), state)
    _, state = led(fault, ask(), state)

    assert not fault.still_applies(ask(), state)
