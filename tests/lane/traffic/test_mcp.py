"""Messages of MCP: which answer belongs to which request, and what faults change of it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.proxy.support.mcp import answered, asked, called, event, text_content
from warex.clock import Clock
from warex.effects import EditToolResponse, Effect, PushToolEvent
from warex.engine.http.heads import Headers, ResponseHead
from warex.exchange import Exchange, Request
from warex.faults.server.http_error import HttpError
from warex.lane.record.recorder import Recorder
from warex.lane.traffic.base import Ending, Traffic
from warex.lane.traffic.mcp import McpCalls, McpTraffic
from warex.lane.whole_response import WholeResponse
from warex.mcp.changes import ReplaceAnswer
from warex.scenarios import PlannedInjection
from warex.traces import Event, McpCall


def head_of(status: int = 200, **fields: str) -> ResponseHead:
    named = ((name.replace("_", "-").encode(), value.encode()) for name, value in fields.items())
    return ResponseHead(status, b"", "HTTP/1.1", Headers(named))


class Talk:
    """Exchanges as a lane sees them, without a wire."""

    def __init__(self) -> None:
        self.now = 0.0
        self.written: list[Event] = []
        self.timers: list[tuple[float, Callable[[], None]]] = []
        clock = Clock(monotonic=lambda: self.now, wall=lambda: self.now)
        self.recorder = Recorder(clock, on_written=self.written.append)
        self.tools = McpCalls(self.recorder, lambda *timer: self.timers.append(timer))
        self.heads: dict[str, ResponseHead] = {}

    @property
    def calls(self) -> list[McpCall]:
        return [event for event in self.written if isinstance(event, McpCall)]

    def asks(
        self,
        *messages: object,
        method: str = "POST",
        url: str = "https://tools.test/mcp",
        **headers: str,
    ) -> Traffic:
        """Begin an exchange."""
        sent = json.dumps(messages[0] if len(messages) == 1 else messages).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.recorder.exchanges += 1
        exchange = Exchange(f"x{self.recorder.exchanges}", Request(method, url, named))
        return self.tools.recognise(exchange, sent if messages else b"") or Traffic(exchange)

    def gets(self, carried: Traffic, *pieces: bytes, status: int = 200, **fields: str) -> None:
        """Let an answer begin."""
        self.heads[carried.exchange.id] = head = head_of(status, **fields)
        carried.answered(head)
        for piece in pieces:
            assert carried.feed(piece) == piece

    def ends(self, carried: Traffic, error: str | None = None) -> None:
        """Let an exchange end."""
        carried.end(Ending(head=self.heads.get(carried.exchange.id), error=error))

    def has(self, carried: Traffic, body: object, **fields: Any) -> None:
        """Let an answer of one piece come and end."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.gets(carried, sent, **fields)
        self.ends(carried)

    def wait(self) -> None:
        """Let the time of all timers come."""
        timers, self.timers = self.timers, []
        for seconds, function in timers:
            self.now += seconds
            function()


EVENTS: dict[str, Any] = {"content_type": "text/event-stream"}
IN_SESSION: dict[str, Any] = {"mcp_session_id": "s1"}


def test_a_tool_calls_duration_ends_with_its_answer_not_its_stream() -> None:
    talk = Talk()
    exchange = talk.asks(called(1, "look"))
    talk.now = 2.5
    talk.gets(exchange, event(answered(1, text_content("ok"))), **EVENTS)

    (call,) = talk.calls
    assert (call.latency_s, call.complete, call.result) == (2.5, True, text_content("ok"))


def test_each_call_of_a_batch_has_its_own_answer() -> None:
    talk = Talk()
    exchange = talk.asks(called(1, "one"), called("1", "two"), called(3, "three"))
    talk.has(exchange, [answered("1", text_content("b")), answered(1, text_content("a"))])

    assert [(it.tool, it.result) for it in talk.calls[:2]] == [
        ("two", text_content("b")),
        ("one", text_content("a")),
    ]
    assert (talk.calls[2].tool, talk.calls[2].complete) == ("three", False)


def test_two_servers_may_know_their_sessions_by_the_same_id() -> None:
    talk = Talk()
    one = talk.asks(called(1, "one"), url="https://a.test/mcp", **IN_SESSION)
    two = talk.asks(called(1, "two"), url="https://b.test/mcp", **IN_SESSION)
    talk.has(two, answered(1, text_content("b")))
    talk.has(one, answered(1, text_content("a")))

    assert [(it.tool, it.result, it.session) for it in talk.calls] == [
        ("two", text_content("b"), 2),
        ("one", text_content("a"), 1),
    ]


def test_an_error_that_names_no_request_answers_all_of_its_exchange() -> None:
    talk = Talk()
    other = talk.asks(called(1, "other"), **IN_SESSION)
    exchange = talk.asks(called([], "odd"), called(2, "even"), **IN_SESSION)
    lost = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Session not found"}}
    talk.has(exchange, lost, status=404)

    assert [(it.tool, it.error, it.error_code) for it in talk.calls] == [
        ("even", "Session not found", -32001),
        ("odd", "Session not found", -32001),
    ]
    talk.has(other, answered(1, text_content("ok")))
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
    talk.has(talk.asks(called(1, "look")), body, status=status)

    (call,) = talk.calls
    assert (call.complete, call.error, call.result) == (False, why, None)


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("coding", ["foo", "gzip"])
def test_what_cannot_be_decoded_says_so(kind: str, coding: str) -> None:
    talk = Talk()
    body = event(answered(1, text_content("ok")))
    talk.has(talk.asks(called(1, "look")), body, content_type=kind, content_encoding=coding)

    (call,) = talk.calls
    assert (call.complete, call.result) == (False, None)
    assert "content coding" in (call.error or "")


@pytest.mark.timeout(60)
@pytest.mark.slow
def test_what_a_long_event_costs_grows_by_its_length() -> None:
    """Each piece is copied once, not all that came before it."""
    talk = Talk()
    piece, count = b"A" * 65_536, 1200
    carried = talk.asks(called(1, "look"))
    talk.gets(carried, b"data: ", *[piece] * count, b"\n\n", **EVENTS)
    talk.ends(carried)

    (call,) = talk.calls
    assert call.error == "a message is longer than the 67,108,864 bytes that are read"


def test_a_client_that_goes_on_with_a_broken_stream_gets_its_answer_there() -> None:
    talk = Talk()
    exchange = talk.asks(called(1, "look"), **IN_SESSION)
    talk.gets(exchange, b"id: 1\ndata:\n\n", **EVENTS)
    talk.ends(exchange, error="cut")
    again = talk.asks(method="GET", accept="text/event-stream", last_event_id="1", **IN_SESSION)
    talk.gets(again, event(answered(1, text_content("ok"))), **EVENTS)

    (call,) = talk.calls
    assert (call.exchange, call.result) == ("x1", text_content("ok"))


def test_a_call_that_the_client_cancels_is_over() -> None:
    talk = Talk()
    exchange = talk.asks(called(1, "look"), **IN_SESSION)
    params = {"requestId": 1, "reason": "too slow"}
    talk.now = 3.0
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    talk.has(talk.asks(note, **IN_SESSION), b"", status=202)
    talk.has(exchange, answered(1, text_content("late")))

    (call,) = talk.calls
    assert (call.error, call.latency_s) == ("cancelled by the client: too slow", 3.0)


def test_with_its_session_a_call_ends() -> None:
    talk = Talk()
    talk.asks(called(1, "look"), **IN_SESSION)
    talk.has(talk.asks(method="DELETE", **IN_SESSION), b"")

    assert [it.error for it in talk.calls] == ["the session ended"]


def test_what_is_open_at_the_trials_end_is_recorded() -> None:
    talk = Talk()
    talk.asks(called(1, "look"), **IN_SESSION)
    talk.tools.finish()

    assert [it.error for it in talk.calls] == ["the trial ended"]


def test_a_page_that_reads_events_is_not_a_client_of_tools() -> None:
    talk = Talk()
    carried = talk.asks(method="GET", accept="text/event-stream")
    talk.gets(carried, event({"jsonrpc": "2.0", "id": 1, "result": 1}), event("x"), **EVENTS)
    talk.ends(carried)

    assert carried.exchange.server == "site"
    assert talk.written == []


def test_a_client_that_is_refused_asks_the_same_server_for_a_stream() -> None:
    """As the specification has clients find out which transport a server has."""
    talk = Talk()
    url = "https://tools.test/older"
    begin = asked(0, "initialize", {"protocolVersion": "2025-06-18"})
    talk.has(talk.asks(begin, url=url), b"", status=405)
    carried = talk.asks(method="GET", accept="text/event-stream", url=url)
    talk.gets(carried, b"event: endpoint\ndata: /messages\n\n", **EVENTS)
    message = talk.asks(called(1, "look"), url="https://tools.test/messages")

    assert carried.exchange.server == "mcp"
    assert isinstance(message, McpTraffic)
    assert message.tap.session.transport == "sse"


def test_an_endpoint_that_is_not_a_url_changes_no_transport() -> None:
    talk = Talk()
    carried = talk.asks(called(1, "look"))
    talk.gets(carried, b"event: endpoint\ndata: http://[\n\n", **EVENTS)
    talk.ends(carried)

    (call,) = talk.calls
    assert call.transport == "streamable_http"
    assert call.error == "the answer ended before this was answered"


def test_what_a_page_asks_is_left_to_its_site() -> None:
    carried = Talk().asks(called(1, "look"), origin="https://shop.test")

    assert not isinstance(carried, McpTraffic)


def test_another_protocol_over_json_rpc_is_not_recorded() -> None:
    carried = Talk().asks({"jsonrpc": "2.0", "id": 1, "method": "eth_call"})

    assert not isinstance(carried, McpTraffic)
    assert carried.exchange.server == "site"


def test_a_rule_distinguishes_a_message_of_mcp_from_a_page() -> None:
    carried = Talk().asks(called(1, "look"))

    assert carried.exchange.server == "mcp"


# ---- what faults change


def injected(*effects: Effect) -> PlannedInjection:
    return PlannedInjection("i1", "x1", "r", HttpError(), "", 1, effects)


class Settled(list[bool]):
    """The outcomes that are reported of an injection."""

    def __call__(self, met: bool) -> None:
        self.append(met)


ERROR = ReplaceAnswer({"error": {"code": -1, "message": "no"}})


def test_an_answer_in_one_piece_is_read_to_its_end_and_changed() -> None:
    talk, settled = Talk(), Settled()
    carried = talk.asks(called(1, "look"))
    amendment = carried.apply(injected(EditToolResponse(ERROR, after=2.0)), settled)
    talk.gets(carried, content_type="application/json", content_length="1")
    assert carried.needs_whole_response
    assert carried.amendment_wait_s == 2.0
    body = json.dumps(answered(1, text_content("ok"))).encode()
    changed = carried.amend(
        WholeResponse(head_of(content_type="application/json", content_length="1"), body)
    )

    assert json.loads(changed.body)["error"]["code"] == -1
    assert changed.head.headers.get("content-length") == str(len(changed.body))
    assert amendment is not None
    assert not amendment.awaits_answer
    assert (settled, [it.error for it in talk.calls]) == ([], ["no"])


def test_a_stream_of_events_is_changed_as_it_comes() -> None:
    talk = Talk()
    carried = talk.asks(called(1, "look"))
    amendment = carried.apply(injected(EditToolResponse(ERROR)), Settled())
    carried.answered(head_of(content_type="text/event-stream"))
    assert not carried.needs_whole_response
    inputs = carried.feed(event(answered(1, text_content("ok"))))

    assert b'"code":-1' in inputs.replace(b" ", b"")
    assert amendment is not None
    assert not amendment.awaits_answer


def test_an_answer_on_another_exchange_is_delayed_and_settles_there() -> None:
    talk, settled, reported = Talk(), Settled(), Settled()
    stream = talk.asks(method="GET", accept="text/event-stream", url="https://tools.test/sse")
    talk.gets(stream, b"event: endpoint\ndata: /messages\n\n", **EVENTS)
    assert isinstance(stream, McpTraffic)
    stream.tap.on_queued = lambda: reported(True)
    message = talk.asks(called(1, "look"), url="https://tools.test/messages")
    amendment = message.apply(injected(EditToolResponse(None, after=3.0)), settled)
    talk.has(message, b"", status=202)
    assert amendment is not None
    assert amendment.on_other_exchange
    assert stream.feed(event(answered(1, text_content("ok")))) == b""
    talk.wait()

    assert (reported, settled, amendment.waited_s) == ([True], [True], 3.0)
    assert b'"ok"' in stream.tap.take_queued()
    assert [it.latency_s for it in talk.calls] == [3.0]


def test_a_message_is_pushed_into_the_sessions_stream_and_only_there() -> None:
    talk = Talk()
    stream = talk.asks(method="GET", accept="text/event-stream", url="https://tools.test/sse")
    talk.gets(stream, b"event: endpoint\ndata: /messages\n\n", **EVENTS)
    message = talk.asks(called(1, "look"), url="https://tools.test/messages")
    assert message.apply(injected(PushToolEvent(b"{}", after=1.0)), Settled()) is None
    assert isinstance(stream, McpTraffic)
    assert stream.tap.take_queued() == b""
    talk.wait()

    assert stream.tap.take_queued() == b"event: message\ndata: {}\n\n"


def test_a_compressed_stream_is_out_of_reach() -> None:
    talk = Talk()
    stream = talk.asks(method="GET", accept="text/event-stream", url="https://tools.test/sse")
    assert isinstance(stream, McpTraffic)
    stream.answered(head_of(content_type="text/event-stream", content_encoding="gzip"))
    stream.tap.session.stream = stream.tap

    assert not stream.can_apply(injected(EditToolResponse(ERROR)))
    assert stream.can_apply(injected())


def test_a_change_stays_open_for_an_answer_on_another_exchange() -> None:
    talk = Talk()
    carried = talk.asks(called(1, "look"), **IN_SESSION)
    amendment = carried.apply(injected(EditToolResponse(ERROR)), Settled())
    talk.gets(carried, b"id: 1\ndata:\n\n", **EVENTS)
    carried.keep_open(Ending(head=talk.heads["x1"], error="cut"))

    assert amendment is not None
    assert amendment.on_other_exchange
