"""What passes through HTTP/1.1 untouched, byte for byte."""

import gzip
import socket

import pytest

from tests.proxy.support.client import read_answer, read_until_closed, secure
from tests.proxy.support.lanes import Begin
from tests.proxy.support.origin import Answer, Origin
from warex.proxy.certificates.ca import CertificateAuthority
from warex.traces import RequestSeen, ResponseSeen

pytestmark = pytest.mark.wire

ZIPPED = gzip.compress(b"a page" * 100, mtime=0)

RAW = {
    "headers keep their order, case and repeats": (
        b"HTTP/1.1 200 Fine\r\nX-b: 1\r\nSet-Cookie: a=1\r\nx-B: 2\r\nSet-Cookie: b=2\r\n"
        b"CONTENT-length: 2\r\n\r\nok"
    ),
    "a compressed body is not compressed again": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(ZIPPED)
        + ZIPPED
    ),
    "a body of strange bytes": (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 256\r\n\r\n"
        + bytes(range(256))
    ),
    "chunks stay chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"
    ),
    "trailers arrive": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
        b"5\r\nhello\r\n0\r\nX-Sum: 7\r\n\r\n"
    ),
    "no content": b"HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n",
    "not modified": b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n',
    "a redirect": b"HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n",
    "a length said twice": b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok",
    "a line without a colon": b"HTTP/1.1 200\nwhat\nContent-Length : 2\n\nok",
    "no body where chunks are promised": (
        b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n"
    ),
    "a radio station": b"ICY 200 OK\r\nicy-name: WAREX\r\n\r\nConnection: close",
    "a body that ends with the connection": (
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end"
    ),
}


@pytest.mark.parametrize("name", RAW)
def test_an_answer_passes_untouched(
    name: str, begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    raw = RAW[name]
    secure_h1.routes["/a"] = Answer(raw=raw)
    port = secure_h1.port
    with begin() as lane, secure(lane.port, "localhost", port, ca.certificate) as connection:
        connection.sendall(b"GET /a HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % port)
        got = b""
        while len(got) < len(raw):
            piece = connection.recv(65536)
            assert piece, got
            got += piece
    assert got == raw


def test_what_a_site_offers_over_quic_passes_and_is_recorded(begin: Begin, plain: Origin) -> None:
    offer = 'h3=":443"; ma=86400'
    raw = f"HTTP/1.1 200 OK\r\nAlt-Svc: {offer}\r\nContent-Length: 2\r\n\r\nok".encode()
    plain.routes["/a"] = Answer(raw=raw)
    with begin() as lane, socket.create_connection(("127.0.0.1", lane.port), timeout=30) as client:
        url = f"http://127.0.0.1:{plain.port}/a"
        client.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        assert read_until_closed(client) == raw
    (event,) = lane.events(ResponseSeen)
    assert ("Alt-Svc", offer) in [tuple(it) for it in event.headers]


def test_an_answer_that_no_browser_takes_is_cut_and_the_trace_says_why(
    begin: Begin, plain: Origin
) -> None:
    raw = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"
    plain.routes["/a"] = Answer(raw=raw)
    with begin() as lane, socket.create_connection(("127.0.0.1", lane.port), timeout=30) as client:
        url = f"http://127.0.0.1:{plain.port}/a"
        client.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert read_until_closed(client) == b""
        assert lane.proxy.broken is None
    (event,) = lane.events(ResponseSeen)
    assert (event.status, event.error) == (None, "the answer has several lengths: 2, 3")


def test_an_answer_that_ends_with_hints_does_not_seem_whole(begin: Begin, plain: Origin) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    plain.routes["/a"] = Answer(raw=hints + b"<html>onnection: close")
    with begin() as lane, socket.create_connection(("127.0.0.1", lane.port), timeout=30) as client:
        url = f"http://127.0.0.1:{plain.port}/a"
        client.sendall(f"GET {url} HTTP/1.1\r\nHost: x:8080\r\n\r\n".encode())
        with pytest.raises(ConnectionResetError):
            read_until_closed(client)
        assert lane.proxy.broken is None
    assert [event.status for event in lane.events(ResponseSeen)] == [None]


def test_a_request_reaches_the_site_untouched(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    port = secure_h1.port
    head = (
        b"POST /a?b=%%20c HTTP/1.1\r\nhOst: localhost:%d\r\nX-One: 1\r\nx-one: 2\r\nCookie: a=b\r\n"
        b"Accept-Encoding: gzip, br\r\nContent-Length: 1048576\r\n\r\n" % port
    )
    body = bytes(range(256)) * 4096
    with begin() as lane, secure(lane.port, "localhost", port, ca.certificate) as connection:
        connection.sendall(head + body)
        read_answer(connection)
    assert secure_h1.seen[0].head == head
    assert secure_h1.seen[0].body == body
    assert lane.events(RequestSeen)[0].size == len(body)


def test_a_head_answer_has_no_body(begin: Begin, plain: Origin) -> None:
    with (
        begin() as lane,
        socket.create_connection(("127.0.0.1", lane.port), timeout=30) as connection,
    ):
        url = f"http://127.0.0.1:{plain.port}/a"
        connection.sendall(f"HEAD {url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        assert read_until_closed(connection) == b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"


def test_trailers_of_a_request_reach_the_site(begin: Begin, plain: Origin) -> None:
    with (
        begin() as lane,
        socket.create_connection(("127.0.0.1", lane.port), timeout=30) as connection,
    ):
        url = f"http://127.0.0.1:{plain.port}/a"
        connection.sendall(
            f"POST {url} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
            + b"2\r\nab\r\n0\r\nX-Sum: 1\r\n\r\n"
        )
        read_answer(connection)
    assert (plain.seen[0].body, plain.seen[0].trailers) == (b"ab", b"X-Sum: 1\r\n")


def test_early_hints_pass_and_are_not_taken_for_the_answer(begin: Begin, plain: Origin) -> None:
    raw = (
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
        b"HTTP/1.1 102 Processing\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    )
    plain.routes["/a"] = Answer(raw=raw)
    with begin() as lane:
        for version, got in (("1.1", raw), ("1.0", raw[raw.index(b"HTTP/1.1 200") :])):
            with socket.create_connection(("127.0.0.1", lane.port), timeout=30) as connection:
                url = f"http://127.0.0.1:{plain.port}/a"
                connection.sendall(f"GET {url} HTTP/{version}\r\nHost: x\r\n\r\n".encode())
                assert read_until_closed(connection) == got
    assert [event.status for event in lane.events(ResponseSeen)] == [200, 200]


def test_a_plain_request_loses_only_what_was_said_to_the_proxy(begin: Begin, plain: Origin) -> None:
    with (
        begin() as lane,
        socket.create_connection(("127.0.0.1", lane.port), timeout=30) as connection,
    ):
        url = f"http://127.0.0.1:{plain.port}/a"
        connection.sendall(
            f"GET {url} HTTP/1.1\r\nHost: x\r\nProxy-Connection: keep-alive\r\n\r\n".encode()
        )
        read_answer(connection)
    assert plain.seen[0].head == b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"


def test_a_client_that_waits_for_100_continue_gets_it(begin: Begin, plain: Origin) -> None:
    with begin() as lane, socket.create_connection(("127.0.0.1", lane.port), timeout=30) as client:
        url = f"http://127.0.0.1:{plain.port}/a"
        client.sendall(
            f"POST {url} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
            "Content-Length: 2\r\n\r\n".encode()
        )
        assert read_answer(client)[0] == b"HTTP/1.1 100 Continue"
        client.sendall(b"ab")
        assert read_answer(client)[1] == b"hello"
    assert plain.seen[0].body == b"ab"


def test_requests_sent_ahead_are_answered_in_order(begin: Begin, plain: Origin) -> None:
    for path in ("/1", "/2", "/3"):
        plain.routes[path] = Answer(body=path.encode())
    with begin() as lane, socket.create_connection(("127.0.0.1", lane.port), timeout=30) as client:
        site = f"http://127.0.0.1:{plain.port}"
        last = f"GET {site}/3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        client.sendall(
            "".join(f"GET {site}/{n} HTTP/1.1\r\nHost: x\r\n\r\n" for n in (1, 2)).encode()
            + last.encode()
        )
        got = read_until_closed(client)
    assert [got.index(b"/1"), got.index(b"/2"), got.index(b"/3")] == sorted(
        [got.index(b"/1"), got.index(b"/2"), got.index(b"/3")]
    )


def test_a_large_upload_is_streamed_and_counted(begin: Begin, plain: Origin) -> None:
    piece = b"x" * 65536
    with begin() as lane, socket.create_connection(("127.0.0.1", lane.port), timeout=30) as client:
        url = f"http://127.0.0.1:{plain.port}/up"
        client.sendall(
            f"POST {url} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )
        for _ in range(6):
            client.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
        client.sendall(b"0\r\n\r\n")
        assert read_answer(client)[1] == b"hello"
    assert plain.seen[0].body == piece * 6
    assert [event.size for event in lane.events(RequestSeen)] == [6 * 65536]
