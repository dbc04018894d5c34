"""HTTP/2 towards a site: every message, every end, and waiting for a turn."""

from typing import Any

import pytest
from h2.errors import ErrorCodes
from hyperframe.frame import DataFrame, GoAwayFrame, HeadersFrame
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.http.http2.peers import AskedSite
from warex.engine.http.events import (
    TOO_MANY_HINTS,
    ConnectionEnded,
    DataReceived,
    ExchangeFailed,
    GoingAway,
    InformationalReceived,
    MessageEnded,
    ResponseReceived,
)
from warex.engine.http.heads import Headers, RequestHead

GET = RequestHead("GET", "https", "a.example", "/b?c", "HTTP/2.0", Headers([(b"x", b"y")]))
STATUS = [(b":status", b"200"), (b"content-length", b"5")]


def ask(pair: AskedSite, head: RequestHead = GET) -> int:
    stream = pair.client.send_request(head, has_body=False)
    pair.client.send_end(stream)
    return stream


def answered(pair: AskedSite, stream: int, body: bytes = b"hello") -> list[Any]:
    pair.site.send_headers(stream, STATUS)
    pair.site.send_data(stream, body, end_stream=True)
    return pair.exchange()[0]


def test_a_request_and_its_answer() -> None:
    pair = AskedSite()
    assert ask(pair) == 1
    (request, *_) = pair.exchange()[1]
    assert dict(request.headers) == {
        b":method": b"GET",
        b":scheme": b"https",
        b":authority": b"a.example",
        b":path": b"/b?c",
        b"x": b"y",
    }
    assert request.stream_ended is not None
    received, data, ended = answered(pair, 1)
    assert isinstance(received, ResponseReceived)
    assert (received.head.status, received.head.headers.get("content-length")) == (200, "5")
    assert (data.payload, ended) == (b"hello", MessageEnded(1))


def test_a_request_of_http1_leaves_its_host_and_connection_behind() -> None:
    pair = AskedSite()
    fields = Headers(
        [(b"Host", b"a.example"), (b"Connection", b"x-hop"), (b"X-Hop", b"1"), (b"A", b"b")]
    )
    ask(pair, RequestHead("GET", "https", "a.example", "/", "HTTP/1.1", fields))
    assert pair.exchange()[1][0].headers[4:] == [(b"a", b"b")]


def test_informational_answers_come_before_the_final_one() -> None:
    pair = AskedSite()
    ask(pair)
    pair.exchange()
    pair.site.send_headers(1, [(b":status", b"103"), (b"link", b"</a>")])
    (hint,) = pair.exchange()[0]
    assert isinstance(hint, InformationalReceived)
    assert (hint.head.status, hint.head.headers.get("link")) == (103, "</a>")


@pytest.mark.parametrize("body", [b"", b"hell", b"hello, too long"])
def test_a_body_may_differ_from_its_length_as_in_browsers(body: bytes) -> None:
    pair = AskedSite()
    ask(pair)
    pair.exchange()
    assert answered(pair, 1, body)[-1] == MessageEnded(1)


@pytest.mark.parametrize(
    "headers",
    [
        [(b":status", b"abc")],
        [(b":status", b"101")],
        [(b":status", b"200"), (b"Upper", b"1")],
        [(b":status", b"200"), (b"connection", b"close")],
        [(b":status", b"200"), (b"x", b"a\r\nb: c")],
        [(b":status", b"200"), (b":path", b"/")],
        [(b"x", b"y")],
    ],
)
def test_a_malformed_answer_fails_its_exchange_only(headers: list[tuple[bytes, bytes]]) -> None:
    pair = AskedSite()
    ask(pair)
    ask(pair)
    pair.exchange()
    pair.site.send_headers(1, headers)
    (failed,), (reset,) = pair.exchange()
    assert isinstance(failed, ExchangeFailed)
    assert (failed.code, reset.error_code) == (1, ErrorCodes.PROTOCOL_ERROR)
    assert answered(pair, 3)[-1] == MessageEnded(3)


@pytest.mark.parametrize("code", [*ErrorCodes, 0x77])
def test_a_reset_stream_keeps_its_reason(code: int) -> None:
    pair = AskedSite()
    ask(pair)
    pair.exchange()
    pair.site.reset_stream(1, code)
    (failed,) = pair.exchange()[0]
    assert isinstance(failed, ExchangeFailed)
    assert (failed.code, failed.unprocessed) == (code, code == ErrorCodes.REFUSED_STREAM)
    assert failed.message.startswith("stream reset by the site (")
    assert pair.client.reusable


def test_a_site_that_has_answered_may_want_no_more_of_the_request() -> None:
    pair = AskedSite()
    stream = pair.client.send_request(GET, has_body=True)
    pair.exchange()
    assert answered(pair, stream)[-1] == MessageEnded(1)
    pair.site.reset_stream(stream, 0)
    (failed,) = pair.exchange()[0]
    assert isinstance(failed, ExchangeFailed)
    assert failed.code == 0


def test_what_a_site_that_goes_away_left_undone_can_be_sent_again() -> None:
    pair = AskedSite()
    ask(pair)
    ask(pair)
    pair.exchange()
    away, failed = pair.client.receive(GoAwayFrame(0, last_stream_id=1).serialize())
    assert away == GoingAway(0)
    assert isinstance(failed, ExchangeFailed)
    assert (failed.stream, failed.unprocessed) == (3, True)
    assert failed.message == "the site went away (GOAWAY NO_ERROR, last stream 1)"
    assert (pair.client.reusable, pair.client.must_close) == (False, False)
    assert answered(pair, 1)[-1] == MessageEnded(1)
    assert pair.client.must_close


def test_a_connections_error_is_its_streams() -> None:
    pair = AskedSite()
    ask(pair)
    pair.exchange()
    frame = GoAwayFrame(0, last_stream_id=1, error_code=11)
    _, failed, ended = pair.client.receive(frame.serialize())
    message = "the site went away (GOAWAY ENHANCE_YOUR_CALM, last stream 1)"
    assert failed == ExchangeFailed(1, message, 11)
    assert ended == ConnectionEnded(message)


def test_requests_wait_for_their_turn() -> None:
    pair = AskedSite(streams=2)
    streams = [ask(pair) for _ in range(5)]
    asked = [it.stream_id for it in pair.exchange()[1] if hasattr(it, "headers")]
    assert asked == [1, 3]
    pair.client.reset(5)
    pair.site.reset_stream(3, 8)
    pair.site.send_headers(1, STATUS)
    pair.site.send_data(1, b"hello", end_stream=True)
    asked = [it.stream_id for it in pair.exchange()[1] if hasattr(it, "headers")]
    assert asked == [7, 9]
    assert streams == [1, 3, 5, 7, 9]


def test_requests_that_waited_when_the_site_left_were_never_sent() -> None:
    pair = AskedSite(streams=1)
    ask(pair)
    ask(pair)
    pair.exchange()
    waiting, open_, ended = pair.client.receive_eof()
    assert waiting == ExchangeFailed(3, "peer closed connection", unprocessed=True)
    assert open_ == ExchangeFailed(1, "peer closed connection")
    assert ended == ConnectionEnded("")


def test_a_body_passes_flow_control_by_and_by() -> None:
    pair = AskedSite(window=1000)
    stream = pair.client.send_request(GET, has_body=True)
    pair.client.send_data(stream, b"x" * 1500)
    pair.client.send_end(stream)
    pair.exchange()
    assert (pair.client.sent(stream), pair.client.queued(stream)) == (1000, 500)
    pair.site.acknowledge_received_data(1000, stream)
    pair.exchange()
    assert (pair.client.sent(stream), pair.client.queued(stream)) == (1500, 0)


def test_data_for_nobody_does_not_use_up_the_window() -> None:
    pair = AskedSite()
    ask(pair)
    pair.exchange()
    pair.client.reset(1)
    pair.site.send_headers(1, STATUS)
    for _ in range(3):
        pair.site.send_data(1, b"x" * 16_000)
    assert pair.client.receive(pair.site.data_to_send()) == []


def test_pushes_end_the_connection() -> None:
    pair = AskedSite()
    ask(pair)
    pair.exchange()
    push = b"\0\0\4\5\4\0\0\0\1\0\0\0\2"
    assert isinstance(pair.client.receive(push)[-1], ConnectionEnded)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_raise(data: bytes, asked: bool) -> None:
    pair = AskedSite()
    if asked:
        ask(pair)
    pair.exchange()
    frames = HeadersFrame(1, data=data, flags=["END_HEADERS"]).serialize()
    for piece in (frames, DataFrame(1, data=data).serialize(), data):
        for event in pair.client.receive(piece):
            if isinstance(event, DataReceived):
                pair.client.acknowledge(event.stream, event.flow)
    pair.client.data_to_send()
    pair.client.receive_eof()


def test_informational_responses_without_end_end_their_exchange_alone() -> None:
    pair = AskedSite()
    assert (ask(pair), ask(pair)) == (1, 3)
    pair.exchange()
    hints = [(b":status", b"103"), (b"link", b"x" * 1000)]
    events: list[Any] = []
    for _ in range(300):
        pair.site.send_headers(1, hints)
        events += pair.exchange()[0]
        if isinstance(events[-1], ExchangeFailed):
            break
    assert events.pop() == ExchangeFailed(1, TOO_MANY_HINTS, ErrorCodes.ENHANCE_YOUR_CALM)
    assert 200 < len(events) < 262
    assert answered(pair, 3)[-1] == MessageEnded(3)


def test_long_fields_of_open_responses_are_bounded() -> None:
    pair = AskedSite()
    streams = [ask(pair) for _ in range(8)]
    pair.exchange()
    long_fields = [(b"x", b"y" * 4000)] * 50
    events: list[Any] = []
    for stream in streams:
        pair.site.send_headers(stream, [*STATUS, *long_fields])
        events += pair.exchange()[0]
    assert [type(it) for it in events] == [ResponseReceived] * 5 + [ExchangeFailed] * 3
    for stream in streams[:5]:
        pair.site.send_data(stream, b"hello", end_stream=True)
    pair.exchange()
    stream = ask(pair)
    pair.exchange()
    assert isinstance(answered(pair, stream)[-1], MessageEnded)


def test_long_trailers_of_open_responses_are_bounded() -> None:
    pair = AskedSite()
    bodies = [pair.client.send_request(GET, has_body=True) for _ in range(8)]
    pair.exchange()
    events: list[Any] = []
    for stream in bodies:
        pair.site.send_headers(stream, [(b":status", b"200")])
        pair.site.send_headers(stream, [(b"x", b"y" * 4000)] * 50, end_stream=True)
        events += pair.exchange()[0]
    assert [type(it) for it in events[1::2]] == [MessageEnded] * 5 + [ExchangeFailed] * 3


def fill(pair: AskedSite, stream: int) -> list[Any]:
    """Send on a stream what its windows let through; return the events."""
    events: list[Any] = []
    while window := pair.site.local_flow_control_window(stream):
        pair.site.send_data(stream, bytes(min(window, 16_384)))
        events += pair.exchange()[0]
    return events


def take(pair: AskedSite, stream: int, size: int) -> None:
    """Send on a stream, and take at once what comes."""
    received = 0
    while received < size:
        for event in fill(pair, stream):
            received += len(event.payload)
            pair.client.acknowledge(stream, event.flow)
        pair.exchange()


def test_a_stream_that_is_read_does_not_wait_for_any_that_are_not() -> None:
    pair = AskedSite()
    streams = [ask(pair) for _ in range(100)]
    pair.exchange()
    for stream in streams:
        pair.site.send_headers(stream, STATUS[:1])
    pair.exchange()
    for stream in streams[:15]:
        take(pair, stream, 2_000_000)
    for stream in streams[:-1]:
        fill(pair, stream)
    take(pair, streams[-1], 4_000_000)


def test_a_stream_whose_data_is_taken_may_have_much_under_way() -> None:
    pair = AskedSite()
    assert (ask(pair), ask(pair)) == (1, 3)
    pair.exchange()
    for stream in (1, 3):
        pair.site.send_headers(stream, STATUS[:1])
    pair.exchange()
    take(pair, 1, 3_000_000)
    assert 500_000 < pair.site.local_flow_control_window(1) <= 1024 * 1024
    assert pair.site.local_flow_control_window(3) == 64 * 1024
