"""The control API's port: whatever anybody sends there, the trial goes on."""

import socket
import struct

import pytest

from tests.proxy.support.client import read_until_closed
from tests.proxy.support.lanes import Begin, Lane
from warex.lane.control.control_server import MAX_BODY_SIZE
from warex.traces import Control, HarnessBroke, TrialEnded

pytestmark = pytest.mark.wire

METHODS = ("GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW")


def send(lane: Lane, data: bytes) -> bytes:
    """What comes back for these bytes, until the port closes the connection."""
    with socket.create_connection(("127.0.0.1", lane.proxy.control_port), timeout=30) as client:
        client.sendall(data)
        return read_until_closed(client)


def request(method: str, path: str = "/status", *lines: str, host: str = "127.0.0.1") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {host}", *lines, "", ""]).encode()


def bearer(lane: Lane) -> str:
    return f"Authorization: Bearer {lane.proxy.token}"


def assert_untouched(lane: Lane) -> None:
    assert lane.proxy.broken is None
    assert (lane.events(HarnessBroke), lane.events(Control)) == ([], [])
    assert len(lane.events(TrialEnded)) == 1


def test_no_method_without_the_token_does_anything(begin: Begin) -> None:
    with begin() as lane:
        for method in METHODS:
            for path in ("/status", "/faults", "/nothing", "*", "127.0.0.1:443", "/%ff%zz?a=%"):
                answer = send(lane, request(method, path))
                assert answer.startswith(b"HTTP/1.1 401 Unauthorized\r\n"), (method, path)
                assert b"\r\nWWW-Authenticate: Bearer\r\n" in answer
                assert (b"the token is missing" in answer) == (method != "HEAD")
    assert_untouched(lane)


def test_a_method_that_no_call_has_is_refused_with_those_that_are_allowed(begin: Begin) -> None:
    with begin() as lane:
        for method in METHODS[2:]:
            head, _, body = send(lane, request(method, "/status", bearer(lane))).partition(
                b"\r\n\r\n"
            )
            assert head.startswith(b"HTTP/1.1 405 Method Not Allowed\r\n"), method
            assert b"\r\nAllow: GET, POST" in head
            data = b"" if method == "HEAD" else b"%s is not allowed here" % method.encode()
            assert data in body
    assert_untouched(lane)


def test_a_page_from_elsewhere_is_refused_even_with_the_token(begin: Begin) -> None:
    preflight = (
        "Origin: https://evil.example",
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: authorization",
    )
    with begin() as lane:
        refused = [
            send(lane, request("POST", "/arm", bearer(lane), "Origin: https://evil.example")),
            send(lane, request("GET", "/status", bearer(lane), "Origin: null")),
            send(lane, request("GET", "/status", bearer(lane), host="evil.example:8080")),
            send(lane, request("GET", "/status", bearer(lane), host="[::1")),
            send(lane, request("OPTIONS", "/arm", *preflight)),
        ]
        own = send(lane, request("GET", "/status", bearer(lane), host="localhost:9"))
    assert [answer[9:12] for answer in refused] == [b"403"] * 4 + [b"401"]
    assert not [answer for answer in refused if b"access-control" in answer.lower()]
    assert own.startswith(b"HTTP/1.1 200 OK\r\n")
    assert [event.call for event in lane.events(Control)] == ["status"]


def test_what_is_not_a_request_is_answered_in_words(begin: Begin) -> None:
    malformed = [
        (b"\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", b"501"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nA: " + b"b" * 100_000, b"431"),
    ]
    with begin() as lane:
        for data, status in malformed:
            answer = send(lane, data)
            assert (answer[9:12], b'{"error": "' in answer) == (status, True), data[:40]
    assert_untouched(lane)


def test_a_body_is_read_only_for_whoever_has_the_token(begin: Begin) -> None:
    huge = b"x" * (MAX_BODY_SIZE * 4)
    length = f"Content-Length: {len(huge)}"
    chunks = "Transfer-Encoding: chunked"
    with begin() as lane:
        refused = send(lane, request("POST", "/arm", length) + huge)
        too_long = send(lane, request("POST", "/arm", bearer(lane), length) + huge)
        no_chunk = send(lane, request("POST", "/arm", bearer(lane), chunks) + b"2\r\n{}xx0\r\n\r\n")
    assert [answer[9:12] for answer in (refused, too_long, no_chunk)] == [b"401", b"413", b"400"]
    assert_untouched(lane)


def test_clients_that_say_nothing_or_half_do_not_keep_others_out(begin: Begin) -> None:
    with begin() as lane:
        where = ("127.0.0.1", lane.proxy.control_port)
        silent = [socket.create_connection(where, timeout=30) for _ in range(200)]
        for number, client in enumerate(silent):
            client.sendall((b"", b"GET", request("POST", "/arm", "Content-Length: 9"))[number % 3])
        assert lane.proxy.call("GET", "/status")["broken"] is None
        for client in silent[::2]:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        for client in silent:
            client.close()
        assert lane.proxy.call("GET", "/status")["broken"] is None
    assert lane.proxy.broken is None
