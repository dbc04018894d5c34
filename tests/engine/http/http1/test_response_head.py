"""What a browser takes from a site is a response, and nothing else."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.engine.http.http1.response_head import (
    CHUNKED,
    MAX_HEAD,
    UNTIL_EOF,
    InvalidResponse,
    head_end,
    parse_response,
    response_body_size,
)


def size(head: bytes, method: str = "GET") -> int:
    return response_body_size(method, parse_response(head))


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", 2),
        (b"HTTP/1.1 200 OK\nContent-Length: 2, 2\n\n", 2),
        (b"junkHTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\n", 2),
        (b"HTTP/1.1 200\r\nno colon\r\nContent-Length: 2\r\n\r\n", 2),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n", UNTIL_EOF),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n", CHUNKED),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\nContent-Length: 2\r\n\r\n", 2),
        (b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", UNTIL_EOF),
        (b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", 0),
        (b"ICY 200 OK\r\n\r\n", UNTIL_EOF),
    ],
)
def test_a_body_is_as_long_as_browsers_think(head: bytes, expected: int) -> None:
    assert size(head) == expected


def test_the_request_may_exclude_a_body() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
    assert (size(head, "HEAD"), size(head, "CONNECT")) == (0, 0)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: \x00\r\n\r\n",
    ],
)
def test_what_no_browser_takes_is_refused(head: bytes) -> None:
    with pytest.raises(InvalidResponse):
        size(head)


def test_a_head_has_an_end() -> None:
    assert head_end(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody") == 25
    assert head_end(b"HTTP/1.1 200 OK\r\nA: b\r\n\r", 24) is None
    assert head_end(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n", 24) == 25
    assert head_end(b"<html>") is None
    assert head_end(b"<html></html>") == 0
    with pytest.raises(InvalidResponse, match="has no end within"):
        head_end(b"HTTP/1.1 200 OK\r\n" + b"a" * MAX_HEAD)


def test_only_on_a_schemes_own_port_may_a_head_be_left_out() -> None:
    assert parse_response(b"<html>").version == "HTTP/0.9"
    with pytest.raises(InvalidResponse, match="this is not an answer of HTTP"):
        parse_response(b"<html>", default_port=False)
    assert parse_response(b"ICY 200 OK\r\n", default_port=False).status == 200


@pytest.mark.parametrize("raw", [b"HTTP/1.1  200\nX:y\n\n", b"xHTTP/1.1 200 OK\r\nX : y \r\n\r\n"])
def test_a_head_is_kept_as_it_was_sent(raw: bytes) -> None:
    head = parse_response(raw)
    assert (head.raw, head.headers.get("x")) == (raw, "y")


@given(st.binary(max_size=300), st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/"]))
def test_no_bytes_raise_anything_else(data: bytes, before: bytes) -> None:
    with suppress(InvalidResponse):
        raw = before + data
        if length := head_end(raw):
            size(raw[:length])


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "filler", [b":", b"a", b" ", b"\t", b"\xa0", b"a:\r\n", b"\n x", b"1", b","]
)
@pytest.mark.parametrize("before", [b"HTTP/1.1 200 OK\r\nA: ", b"HTTP/1.1 ", b"HTTP/"])
def test_no_head_takes_long_to_read(filler: bytes, before: bytes) -> None:
    raw = before + (filler * 250_000)[:250_000] + b"\r\n\r\n"
    with suppress(InvalidResponse):
        size(raw)
