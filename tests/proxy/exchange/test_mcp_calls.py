"""Calls to servers of tools (MCP): which answer belongs to which, and both over real sockets."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from mitmproxy import http
from mitmproxy.test import tflow

from tests.proxy.support.lanes import Begin, Lane
from tests.proxy.support.mcp import (
    HEAD,
    PATH,
    SESSION,
    OldServer,
    answered,
    asked,
    called,
    event,
    said,
    whole,
)
from tests.proxy.support.origin import Answer, Origin
from tests.proxy.support.tasks import make_task
from warex.clock import Clock
from warex.exchange import Exchange
from warex.lane.record.recorder import Recorder
from warex.proxy.exchange import flows
from warex.proxy.exchange.mcp_calls import McpCalls
from warex.proxy.exchange.state import ExchangeState
from warex.traces import Event, McpCall

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)


class Talk:
    """Exchanges as the proxy sees them, without a proxy."""

    def __init__(self) -> None:
        self.now = 0.0
        self.written: list[Event] = []
        clock = Clock(monotonic=lambda: self.now, wall=lambda: self.now)
        self.recorder = Recorder(clock, on_written=self.written.append)
        self.tools = McpCalls(self.recorder)

    @property
    def calls(self) -> list[McpCall]:
        return [event for event in self.written if isinstance(event, McpCall)]

    def asks(
        self,
        *messages: object,
        method: str = "POST",
        url: str = "https://tools.test/mcp",
        **headers: str,
    ) -> tuple[http.HTTPFlow, ExchangeState]:
        """Begin an exchange."""
        flow = tflow.tflow(resp=False)
        sent = json.dumps(messages[0] if len(messages) == 1 else messages).encode()
        named: Any = {name.replace("_", "-"): value for name, value in headers.items()}
        flow.request = http.Request.make(method, url, sent if messages else b"", named)
        self.recorder.exchanges += 1
        request = flows.request_of(flow)
        exchange = Exchange(f"x{self.recorder.exchanges}", request)
        state = ExchangeState(exchange, "other", "c1", make_task())
        self.tools.recognise(flow, state, self.now)
        return flow, state

    def gets(
        self,
        flow: http.HTTPFlow,
        state: ExchangeState,
        *pieces: bytes,
        status: int = 200,
        **head: str,
    ) -> None:
        """Let an answer begin."""
        named = {name.replace("_", "-"): value for name, value in head.items()}
        flow.response = http.Response.make(status, b"")
        flow.response.headers.update(named)
        self.tools.answered(flow, state)
        tee = state.tee(self.recorder.clock)
        for piece in pieces:
            assert b"".join(tee(piece)) == piece

    def has(self, flow: http.HTTPFlow, state: ExchangeState, body: object, **head: Any) -> None:
        """Let an answer of one piece come and end."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.gets(flow, state, sent, **head)
        self.tools.end(flow, state, None)


EVENTS: dict[str, Any] = {"content_type": "text/event-stream"}
IN_SESSION: dict[str, Any] = {"mcp_session_id": "s1"}


def test_a_call_takes_from_its_request_to_its_answer_however_long_the_stream_goes_on() -> None:
    talk = Talk()
    exchange = talk.asks(called(1, "look"))
    talk.now = 2.5
    talk.gets(*exchange, event(answered(1, said("ok"))), **EVENTS)

    (call,) = talk.calls
    assert (call.latency_s, call.complete, call.result) == (2.5, True, said("ok"))


def test_each_call_of_a_batch_has_its_own_answer() -> None:
    talk = Talk()
    exchange = talk.asks(called(1, "one"), called("1", "two"), called(3, "three"))
    talk.has(*exchange, [answered("1", said("b")), answered(1, said("a"))])

    assert [(it.tool, it.result) for it in talk.calls[:2]] == [
        ("two", said("b")),
        ("one", said("a")),
    ]
    assert (talk.calls[2].tool, talk.calls[2].complete) == ("three", False)


def test_two_servers_may_know_their_sessions_by_the_same_id() -> None:
    talk = Talk()
    one = talk.asks(called(1, "one"), url="https://a.test/mcp", **IN_SESSION)
    two = talk.asks(called(1, "two"), url="https://b.test/mcp", **IN_SESSION)
    talk.has(*two, answered(1, said("b")))
    talk.has(*one, answered(1, said("a")))

    assert [(it.tool, it.result, it.session) for it in talk.calls] == [
        ("two", said("b"), 2),
        ("one", said("a"), 1),
    ]


def test_an_error_that_names_no_request_answers_all_of_its_exchange() -> None:
    talk = Talk()
    other = talk.asks(called(1, "other"), **IN_SESSION)
    exchange = talk.asks(called([], "odd"), called(2, "even"), **IN_SESSION)
    lost = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Session not found"}}
    talk.has(*exchange, lost, status=404)

    assert [(it.tool, it.error, it.error_code) for it in talk.calls] == [
        ("even", "Session not found", -32001),
        ("odd", "Session not found", -32001),
    ]
    talk.has(*other, answered(1, said("ok")))
    assert talk.calls[2].error is None


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (500, b"oops", "HTTP 500"),
        (200, b"oops", "the answer ended before this was answered"),
        (200, b"[" * 100_000, "the answer ended before this was answered"),
        (202, b"", "the answer ended before this was answered"),
    ],
)
def test_what_is_not_answered_says_why(status: int, body: bytes, why: str) -> None:
    talk = Talk()
    talk.has(*talk.asks(called(1, "look")), body, status=status)

    (call,) = talk.calls
    assert (call.complete, call.error, call.result) == (False, why, None)


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("coding", ["foo", "gzip"])
def test_what_cannot_be_decoded_says_so(kind: str, coding: str) -> None:
    talk = Talk()
    body = event(answered(1, said("ok")))
    talk.has(*talk.asks(called(1, "look")), body, content_type=kind, content_encoding=coding)

    (call,) = talk.calls
    assert (call.complete, call.result) == (False, None)
    assert "content coding" in (call.error or "")


@pytest.mark.slow
def test_what_a_long_event_costs_grows_by_its_length() -> None:
    """Each piece is copied once, not all that came before it."""
    talk = Talk()
    piece, count = b"A" * 65_536, 1200
    flow, state = talk.asks(called(1, "look"))
    began = time.process_time()
    talk.gets(flow, state, b"data: ", *[piece] * count, b"\n\n", **EVENTS)
    assert time.process_time() - began < 10
    talk.tools.end(flow, state, None)

    (call,) = talk.calls
    assert call.error == "a message is longer than the 67,108,864 bytes that are read"


def test_a_client_that_goes_on_with_a_broken_stream_gets_its_answer_there() -> None:
    talk = Talk()
    exchange = talk.asks(called(1, "look"), **IN_SESSION)
    talk.gets(*exchange, b"id: 1\ndata:\n\n", **EVENTS)
    talk.tools.end(*exchange, "cut")
    again = talk.asks(method="GET", accept="text/event-stream", last_event_id="1", **IN_SESSION)
    talk.gets(*again, event(answered(1, said("ok"))), **EVENTS)

    (call,) = talk.calls
    assert (call.exchange, call.result) == ("x1", said("ok"))


def test_a_call_that_the_client_cancels_is_over() -> None:
    talk = Talk()
    exchange = talk.asks(called(1, "look"), **IN_SESSION)
    params = {"requestId": 1, "reason": "too slow"}
    talk.now = 3.0
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    talk.has(*talk.asks(note, **IN_SESSION), b"", status=202)
    talk.has(*exchange, answered(1, said("late")))

    (call,) = talk.calls
    assert (call.error, call.latency_s) == ("cancelled by the client: too slow", 3.0)


def test_with_its_session_a_call_ends() -> None:
    talk = Talk()
    talk.asks(called(1, "look"), **IN_SESSION)
    talk.has(*talk.asks(method="DELETE", **IN_SESSION), b"")

    assert [it.error for it in talk.calls] == ["the session ended"]


def test_what_is_open_at_the_trials_end_is_recorded() -> None:
    talk = Talk()
    talk.asks(called(1, "look"), **IN_SESSION)
    talk.tools.finish()

    assert [it.error for it in talk.calls] == ["the trial ended"]


def test_a_page_that_reads_events_is_no_client_of_tools() -> None:
    talk = Talk()
    flow, state = talk.asks(method="GET", accept="text/event-stream")
    talk.gets(flow, state, event({"jsonrpc": "2.0", "id": 1, "result": 1}), event("x"), **EVENTS)
    talk.tools.end(flow, state, None)

    assert not state.is_agent_request
    assert talk.written == []


def test_a_client_that_is_refused_asks_the_same_server_for_a_stream() -> None:
    """As the specification has clients find out which transport a server has."""
    talk = Talk()
    url = "https://tools.test/older"
    begin = asked(0, "initialize", {"protocolVersion": "2025-06-18"})
    talk.has(*talk.asks(begin, url=url), b"", status=405)
    flow, state = talk.asks(method="GET", accept="text/event-stream", url=url)
    talk.gets(flow, state, b"event: endpoint\ndata: /messages\n\n", **EVENTS)
    _, message = talk.asks(called(1, "look"), url="https://tools.test/messages")

    assert state.is_agent_request
    assert message.mcp is not None
    assert message.mcp.session.transport == "sse"


def test_an_endpoint_that_is_no_url_changes_no_transport() -> None:
    talk = Talk()
    flow, state = talk.asks(called(1, "look"))
    talk.gets(flow, state, b"event: endpoint\ndata: http://[\n\n", **EVENTS)
    talk.tools.end(flow, state, None)

    (call,) = talk.calls
    assert call.transport == "streamable_http"
    assert call.error == "the answer ended before this was answered"


def test_what_a_page_asks_is_left_to_its_site() -> None:
    _, state = Talk().asks(called(1, "look"), origin="https://shop.test")

    assert state.mcp is None


def test_another_protocol_over_json_rpc_is_not_recorded() -> None:
    _, state = Talk().asks({"jsonrpc": "2.0", "id": 1, "method": "eth_call"})

    assert state.mcp is None
    assert not state.is_agent_request


def test_a_rule_distinguishes_a_message_of_mcp_from_a_page() -> None:
    _, state = Talk().asks(called(1, "look"))

    assert state.is_agent_request


def test_a_long_result_is_shortened_and_its_secrets_are_not() -> None:
    talk = Talk()
    text = "x" * 262_100 + " ghp_0123456789abcdefghijABCDEFGHIJ012345 " + "y" * 100
    talk.has(*talk.asks(called(1, "look")), answered(1, said(text)))

    (call,) = talk.calls
    kept = call.result["content"][0]["text"]
    assert call.shortened
    assert len(kept) < 262_300
    assert "ghp_" not in kept


def post(lane: Lane, site: Origin, body: object, **headers: str) -> httpx.Response:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    with httpx.Client(proxy=lane.url) as raw:
        url = f"http://127.0.0.1:{site.port}{PATH}"
        return raw.post(url, content=sent, headers={**HEAD, **headers})


def data_of(answer: httpx.Response) -> Iterator[str]:
    for line in answer.iter_lines():
        if line.startswith("data: "):
            yield line.removeprefix("data: ")


@pytest.mark.wire
def test_calls_are_recorded_with_their_answers_and_no_byte_is_changed(
    begin: Begin, plain: Origin
) -> None:
    """Answered as JSON, as events, with an error; the older transport beside it."""
    first = json.dumps(answered(0, {"serverInfo": {"name": "browser"}})).encode()
    progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
    picture = {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]}
    streamed = event(progress) + event(answered("a", picture)) + b": end\n\n"
    refused = b'{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Unknown tool"}}'
    with begin() as lane:
        for sent, got, kind in (
            (asked(0, "initialize", {"protocolVersion": "2025-06-18"}), first, "application/json"),
            (called("a", "look", url="https://shop.test/"), streamed, "text/event-stream"),
            (called(2, "buy", api_key="sk-live-abcdef0123456789"), refused, "application/json"),
        ):
            plain.routes[PATH] = Answer(raw=whole(got, kind))
            assert post(lane, plain, sent, **{"mcp-session-id": SESSION}).content == got
        OldServer(plain)
        site = f"http://127.0.0.1:{plain.port}"
        with (
            httpx.Client(proxy=lane.url) as other,
            httpx.Client(proxy=lane.url) as raw,
            raw.stream("GET", f"{site}/sse", headers={"accept": "text/event-stream"}) as stream,
        ):
            data = data_of(stream)
            endpoint = site + next(data)
            assert other.post(endpoint, json=called(7, "echo", word="é")).status_code == 202
            assert json.loads(next(data)) == answered(7, said('{"word": "\\u00e9"}'))

    began, looked, bought, echoed = lane.events(McpCall)
    assert [it.method for it in (began, looked)] == ["initialize", "tools/call"]
    assert (began.session, looked.session, echoed.session) == (1, 1, 2)
    assert (looked.tool, looked.arguments) == ("look", {"url": "https://shop.test/"})
    (part,) = looked.result["content"]
    kept = lane.out / "blobs" / part["data"].removeprefix("blob:")
    assert kept.read_bytes().startswith(b"\x89PNG")
    assert (looked.complete, looked.error, looked.transport) == (True, None, "streamable_http")
    assert (bought.error, bought.error_code) == ("Unknown tool", -32602)
    assert bought.arguments == {"api_key": "[redacted]"}
    assert (echoed.id, echoed.arguments, echoed.transport) == (7, {"word": "é"}, "sse")
    assert echoed.result == said('{"word": "\\u00e9"}')
