"""Requests that are refused, and clients that leave."""

import pytest

from warex.engine.http.events import (
    ConnectionEnded,
    ExchangeFailed,
    MessageEnded,
    RequestEvent,
    RequestReceived,
    RequestRejected,
)
from warex.engine.http.heads import Headers, ResponseHead
from warex.engine.http.http1.server import Http1Server

OK = ResponseHead(200, b"OK", "HTTP/1.1", Headers([(b"content-length", b"0")]))


def names(events: list[RequestEvent]) -> list[str]:
    return [type(event).__name__ for event in events]


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n", 400),
        (b"PRI * HTTP/2.0\r\n\r\n", 505),
        (b"GET / HTTP/1.1\r\nA: " + b"a" * 300_000, 431),
        (b"GET / HTTP/1.1\r\nA: " + b"a" * 300_000 + b"\r\n\r\n", 431),
    ],
)
def test_a_refused_request_gets_a_page_and_nothing_follows(raw: bytes, status: int) -> None:
    server = Http1Server("http", "a")
    (rejected,) = server.receive(raw)
    assert isinstance(rejected, RequestRejected)
    assert rejected.status == status
    assert rejected.line == raw.partition(b" HTTP")[0]
    assert server.data_to_send().startswith(b"HTTP/1.1 %d " % status)
    assert server.must_close
    assert server.receive(b"GET / HTTP/1.1\r\n\r\n") == []


def test_a_body_that_cannot_be_read_is_answered_if_nothing_was_yet() -> None:
    raw = b"POST /up HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nOtto\r\n"
    server = Http1Server("http", "a")
    events = server.receive(raw)
    failed, rejected = events[-2:]
    assert isinstance(failed, ExchangeFailed)
    assert isinstance(rejected, RequestRejected)
    assert failed.message == rejected.reason == "HTTP/1 protocol error: illegal chunk header"
    assert rejected.line == b"POST /up"
    assert server.data_to_send().startswith(b"HTTP/1.1 400 ")

    server = Http1Server("http", "a")
    server.receive(raw[:-6])
    server.send_response(1, OK)
    assert names(server.receive(b"Otto\r\n")) == ["ExchangeFailed", "ConnectionEnded"]
    assert server.data_to_send() == b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
    assert server.must_close


def test_empty_lines_between_requests_are_skipped() -> None:
    server = Http1Server("http", "a")
    for byte in b"\r\n\n\r\nGET / HTTP/1.1\r\n\r":
        assert server.receive(bytes([byte])) == []
    assert names(server.receive(b"\n")) == ["RequestReceived", "MessageEnded"]


def test_a_head_may_come_byte_by_byte() -> None:
    server = Http1Server("http", "a")
    raw = b"GET / HTTP/1.1\r\nA: " + b"a" * 50_000 + b"\r\n\r\n"
    events = [event for byte in raw for event in server.receive(bytes([byte]))]
    received = events[0]
    assert isinstance(received, RequestReceived)
    assert received.head.raw == raw


def test_a_client_that_leaves_within_a_body_has_failed() -> None:
    server = Http1Server("http", "a")
    server.receive(b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab")
    failed, ended = server.receive_eof()
    assert isinstance(failed, ExchangeFailed)
    assert failed.message.endswith("(received 2 bytes, expected 5)")
    assert ended == ConnectionEnded("")


def test_a_client_that_sends_nothing_more_can_still_be_answered() -> None:
    server = Http1Server("http", "a")
    server.receive(b"GET / HTTP/1.1\r\n\r\n")
    assert names(server.receive_eof()) == ["ConnectionEnded"]
    server.send_response(1, OK)
    server.send_end(1)
    assert server.data_to_send().startswith(b"HTTP/1.1 200 OK")
    assert server.must_close


def test_a_tunnel_begins_after_its_answer_with_what_waited() -> None:
    server = Http1Server("http", None)
    received, ended = server.receive(b"CONNECT a:443 HTTP/1.1\r\n\r\n\x16\x03")
    assert isinstance(received, RequestReceived)
    assert (received.head.method, received.head.authority) == ("CONNECT", "a:443")
    assert isinstance(ended, MessageEnded)
    server.send_response(1, ResponseHead(200, b"Connection established", "HTTP/1.1", Headers()))
    assert server.data_to_send() == b"HTTP/1.1 200 Connection established\r\n\r\n"
    assert server.unread() == b"\x16\x03"


def test_clients_of_http_1_0_get_no_hints_and_no_chunks() -> None:
    server = Http1Server("http", "a")
    server.receive(b"GET / HTTP/1.0\r\n\r\n")
    server.send_informational(1, ResponseHead(103, b"", "HTTP/2.0", Headers()))
    server.send_response(1, ResponseHead(200, b"", "HTTP/2.0", Headers()))
    server.send_data(1, b"body")
    server.send_end(1)
    assert server.data_to_send() == b"HTTP/1.1 200 OK\r\n\r\nbody"
    assert server.must_close


def test_an_answer_without_a_length_gets_chunks() -> None:
    server = Http1Server("http", "a")
    server.receive(b"GET / HTTP/1.1\r\n\r\n")
    server.send_response(1, ResponseHead(200, b"", "HTTP/2.0", Headers()))
    server.send_data(1, b"body")
    server.send_data(1, b"")
    server.send_end(1, Headers([(b"x", b"y")]))
    assert server.data_to_send() == (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\nx: y\r\n\r\n"
    )
    assert (server.must_close, server.sent(1)) == (False, 0)
