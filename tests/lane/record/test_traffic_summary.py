"""What came through is known without a trace, and browsers that run elsewhere are named."""

import msgspec
import pytest

from warex.lane.record.traffic_summary import TrafficCounter
from warex.traces import (
    AgentAction,
    Armed,
    Event,
    LlmCall,
    LlmUnread,
    RequestSeen,
    SiteUnreachable,
    Tunnel,
)

CHROME = ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0.0.0")
JSON = ("Content-Type", "application/json; charset=utf-8")


def request(
    url: str, *headers: tuple[str, str], method: str = "GET", resource: str = "document"
) -> RequestSeen:
    return RequestSeen(
        exchange="x1",
        method=method,
        url=url,
        resource=resource,
        http_version="HTTP/1.1",
        connection="c1",
        headers=list(headers),
        size=0,
    )


def tunnel(host: str, why: str) -> Tunnel:
    return msgspec.convert(
        {"host": host, "port": 443, "why": why, "sent": 1, "received": 1, "seconds": 0.1}, Tunnel
    )


def unreachable(host: str, exchange: str | None = None) -> SiteUnreachable:
    return SiteUnreachable(
        connection="c1",
        exchange=exchange,
        host=host,
        port=443,
        failure="connection_refused",
        error="it is down",
    )


def seen(*events: Event) -> tuple[TrafficCounter, list[str]]:
    notices: list[str] = []
    sightings = TrafficCounter(notices.append)
    for event in events:
        sightings.add(event)
    return sightings, notices


def test_hosts_are_counted_and_the_browsers_own_background_is_not() -> None:
    sightings, _ = seen(
        request("https://shop.test/"),
        request("https://shop.test/cart"),
        tunnel("raw.test", "pass_through"),
        tunnel("update.googleapis.com", "background"),
        unreachable("down.test"),
        unreachable("update.googleapis.com"),
        unreachable("shop.test", exchange="x1"),
    )

    assert sightings.hosts == {"shop.test": 2, "raw.test": 1, "down.test": 1}


def test_a_browser_is_known_by_its_name() -> None:
    assert seen(request("https://shop.test/", CHROME))[0].browser
    assert not seen(request("https://shop.test/", ("User-Agent", "python-requests/2")))[0].browser


def test_what_a_browser_asks_for_by_itself_shows_nothing_of_its_pages() -> None:
    sightings, _ = seen(
        request("https://accounts.google.com/ListAccounts?gpsia=1", CHROME),
        request("http://localhost:8000/favicon.ico", CHROME),
        # Somebody else's is not background.
        request("https://shop.test/generate_204", ("User-Agent", "curl/8")),
    )

    assert not sightings.browser
    assert sightings.hosts == {"shop.test": 1}


@pytest.mark.parametrize(
    "event",
    [
        request("https://grid.test/devtools/browser/1f-2", resource="websocket"),
        request("https://production-sfo.browserless.io/?token=t", resource="websocket"),
        request("http://grid.test:4444/wd/hub/session", JSON, method="POST", resource="other"),
    ],
    ids=["cdp", "farm", "webdriver"],
)
def test_a_browser_that_runs_elsewhere_is_named(event: RequestSeen) -> None:
    (sentence,) = seen(event)[1]

    assert "do not come through WAREX" in sentence


@pytest.mark.parametrize(
    "event",
    [
        request("http://127.0.0.1:9222/devtools/browser/1f-2", resource="websocket"),
        request("http://localhost:9515/session", JSON, method="POST", resource="other"),
        request("https://shop.test/session", CHROME, JSON, method="POST", resource="xhr"),
        request("https://shop.test/live", resource="websocket"),
    ],
    ids=["own-cdp", "own-chromedriver", "login", "site"],
)
def test_a_browser_of_the_commands_own_is_not(event: RequestSeen) -> None:
    assert seen(event)[1] == []


def test_calls_that_could_not_be_read_are_counted_and_the_first_is_named() -> None:
    url = "https://api.anthropic.com/v1/messages"
    first = LlmUnread(exchange="x1", url=f"{url}?beta=true", reason="no such family")
    sightings, _ = seen(first, LlmUnread(exchange="x2", url="https://other.test/", reason="x"))

    assert (sightings.llm_unread, sightings.llm_unread_first) == (2, f"{url}: no such family")
    assert not sightings.armed
    assert seen(Armed(by="start"))[0].armed


def answered(text: str, *, complete: bool = True, error: str | None = None) -> LlmCall:
    return LlmCall(
        exchange="x1", family="openai_chat", url="https://llm.test/", model="m", step=1, began=0.0,
        messages=[], stream=False, status=200, answer=text, finish_reason="stop",
        input_tokens=1, output_tokens=1, usage="reported", first_token_s=None,
        latency_s=0.1, complete=complete, error=error,
    )  # fmt: skip


def test_whether_any_answer_holds_an_action_is_known() -> None:
    prose = answered("Well then.")
    assert (seen(prose)[0].answers, seen(prose)[0].acts) == (1, False)
    assert seen(prose, answered("refresh()"))[0].acts
    cut = seen(
        prose, answered("refresh()", complete=False), answered("refresh()", error="HTTP 500")
    )
    assert (cut[0].answers, cut[0].acts) == (1, False)
    action = AgentAction(exchange="x1", step=1, name="fly", arguments=[], role="other")
    assert seen(prose, action)[0].acts


def test_an_action_is_looked_for_in_the_first_hundred_answers() -> None:
    prose = answered("Well then.")
    assert seen(*[prose] * 99, answered("refresh()"))[0].acts
    late = seen(*[prose] * 100, answered("refresh()"))[0]
    assert (late.answers, late.llm_calls, late.acts) == (100, 101, False)
