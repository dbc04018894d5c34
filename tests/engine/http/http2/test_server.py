"""HTTP/2 towards a client: every message, every end, and floods."""

import gc
from typing import Any
from weakref import ref

import h2.events
import pytest
from h2.errors import ErrorCodes
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    RstStreamFrame,
    SettingsFrame,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.http.http2.peers import GET, ServedClient
from warex.engine.http.events import (
    ConnectionEnded,
    DataQueueEmptied,
    DataReceived,
    ExchangeFailed,
    GoingAway,
    MessageEnded,
    RequestReceived,
    RequestRejected,
)
from warex.engine.http.heads import Headers, ResponseHead
from warex.engine.http.http2.library import STREAM_WINDOW

OK = ResponseHead(200, b"OK", "HTTP/1.1", Headers([(b"Content-Type", b"text/html")]))


def kinds(events: list[Any]) -> list[str]:
    return [type(event).__name__ for event in events]


def answer(pair: ServedClient, stream: int, body: bytes = b"hello") -> list[Any]:
    pair.server.send_response(stream, OK)
    pair.server.send_data(stream, body)
    pair.server.send_end(stream)
    return pair.exchange()[1]


def test_a_request_and_its_answer() -> None:
    pair = ServedClient()
    received, ended = pair.ask([*GET, (b"cookie", b"a=1"), (b"cookie", b"b=2")])
    assert isinstance(received, RequestReceived)
    head = received.head
    assert (head.method, head.url, head.version) == ("GET", "https://a.example/b?c", "HTTP/2.0")
    assert head.headers.get_all("cookie") == ["a=1", "b=2"]
    assert (received.has_body, ended) == (False, MessageEnded(1))
    response, data, *_ = answer(pair, 1)
    assert response.headers == [(b":status", b"200"), (b"content-type", b"text/html")]
    assert (data.data, data.stream_ended is not None) == (b"hello", True)
    assert (pair.server.sent(1), pair.server.queued(1)) == (5, 0)


def test_an_answer_without_a_body_is_one_frame() -> None:
    pair = ServedClient()
    pair.ask()
    pair.server.send_informational(1, ResponseHead(103, b"", "HTTP/2.0", Headers()))
    pair.server.send_response(1, ResponseHead(204, b"", "HTTP/2.0", Headers()))
    pair.server.send_end(1)
    events = pair.exchange()[1]
    assert kinds(events) == ["InformationalResponseReceived", "ResponseReceived", "StreamEnded"]


def test_trailers_go_both_ways() -> None:
    pair = ServedClient()
    pair.client.send_headers(1, [*GET])
    pair.client.send_data(1, b"up")
    pair.client.send_headers(1, [(b"x-sum", b"7")], end_stream=True)
    assert pair.exchange()[0][-1] == MessageEnded(1, Headers([(b"x-sum", b"7")]))
    pair.server.send_response(1, OK)
    pair.server.send_data(1, b"down")
    pair.server.send_end(1, Headers([(b"X-Sum", b"8")]))
    events = pair.exchange()[1]
    (trailers,) = [it for it in events if isinstance(it, h2.events.TrailersReceived)]
    assert trailers.headers == [(b"x-sum", b"8")]


@pytest.mark.parametrize("name", [b"content-length", b"host", b"transfer-encoding", b":path"])
def test_a_trailer_that_says_how_a_request_is_read_ends_its_stream(name: bytes) -> None:
    pair = ServedClient()
    pair.client.send_headers(1, [*GET])
    pair.client.send_data(1, b"up")
    pair.exchange()
    pair.client.send_headers(1, [(name, b"5")], end_stream=True)
    ours, theirs = pair.exchange()
    assert [type(event) for event in ours] == [ExchangeFailed]
    assert kinds(theirs) == ["StreamReset"]


def test_hop_by_hop_fields_of_http1_stay_behind() -> None:
    pair = ServedClient()
    pair.ask()
    fields = [
        (b"Connection", b"X-Hop, close"),
        (b"X-Hop", b"1"),
        (b"Keep-Alive", b"5"),
        (b"A", b"b"),
    ]
    pair.server.send_response(1, ResponseHead(200, b"OK", "HTTP/1.1", Headers(fields)))
    assert pair.exchange()[1][0].headers == [(b":status", b"200"), (b"a", b"b")]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({b":path": b"nowhere"}, "the path does not begin with a slash"),
        ({b":path": b""}, "the path does not begin with a slash"),
        ({b":path": b"/a b"}, "the path has a space"),
        ({b":path": b"/a\r\nx: y"}, "a field has a zero byte or the end of a line"),
        ({b":method": b"CONNECT"}, "CONNECT leads out"),
        ({b":method": b"G ET"}, "the method is not a token"),
        ({b":scheme": b"ftp"}, "no site is reached by ftp"),
        ({b":authority": b"u:p@a"}, "the host has characters"),
        ({b":authority": b""}, "nothing says which site"),
        ({b"host": b"other"}, "there are two hosts"),
        ({b"transfer-encoding": b"chunked"}, "HTTP/2 has no field"),
        ({b"connection": b"close"}, "HTTP/2 has no field"),
        ({b"X-Upper": b"1"}, "HTTP/2 has no field"),
        ({b"x": b"a\nb"}, "the end of a line"),
        ({b"te": b"chunked"}, "transfer codings"),
        ({b"content-length": b"+1"}, "the content-length is not a number"),
        ({b":other": b"1"}, "unknown pseudo-fields"),
    ],
)
def test_a_malformed_request_gets_a_page_and_others_go_on(
    changed: dict[bytes, bytes], reason: str
) -> None:
    pair = ServedClient()
    pseudo = dict(GET) | {name: it for name, it in changed.items() if name[:1] == b":"}
    fields = {name: it for name, it in changed.items() if name[:1] != b":"}
    pair.client.send_headers(1, [*pseudo.items(), *fields.items()])
    ours, theirs = pair.exchange()
    (rejected,) = ours
    assert isinstance(rejected, RequestRejected)
    assert reason in rejected.reason
    assert theirs[0].headers[0] == (b":status", b"400")
    assert theirs[-1].error_code == ErrorCodes.NO_ERROR
    assert kinds(pair.ask()) == ["RequestReceived", "MessageEnded"]


@pytest.mark.parametrize("sent", [b"", b"hell", b"hello!"])
def test_a_body_is_as_long_as_it_says(sent: bytes) -> None:
    pair = ServedClient()
    headers = [*GET, (b"content-length", b"5")]
    pair.client.config.validate_outbound_headers = False
    events = pair.ask(headers, sent)
    (failed,) = [it for it in events if isinstance(it, ExchangeFailed)]
    assert "content-length" in failed.message
    assert not any(isinstance(it, MessageEnded) for it in events)
    assert kinds(pair.ask(headers, b"hello"))[-1] == "MessageEnded"


# ---- flow control


def test_what_the_window_does_not_let_through_waits() -> None:
    pair = ServedClient(window=100)
    pair.ask()
    answer(pair, 1, b"x" * 335)
    assert (pair.server.sent(1), pair.server.queued(1)) == (100, 235)
    pair.client.increment_flow_control_window(200, 1)
    pair.exchange()
    assert (pair.server.sent(1), pair.server.queued(1)) == (300, 35)
    pair.client.increment_flow_control_window(35, 1)
    ours, theirs = pair.exchange()
    assert ours == [DataQueueEmptied(1)]
    assert theirs[0].stream_ended is not None


def test_a_window_that_shrinks_below_nothing_holds_everything_back() -> None:
    pair = ServedClient(window=100)
    pair.ask()
    pair.ask()
    for stream in (1, 3):
        pair.server.send_response(stream, OK)
        pair.server.send_data(stream, b"x" * 90)
    pair.exchange()
    pair.client.update_settings({4: 10})
    pair.exchange()
    pair.server.send_data(1, b"y")
    pair.server.send_end(1)
    pair.server.send_end(3)
    assert pair.exchange()[1] == []
    pair.client.increment_flow_control_window(81, 1)
    assert pair.exchange()[1][0].data == b"y"
    pair.client.increment_flow_control_window(80, 3)
    assert kinds(pair.exchange()[1]) == ["DataReceived", "StreamEnded"]


def test_streams_take_turns() -> None:
    pair = ServedClient(window=2**20)
    pair.client.increment_flow_control_window(2**20)
    pair.ask()
    pair.ask()
    for stream in (1, 3):
        pair.server.send_response(stream, OK)
        pair.server.send_data(stream, b"x" * 100_000)
    order = [it.stream_id for it in pair.exchange()[1] if isinstance(it, h2.events.DataReceived)]
    assert order[:4] == [1, 3, 1, 3]


def test_a_client_may_send_on_what_was_acknowledged() -> None:
    pair = ServedClient()
    pair.client.send_headers(1, GET)
    total = 0
    while total < 2**18:
        window = min(pair.client.local_flow_control_window(1), 16_384)
        if not window:
            break
        pair.client.send_data(1, b"x" * window)
        total += window
        pair.exchange()
    assert total == STREAM_WINDOW
    pair.server.acknowledge(1, STREAM_WINDOW)
    pair.exchange()
    # It is read, so more may be under way.
    assert pair.client.local_flow_control_window(1) == 2 * STREAM_WINDOW


def test_what_a_reset_stream_had_not_acknowledged_is_given_back() -> None:
    pair = ServedClient()
    full = pair.client.outbound_flow_control_window
    for _ in range(200):
        stream = pair.client.get_next_available_stream_id()
        pair.client.send_headers(stream, GET)
        for _ in range(4):
            pair.client.send_data(stream, b"x" * 16_384)
        pair.exchange()
        pair.server.reset(stream)
        pair.exchange()
    assert pair.client.outbound_flow_control_window > full / 2


# ---- ends


def test_a_reset_stream_keeps_its_reason() -> None:
    pair = ServedClient()
    pair.ask()
    pair.client.reset_stream(1, 0x77)
    assert pair.exchange()[0] == [ExchangeFailed(1, "stream reset by client (119)", 0x77)]
    pair.ask()
    pair.server.reset(3, ErrorCodes.INTERNAL_ERROR)
    (event,) = pair.exchange()[1]
    assert (event.stream_id, event.error_code) == (3, ErrorCodes.INTERNAL_ERROR)


def test_a_reset_after_the_end_of_an_answer_is_not_a_failure() -> None:
    pair = ServedClient()
    pair.ask()
    answer(pair, 1)
    pair.server.receive(RstStreamFrame(1, error_code=8).serialize())
    assert pair.server.receive(RstStreamFrame(1, error_code=8).serialize()) == []


def test_a_client_that_goes_away_gets_what_it_asked_for() -> None:
    pair = ServedClient()
    pair.ask()
    assert pair.server.receive(GoAwayFrame(0).serialize()) == [GoingAway(0)]
    assert not pair.server.must_close
    assert kinds(pair.ask()) == ["RequestReceived", "MessageEnded"]
    assert answer(pair, 1)[1].data == b"hello"
    assert not pair.server.must_close
    assert answer(pair, 3)[1].data == b"hello"
    assert pair.server.must_close


def test_a_client_that_leaves_fails_its_open_exchanges() -> None:
    pair = ServedClient()
    pair.ask()
    answer(pair, 1)
    pair.ask()
    assert pair.server.receive_eof() == [
        ExchangeFailed(3, "peer closed connection"),
        ConnectionEnded(""),
    ]


def test_what_came_before_an_error_is_reported() -> None:
    pair = ServedClient()
    pair.client.send_headers(1, GET, end_stream=True)
    data = pair.client.data_to_send() + b"\0\0\1\0\0\0\0\0\0x"
    events = pair.server.receive(data)
    assert kinds(events) == ["RequestReceived", "MessageEnded", "ExchangeFailed", "ConnectionEnded"]
    assert pair.server.must_close
    (event,) = pair.client.receive_data(pair.server.data_to_send())
    assert isinstance(event, h2.events.ConnectionTerminated)


def test_a_server_that_goes_away_refuses_what_is_new() -> None:
    pair = ServedClient()
    pair.ask()
    pair.server.go_away()
    pair.client.send_headers(3, GET, end_stream=True)
    data = pair.client.data_to_send()
    assert pair.server.receive(data) == []
    assert pair.server.data_to_send().endswith(RstStreamFrame(3, error_code=7).serialize())


def test_a_stream_too_many_is_refused_and_others_go_on() -> None:
    pair = ServedClient()
    pair.client.remote_settings.update({3: 1000})
    pair.client.remote_settings.acknowledge()
    for number in range(105):
        pair.client.send_headers(2 * number + 1, GET, end_stream=True)
    ours, theirs = pair.exchange()
    assert sum(isinstance(it, RequestReceived) for it in ours) == 100
    refused = [it.stream_id for it in theirs if isinstance(it, h2.events.StreamReset)]
    assert refused == [201, 203, 205, 207, 209]
    answer(pair, 1)
    assert kinds(pair.ask()) == ["RequestReceived", "MessageEnded"]


# ---- floods


def test_many_frames_take_several_turns() -> None:
    pair = ServedClient()
    pair.client.send_headers(1, [(b":method", b"POST"), *GET[1:]])
    pair.exchange()
    piece = DataFrame(1, data=b"x").serialize()

    turns = [pair.server.receive(piece * 200)]
    while pair.server.has_more:
        turns.append(pair.server.receive(b""))

    assert [len(it) for it in turns] == [64, 64, 64, 8]
    assert kinds(pair.server.receive(piece)) == ["DataReceived"]


def test_long_fields_take_a_turn_each() -> None:
    pair = ServedClient()
    long_field = (b"x", b"y" * 4000)
    for number in range(3):
        fields = [*GET, *[long_field] * 30]
        pair.client.send_headers(2 * number + 1, fields, end_stream=True)

    # Of 120 kB each, but compressed to a twentieth.
    turns = [pair.server.receive(pair.client.data_to_send())]
    while pair.server.has_more:
        turns.append(pair.server.receive(b""))

    assert [kinds(it) for it in turns[:3]] == [["RequestReceived", "MessageEnded"]] * 3


@pytest.mark.parametrize("kind", [0, 1, 9, 200])
def test_a_frame_that_is_too_long_is_not_waited_for(kind: int) -> None:
    pair = ServedClient()
    announced = (16_385).to_bytes(3) + bytes((kind, 0)) + (1).to_bytes(4)
    assert kinds(pair.server.receive(announced)) == ["ConnectionEnded"]


RESET = RstStreamFrame(1, error_code=8)


@pytest.mark.parametrize(
    "frame",
    [
        RESET,
        SettingsFrame(0, settings={4: 100}),
        PingFrame(0, opaque_data=b"12345678"),
        PriorityFrame(3),
        DataFrame(1, data=b""),
    ],
    ids=lambda frame: type(frame).__name__,
)
def test_a_flood_ends_its_connection_and_asks_for_calm(frame: Frame) -> None:
    pair = ServedClient()
    pair.client.send_headers(1, GET)
    pair.exchange()
    events: list[Any] = []
    rounds = 0
    while not pair.server.is_ended and rounds < 10_000:
        events += pair.server.receive(frame.serialize())
        rounds += 1
    assert 1000 <= rounds < 1100
    assert isinstance(events[-1], ConnectionEnded)
    assert "floods the connection" in events[-1].message
    out = pair.server.data_to_send()
    assert GoAwayFrame(0, last_stream_id=1, error_code=11).serialize() in out
    assert len(out) < 100_000


def test_frames_at_a_bearable_rate_are_not_a_flood() -> None:
    pair = ServedClient()
    for _ in range(3000):
        pair.clock.now += 0.05
        assert pair.server.receive(PingFrame(0, opaque_data=b"12345678").serialize()) == []
        pair.server.data_to_send()


def test_streams_that_are_reset_as_they_are_opened_are_few() -> None:
    pair = ServedClient()
    opened = 0
    while not pair.server.is_ended and opened < 5000:
        stream = pair.client.get_next_available_stream_id()
        pair.client.send_headers(stream, GET, end_stream=True)
        pair.client.reset_stream(stream)
        opened += sum(
            isinstance(it, RequestReceived)
            for it in pair.server.receive(pair.client.data_to_send())
        )
    assert 30 <= opened < 40
    assert pair.server.data_to_send().endswith(
        GoAwayFrame(0, last_stream_id=2 * opened - 1, error_code=11).serialize()
    )


def test_a_header_block_without_end_is_cut() -> None:
    pair = ServedClient()
    pair.server.receive(HeadersFrame(1, data=b"\0" * 10).serialize())
    for _ in range(100):
        pair.server.receive(ContinuationFrame(1, data=b"\0" * 16_000).serialize())
    assert pair.server.is_ended


@pytest.mark.timeout(10)
def test_a_huge_header_list_ends_the_connection() -> None:
    pair = ServedClient()
    # A field of 900 kB without compression (RFC 7541 §5.1, §6.2.2).
    block = b"\0\1x\x7f\xa1\xf6\x36" + b"y" * 900_000
    pieces = [block[at : at + 16_000] for at in range(0, len(block), 16_000)]
    pair.server.receive(HeadersFrame(1, data=pieces[0]).serialize())
    for piece in pieces[1:16]:
        assert pair.server.receive(ContinuationFrame(1, data=piece).serialize()) == []
    # It is not kept to its end.
    seventeenth = ContinuationFrame(1, data=pieces[16]).serialize()
    assert kinds(pair.server.receive(seventeenth)) == ["ConnectionEnded"]
    assert pair.server.data_to_send().endswith(GoAwayFrame(0, error_code=11).serialize())


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=300), st.booleans())
def test_no_bytes_raise(data: bytes, started: bool) -> None:
    pair = ServedClient()
    pair.client.send_headers(1, GET, end_stream=True)
    start = pair.client.data_to_send() if started else b""
    pair.server.receive(start + data)
    pair.server.data_to_send()
    pair.server.receive_eof()


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 200]),
            st.integers(0, 255),
            st.integers(0, 5),
            st.binary(max_size=40),
        ),
        max_size=8,
    )
)
def test_no_frames_raise(frames: list[tuple[int, int, int, bytes]]) -> None:
    pair = ServedClient()
    pair.ask()
    for kind, flags, stream, body in frames:
        head = len(body).to_bytes(3) + bytes((kind, flags)) + stream.to_bytes(4)
        for event in pair.server.receive(head + body):
            if isinstance(event, DataReceived):
                pair.server.acknowledge(event.stream, event.flow)
    pair.server.data_to_send()
    pair.server.receive_eof()


def test_open_requests_have_a_bounded_amount_of_headers() -> None:
    pair = ServedClient()
    # Each field but the first is a byte of the wire.
    fields = [*GET, *[(b"x", b"a" * 3900)] * 40]
    events = [pair.ask(fields)[0] for _ in range(20)]
    taken = [event for event in events if isinstance(event, RequestReceived)]
    refused = [event for event in events if isinstance(event, RequestRejected)]
    assert (len(taken), len(refused)) == (6, 14)
    assert {event.status for event in refused} == {431}
    usual = pair.ask()[0]
    assert isinstance(usual, RequestReceived)
    for event in taken:
        answer(pair, event.stream)
    assert isinstance(pair.ask(fields)[0], RequestReceived)


def test_a_connection_that_is_over_is_freed_without_the_garbage_collector() -> None:
    gc.disable()
    try:
        pair = ServedClient()
        pair.ask(body=b"up")
        answer(pair, 1)
        pair.ask()
        frames = pair.server._frames
        retained: list[ref[Any]] = [ref(pair.server), ref(frames), ref(frames.streams[3])]
        del pair, frames
        assert [each() for each in retained] == [None] * 3
    finally:
        gc.enable()
