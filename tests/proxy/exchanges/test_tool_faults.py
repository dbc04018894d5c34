"""Faults of servers of tools (MCP), over both transports."""

import gzip
import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import httpx
import pytest

from tests.proxy.support.lanes import Begin, Lane, scenario, wait_until
from tests.proxy.support.mcp import (
    HEAD,
    PATH,
    SESSION,
    OldServer,
    answered,
    asked,
    called,
    complete_response,
    event,
    streamed,
    text_content,
)
from tests.proxy.support.origin import Answer, Origin
from warex.faults import Fault
from warex.faults.mcp.mcp_error import McpError
from warex.faults.mcp.mcp_result_corrupt import McpResultCorrupt
from warex.faults.mcp.mcp_slow import McpSlow
from warex.faults.mcp.mcp_tool_missing import McpToolMissing
from warex.faults.server.http_error import HttpError
from warex.scenarios import Trigger
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned, McpCall, ResponseSeen

pytestmark = pytest.mark.wire

TEXT = "The page says hello."
TOOLS = {"tools": [{"name": "look"}, {"name": "buy"}]}

type Ask = Callable[[dict[str, Any]], Any]
type Client = Callable[[Lane, Origin], AbstractContextManager[Ask]]


def result_of(message: dict[str, Any]) -> Any:
    return TOOLS if message["method"] == "tools/list" else text_content(TEXT)


@contextmanager
def streamable(lane: Lane, site: Origin, kind: str) -> Iterator[Ask]:
    """Return what asks and gives the answer, or the status that is not an answer."""
    with httpx.Client(proxy=lane.url, timeout=20) as raw:

        def ask(message: dict[str, Any]) -> Any:
            got = answered(message["id"], result_of(message))
            if kind == "application/json":
                site.routes[PATH] = Answer(raw=complete_response(json.dumps(got).encode()))
            else:
                site.routes[PATH] = Answer(raw=streamed(event(got)))
            answer = raw.post(f"http://127.0.0.1:{site.port}{PATH}", json=message, headers=HEAD)
            if answer.status_code != 200:
                return answer.status_code
            text = answer.text
            if answer.headers["content-type"] == "text/event-stream":
                text = next(it for it in text.splitlines() if it.startswith("data: "))[6:]
            return parsed(text)

        yield ask


def parsed(text: str) -> Any:
    try:
        message = json.loads(text)
    except ValueError:
        return text
    return message.get("result", message.get("error"))


@contextmanager
def old(lane: Lane, site: Origin, *, compressed: bool = False) -> Iterator[Ask]:
    OldServer(site, result_of, compressed=compressed)
    url = f"http://127.0.0.1:{site.port}"
    with (
        httpx.Client(proxy=lane.url, timeout=20) as other,
        httpx.Client(proxy=lane.url, timeout=20) as raw,
        raw.stream("GET", f"{url}/sse", headers={"accept": "text/event-stream"}) as stream,
    ):
        lines = stream.iter_lines()
        wait_until(lambda: "/sse" in site.paths)
        assert any("/messages" in line for line in lines)

        def ask(message: dict[str, Any]) -> Any:
            answer = other.post(f"{url}/messages?session_id=1", json=message)
            if answer.status_code != 202:
                return answer.status_code
            return parsed(next(line for line in lines if line.startswith("data: "))[6:])

        yield ask


CLIENTS: dict[str, Client] = {
    "json": lambda lane, site: streamable(lane, site, "application/json"),
    "events": lambda lane, site: streamable(lane, site, "text/event-stream"),
    "sse": old,
}
CALL, LIST = called(5, "look"), asked(6, "tools/list")
FAILED = text_content("broken", isError=True)
MATRIX: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "tool": (McpError(text="broken"), CALL, FAILED),
    "tool, late": (McpError(text="broken", delay=0.2), CALL, FAILED),
    "tool, after": (McpError(text="broken", stage="response"), CALL, FAILED),
    "tool, after, late": (McpError(text="broken", stage="response", delay=0.2), CALL, FAILED),
    "protocol": (
        McpError(error="protocol"),
        CALL,
        {"code": -32603, "message": "Internal error"},
    ),
    "http": (McpError(error="http_500"), CALL, 500),
    "session": (McpError(error="session_lost"), CALL, 404),
    "truncated": (McpResultCorrupt(), CALL, text_content(TEXT[:10])),
    "truncated, late": (McpResultCorrupt(delay=0.2), CALL, text_content(TEXT[:10])),
    "empty": (McpResultCorrupt(how="empty"), CALL, {"content": []}),
    "invalid": (McpResultCorrupt(how="invalid_json"), CALL, None),
    "unlisted": (McpToolMissing(tool="b*"), LIST, {"tools": [{"name": "look"}]}),
    "unknown": (McpToolMissing(), CALL, {"code": -32602, "message": "Unknown tool: look"}),
    "slow": (McpSlow(delay=0.3), CALL, text_content(TEXT)),
}


ALL = [(how, what) for how in CLIENTS for what in MATRIX]
QUICK = ("json", "truncated"), ("events", "truncated"), ("sse", "tool"), ("sse", "slow")


@pytest.mark.parametrize(
    ("how", "what"),
    [it if it in QUICK else pytest.param(*it, marks=pytest.mark.slow) for it in ALL],
)
def test_the_client_meets_the_fault_and_the_next_call_is_well(
    begin: Begin, plain: Origin, how: str, what: str
) -> None:
    fault, message, expected = MATRIX[what]
    rules = scenario(fault, Trigger(first=1))
    with begin(scenario=rules) as lane, CLIENTS[how](lane, plain) as ask:
        began = time.monotonic()
        got = ask(message)
        seconds = time.monotonic() - began
        again = ask({**message, "id": "again"})

    if expected is None:
        assert isinstance(got, str)
        assert got.startswith('{"jsonrpc": "2.0"')
    else:
        assert got == expected
    assert seconds >= fault.delay
    assert again == result_of(message)
    (planned,), (delivered,) = lane.events(FaultPlanned), lane.events(FaultDelivered)
    assert delivered.injection == planned.injection
    assert lane.events(FaultMissed) == []
    first, second = lane.events(McpCall)
    assert (first.exchange, first.latency_s >= fault.delay) == (planned.exchange, True)
    if isinstance(expected, dict) and "code" not in expected:
        assert first.result == expected
    assert second.error is None
    at_server = [json.loads(it.body)["id"] for it in plain.seen if it.method == "POST"]
    untouched = fault.stage == "request" and what not in ("slow", "unlisted")
    assert at_server == ["again"] if untouched else [message["id"], "again"]


def test_http_faults_skip_tool_calls_unless_their_host_is_named(
    begin: Begin, plain: Origin
) -> None:
    for match, expected in (({}, text_content(TEXT)), ({"url": "http://127.0.0.1:*"}, 500)):
        rules = scenario(HttpError(status=500), match=match)
        with begin(scenario=rules) as lane, CLIENTS["json"](lane, plain) as ask:
            assert ask(CALL) == expected
    with begin(scenario=scenario(HttpError(status=500))) as lane, old(lane, plain) as ask:
        assert ask(CALL) == text_content(TEXT)


@pytest.mark.slow
def test_an_answer_that_never_comes_cannot_be_changed(begin: Begin, plain: Origin) -> None:
    with begin(scenario=scenario(McpResultCorrupt())) as lane, httpx.Client(proxy=lane.url) as raw:
        for kind in ("text/event-stream", "application/json"):
            plain.routes[PATH] = Answer(raw=complete_response(b": nothing", kind))
            url = f"http://127.0.0.1:{plain.port}{PATH}"
            assert raw.post(url, json=CALL, headers=HEAD).content == b": nothing"

    assert [it.reason for it in lane.events(FaultMissed)] == ["nothing_to_rewrite"] * 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [McpError(), McpError(stage="response"), McpResultCorrupt(), McpSlow(delay=0.2)]
)
def test_a_compressed_stream_of_the_older_transport_is_left_whole(
    begin: Begin, plain: Origin, fault: Fault
) -> None:
    with begin(scenario=scenario(fault)) as lane, old(lane, plain, compressed=True) as ask:
        assert ask(CALL) == text_content(TEXT)

    assert [it.reason for it in lane.events(FaultMissed)] == ["nothing_to_rewrite"]
    assert lane.events(FaultDelivered) == []


@pytest.mark.slow
@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_an_answer_that_a_client_asks_for_later_is_changed_there(
    begin: Begin, plain: Origin, coding: str
) -> None:
    """As by 2025-11-25, where a server ends a stream and is asked again for the rest of it."""
    url, later = f"http://127.0.0.1:{plain.port}{PATH}", event(answered(5, text_content(TEXT)))
    head = f"text/event-stream\r\ncontent-encoding: {coding}"
    body = gzip.compress(later) if coding == "gzip" else later
    session = {"mcp-session-id": SESSION}
    got = []
    with begin(scenario=scenario(McpResultCorrupt())) as lane, httpx.Client(proxy=lane.url) as raw:
        for last in ("1", None):
            plain.routes[PATH] = Answer(
                raw=complete_response(b"id: 1\ndata:\n\n", "text/event-stream")
            )
            raw.post(url, json=CALL, headers={**HEAD, **session})
            if last is not None:
                plain.routes[PATH] = Answer(raw=streamed(body, kind=head))
                asks = {"accept": "text/event-stream", "last-event-id": last, **session}
                got.append(raw.get(url, headers=asks).text)

    changed = coding == "identity"
    assert (text_content(TEXT[:10]) if changed else text_content(TEXT)) == parsed(
        got[0].split("data: ")[1]
    )
    assert [it.exchange for it in lane.events(FaultDelivered)] == ["x1"] * changed
    assert [(it.exchange, it.reason) for it in lane.events(FaultMissed)] == [
        *([] if changed else [("x1", "nothing_to_rewrite")]),
        ("x3", "nothing_to_rewrite"),
    ]
    assert [it.exchange for it in lane.events(McpCall)] == ["x1", "x3"]


@pytest.mark.slow
def test_each_answer_to_a_batch_is_changed(begin: Begin, plain: Origin) -> None:
    events = b"".join(event(answered(number, text_content(TEXT))) for number in (1, 2))
    plain.routes[PATH] = Answer(raw=streamed(*(events[at : at + 9] for at in range(0, 300, 9))))
    batch = [called(1, "look"), called(2, "look")]
    with begin(scenario=scenario(McpResultCorrupt())) as lane, httpx.Client(proxy=lane.url) as raw:
        url = f"http://127.0.0.1:{plain.port}{PATH}"
        got = raw.post(url, json=batch, headers=HEAD).text

    assert [parsed(it.split("\n")[0]) for it in got.split("data: ")[1:]] == [
        text_content(TEXT[:10])
    ] * 2
    assert len(lane.events(FaultDelivered)) == 1


def test_the_size_of_a_changed_answer_is_that_of_the_servers(begin: Begin, plain: Origin) -> None:
    got = json.dumps(answered(1, TOOLS)).encode()
    plain.routes[PATH] = Answer(raw=complete_response(got))
    hidden = scenario(McpToolMissing(), Trigger(first=1))
    with begin(scenario=hidden) as lane, httpx.Client(proxy=lane.url) as raw:
        url = f"http://127.0.0.1:{plain.port}{PATH}"
        answer = raw.post(url, json=asked(1, "tools/list"), headers=HEAD)

    assert len(answer.content) < len(got)
    assert [it.size for it in lane.events(ResponseSeen)] == [len(got)]
