"""Whole exchanges over both roles: what is raw passes as it came, what is not is framed again."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.engine.http.connection import ClientConnection, ServerConnection
from warex.engine.http.events import (
    DataReceived,
    InformationalReceived,
    MessageEnded,
    RequestReceived,
    ResponseReceived,
)
from warex.engine.http.http1.client import Http1Client
from warex.engine.http.http1.server import Http1Server


class Relay:
    """A client's and a site's connection, back to back, as the engine joins them."""

    def __init__(self, *, raw: bool = True) -> None:
        self.client: ServerConnection = Http1Server("http", "a.example")
        self.site: ClientConnection = Http1Client(secure=False, default_port=True)
        self.raw = raw
        self.to_site = self.to_client = b""

    def from_client(self, data: bytes) -> None:
        for event in self.client.receive(data):
            match event:
                case RequestReceived():
                    self.site.send_request(event.head, raw_body=self.raw, has_body=event.has_body)
                case DataReceived():
                    self.site.send_data(event.stream, event.payload, event.raw)
                case MessageEnded():
                    self.site.send_end(event.stream, event.trailers)
                case _:
                    raise AssertionError(event)
        self.to_site += self.site.data_to_send()

    def from_site(self, data: bytes, *, eof: bool = False) -> None:
        events = self.site.receive(data)
        if eof:
            events += self.site.receive_eof()[:-1]
        for event in events:
            match event:
                case InformationalReceived():
                    self.client.send_informational(event.stream, event.head)
                case ResponseReceived():
                    self.client.send_response(event.stream, event.head, raw_body=self.raw)
                case DataReceived():
                    self.client.send_data(event.stream, event.payload, event.raw)
                case MessageEnded():
                    self.client.send_end(event.stream, event.trailers)
                case _:
                    raise AssertionError(event)
        self.to_client += self.client.data_to_send()


REQUESTS = [
    b"GET /a?b HTTP/1.1\r\nhOST:  a.example\t\r\nX: \r\nx:y\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhello",
    b"POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5;x=y\r\nhello\r\n001 \r\n!\r\n0\r\nX-Sum: 7\r\n\r\n",
    b"OPTIONS * HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    b"HEAD /\xc3\xa9 HTTP/1.1\r\nHost: a.example:8080\r\n\r\n",
]
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
RESPONSES = [
    ANSWER,
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1  200\nX:y\nContent-length : 2\n\nok",
    b"junkHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a\nhello\n0\r\nX: y\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
]


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[a:b] for a, b in pairwise(edges) if a < b]


@given(
    request=st.sampled_from(REQUESTS[:-1]),
    response=st.sampled_from(RESPONSES),
    cuts=st.lists(st.integers(0, 10_000), max_size=6),
)
def test_messages_pass_unchanged_in_any_division(
    request: bytes, response: bytes, cuts: list[int]
) -> None:
    relay = Relay()
    for _ in range(2):
        for piece in pieces(request, cuts):
            relay.from_client(piece)
        for piece in pieces(response, cuts):
            relay.from_site(piece)
    expected = response if b"HTTP/1.0" not in request else response[response.rindex(b"HTTP/1.1") :]
    if b"junk" in response:
        expected = response
    assert (relay.to_site, relay.to_client) == (request * 2, expected * 2)


@given(cuts=st.lists(st.integers(0, 10_000), max_size=6))
def test_a_body_framed_again_holds_the_same(cuts: list[int]) -> None:
    relay = Relay(raw=False)
    for piece in pieces(REQUESTS[2], cuts):
        relay.from_client(piece)
    for piece in pieces(RESPONSES[2], cuts):
        relay.from_site(piece)
    reread = Relay()
    reread.from_client(relay.to_site)
    events = reread.site.receive(relay.to_client)
    assert b"".join(e.payload for e in events if isinstance(e, DataReceived)) == b"hello"
    (end,) = [e for e in events if isinstance(e, MessageEnded)]
    assert end.trailers.fields == ((b"X", b"y"),)


def test_pipelined_requests_wait_for_the_answer_before_them() -> None:
    relay = Relay()
    relay.from_client(REQUESTS[1] * 3)
    for n in range(1, 4):
        assert relay.to_site == REQUESTS[1] * n
        relay.from_site(ANSWER)
        relay.from_client(b"")
    assert relay.to_client == ANSWER * 3


def test_nothing_more_is_read_while_many_requests_wait() -> None:
    relay = Relay()
    relay.from_client(REQUESTS[0])
    assert relay.client.wants_data
    relay.from_client(b"x" * 70_000)
    assert not relay.client.wants_data


@pytest.mark.parametrize("size", [100_000, 250_000])
def test_a_long_head_is_read_to_its_end(size: int) -> None:
    relay = Relay()
    request = b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * size + b"\r\n\r\n"
    for begin in range(0, len(request), 1000):
        assert relay.client.wants_data
        relay.from_client(request[begin : begin + 1000])
    assert relay.to_site == request


@pytest.mark.parametrize("early", [b"", b"more"])
def test_after_a_switch_bytes_pass(early: bytes) -> None:
    relay = Relay()
    upgrade = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
    relay.from_client(upgrade + early)
    relay.from_site(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n\0\1")
    relay.from_client(b"")
    relay.from_client(b"GET")
    relay.from_site(b"HTTP/1.1 200", eof=True)
    assert relay.to_site == upgrade + early + b"GET"
    assert relay.to_client.endswith(b"\r\n\r\n\0\1HTTP/1.1 200")
    assert relay.client.must_close


def test_a_body_until_the_end_of_the_connection_ends_the_clients_too() -> None:
    relay = Relay()
    relay.from_client(REQUESTS[0])
    relay.from_site(b"HTTP/1.1 200 OK\r\n\r\nuntil", eof=False)
    assert not relay.client.must_close
    relay.from_site(b" the end", eof=True)
    assert relay.to_client == b"HTTP/1.1 200 OK\r\n\r\nuntil the end"
    assert relay.client.must_close


@pytest.mark.parametrize(
    ("request_line", "answer", "closes"),
    [
        (b"GET / HTTP/1.1\r\n", b"", False),
        (b"GET / HTTP/1.1\r\nConnection: x, Close\r\n", b"", True),
        (b"GET / HTTP/1.0\r\n", b"", True),
        (b"GET / HTTP/1.1\r\n", b"connection: close\r\n", True),
    ],
)
def test_a_connection_ends_where_either_side_says_so(
    request_line: bytes, answer: bytes, closes: bool
) -> None:
    relay = Relay()
    relay.from_client(request_line + b"Host: a\r\n\r\n")
    relay.from_site(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + answer + b"\r\n")
    assert (relay.client.must_close, relay.site.reusable) == (closes, not closes)


@given(st.binary(max_size=200), st.sampled_from([*REQUESTS, *RESPONSES]))
def test_no_bytes_raise(data: bytes, before: bytes) -> None:
    for start in (b"", before, before[: len(data)]):
        server = Http1Server("http", None)
        server.receive(start + data)
        server.receive_eof()
        server.data_to_send()
        relay = Relay()
        relay.from_client(REQUESTS[0])
        relay.site.receive(start + data)
        relay.site.receive_eof()
