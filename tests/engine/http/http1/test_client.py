"""Sites that send too much, too little, or what is not HTTP."""

import pytest

from warex.engine.http.events import (
    TOO_MANY_HINTS,
    ConnectionEnded,
    DataReceived,
    ExchangeFailed,
    MessageEnded,
    ResponseEvent,
    ResponseReceived,
)
from warex.engine.http.heads import Headers, RequestHead
from warex.engine.http.http1.client import Http1Client

GET = RequestHead("GET", "http", "a", "/", "HTTP/1.1", Headers([(b"Host", b"a")]))


def asked(*, secure: bool = False, default_port: bool = True) -> Http1Client:
    client = Http1Client(secure=secure, default_port=default_port)
    client.send_request(GET, has_body=False)
    client.send_end(1)
    assert client.data_to_send() == b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    return client


def failures(events: list[ResponseEvent]) -> list[str]:
    return [event.message for event in events if isinstance(event, ExchangeFailed)]


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"", "server closed connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", "(received 2 bytes, expected 5)"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", "the last chunk"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "a chunk has no size"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", "lengths: 2, 3"),
        (b"HTTP/1.1 103 Hints\r\n\r\n", "server closed connection"),
        (b"HTTP/1.1 200 OK\r\nA: b", "within the answer's head"),
    ],
)
def test_a_response_that_cannot_be_read_fails_the_exchange_once(sent: bytes, reason: str) -> None:
    client = asked(secure=True)
    events = client.receive(sent) + client.receive_eof()
    (message,) = failures(events)
    assert message.endswith(reason)
    assert isinstance(events[-1], ConnectionEnded)
    assert not client.reusable


def test_without_tls_a_head_may_end_with_the_connection() -> None:
    client = asked()
    events = client.receive(b"HTTP/1.1 200 OK\r\nA: b") + client.receive_eof()
    received = events[0]
    assert isinstance(received, ResponseReceived)
    assert (received.head.headers.get("a"), received.head.raw) == ("b", b"HTTP/1.1 200 OK\r\nA: b")
    assert MessageEnded(1) in events


def test_a_body_without_a_head_is_http_0_9_on_the_usual_port_only() -> None:
    client = asked()
    received, data = client.receive(b"<html>hello")
    assert isinstance(received, ResponseReceived)
    assert data == DataReceived(1, b"<html>hello", b"<html>hello")
    assert MessageEnded(1) in client.receive_eof()
    assert failures(asked(default_port=False).receive(b"<html>hello")) == [
        "this is not an answer of HTTP"
    ]


def test_what_follows_a_response_is_dropped_with_the_connection() -> None:
    client = asked()
    events = client.receive(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok?")
    assert DataReceived(1, b"ok", b"ok") in events
    assert not client.reusable


def test_what_nothing_asked_for_ends_the_connection() -> None:
    client = Http1Client(secure=False, default_port=True)
    (ended,) = client.receive(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
    assert isinstance(ended, ConnectionEnded)
    assert not client.reusable


def test_a_response_to_head_has_no_body() -> None:
    client = Http1Client(secure=False, default_port=True)
    head = RequestHead("HEAD", "http", "a", "/", "HTTP/1.1", Headers())
    client.send_request(head, has_body=False)
    client.send_end(1)
    events = client.receive(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
    assert events[-1] == MessageEnded(1)
    assert client.reusable


def test_an_early_response_does_not_end_the_request() -> None:
    client = Http1Client(secure=False, default_port=True)
    client.send_request(GET, has_body=True)
    client.receive(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    assert not client.reusable
    client.send_data(1, b"late")
    client.send_end(1)
    assert client.data_to_send().endswith(b"\r\n\r\n4\r\nlate\r\n0\r\n\r\n")
    assert client.reusable


@pytest.mark.parametrize("size", [20, 10_000])
def test_informational_responses_without_end_fail_the_exchange(size: int) -> None:
    client = asked()
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: %b\r\n\r\n" % (b"x" * size)
    events: list[ResponseEvent] = []
    for _ in range(300_000 // len(hint)):
        events += client.receive(hint)
    assert failures(events) == [TOO_MANY_HINTS]
    assert len(events) * len(hint) < 290_000
    assert client.must_close


def test_each_exchange_may_have_informational_responses() -> None:
    client = asked()
    for _ in range(4):
        events = client.receive(b"HTTP/1.1 103 Early Hints\r\nLink: %b\r\n\r\n" % (b"x" * 200_000))
        assert failures(events) == []
        client.receive(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        client.send_request(GET, has_body=False)
        client.send_end(1)
