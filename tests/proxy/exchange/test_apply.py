"""What effects do to a flow, without a wire."""

import asyncio

import pytest
from mitmproxy import connection, http
from mitmproxy.flow import Error
from mitmproxy.test import tflow

from warex.clock import Clock
from warex.effects import Cut, Delay, Effect, Reply
from warex.faults.server.http_error import HttpError
from warex.proxy.exchange import apply
from warex.proxy.exchange.apply import GAVE_UP_AFTER, AppliedInjection, apply_effects
from warex.proxy.exchange.client_status import ClientStatus
from warex.scenarios import PlannedInjection

REPLY = Reply(503, {"content-type": "text/html"}, b"<p>no")


@pytest.fixture
def resets(monkeypatch: pytest.MonkeyPatch) -> list[connection.Client]:
    found: list[connection.Client] = []
    monkeypatch.setattr(apply, "is_connected", lambda client: True)
    monkeypatch.setattr(apply, "reset", found.append)
    return found


def injected(*effects: Effect) -> AppliedInjection:
    return AppliedInjection(PlannedInjection("i1", "x1", "r", HttpError(), "", 1, effects))


def flow(method: str = "GET") -> http.HTTPFlow:
    made = tflow.tflow()
    made.live = True
    made.request.method = method
    return made


async def test_a_reply_is_set_and_still_to_be_proved(resets: list[connection.Client]) -> None:
    applied, hit = injected(REPLY), flow()
    await apply_effects(applied, hit, ClientStatus(), Clock())
    assert hit.response is not None
    assert (hit.response.status_code, hit.response.raw_content) == (503, b"<p>no")
    assert hit.response.headers["content-length"] == "5"
    assert (applied.replied, applied.done) == (True, False)


async def test_a_reply_to_head_says_how_long_the_body_would_be(
    resets: list[connection.Client],
) -> None:
    hit = flow("HEAD")
    await apply_effects(injected(REPLY), hit, ClientStatus(), Clock())
    assert hit.response is not None
    assert hit.response.raw_content == b""
    assert hit.response.headers["content-length"] == "5"


@pytest.mark.parametrize(("how", "count"), [("close", 0), ("reset", 1)])
async def test_a_cut_kills_the_flow_and_only_a_reset_the_connection(
    resets: list[connection.Client], how: str, count: int
) -> None:
    applied, hit = injected(Cut("reset" if how == "reset" else "close")), flow()
    await apply_effects(applied, hit, ClientStatus(), Clock())
    assert (applied.cut, applied.done, len(resets)) == (True, True, count)
    assert hit.error is not None
    assert hit.error.msg == Error.KILLED_MESSAGE


async def test_a_delay_alone_lets_the_exchange_go_on(resets: list[connection.Client]) -> None:
    applied, hit = injected(Delay(0.01)), flow()
    await apply_effects(applied, hit, ClientStatus(), Clock())
    assert (applied.done, applied.client_left, hit.response, hit.error) == (True, False, None, None)
    assert applied.waited_s >= 0.01


async def test_who_leaves_while_held_gets_nothing_more(resets: list[connection.Client]) -> None:
    applied, hit, client = injected(Delay(60), REPLY), flow(), ClientStatus()
    asyncio.get_running_loop().call_later(0.01, client.mark_left)
    await apply_effects(applied, hit, client, Clock())
    assert (applied.client_left, applied.replied, applied.done) == (True, False, False)
    assert hit.response is None


@pytest.mark.parametrize("effect", [REPLY, Cut("close")])
async def test_nothing_is_claimed_for_a_client_that_has_gone(
    monkeypatch: pytest.MonkeyPatch, effect: Effect
) -> None:
    monkeypatch.setattr(apply, "is_connected", lambda client: False)
    applied, hit = injected(effect), flow()
    await apply_effects(applied, hit, ClientStatus(), Clock())
    assert (applied.client_left, applied.done) == (True, False)
    assert (hit.response, hit.error) == (None, None)


@pytest.mark.parametrize(
    ("waited", "left", "met"),
    [
        (GAVE_UP_AFTER, True, True),
        (GAVE_UP_AFTER - 0.001, True, False),
        (GAVE_UP_AFTER + 9, False, False),
    ],
)
def test_only_who_leaves_after_a_second_has_met_a_hold(
    waited: float, left: bool, met: bool
) -> None:
    applied = injected(Delay(10))
    applied.waited_s, applied.client_left = waited, left
    assert applied.gave_up_waiting is met


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        (b'{"name": "Red", "ok": 0}', b'{"name": "Red", "ok": true}'),
        (b"[1]", b'{"ok": true}'),
        (b"name=Red", b'{"ok": true}'),
        (b"[" * 100_000, b'{"ok": true}'),
        (b"", b'{"ok": true}'),
    ],
)
async def test_an_object_that_was_sent_comes_back_and_nothing_else_does(
    resets: list[connection.Client], sent: bytes, answered: bytes
) -> None:
    applied, hit = injected(Reply(200, {}, b'{"ok": true}', echo_json=True)), flow("POST")
    hit.request.content = sent

    await apply_effects(applied, hit, ClientStatus(), Clock())

    assert hit.response is not None
    assert hit.response.content == answered
