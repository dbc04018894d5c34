"""Requests are read strictly: the site reads the request that was read, or none."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.engine.http.heads import RequestHead
from warex.engine.http.http1.request_head import (
    CHUNKED,
    InvalidRequest,
    expects_continue,
    parse_request,
    request_body_size,
)


def parse(raw: bytes, authority: str | None = "site:1") -> RequestHead:
    return parse_request(raw, "http", authority)


def size(fields: bytes, version: bytes = b"1.1") -> int:
    return request_body_size(parse(b"POST / HTTP/%b\r\n%b\r\n" % (version, fields)))


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"get /?a=%20\xe9&b HTTP/1.0\r\n\r\n",
        b"X!Y * HTTP/1.1\r\nhOST:a:80\r\nX:\t b: c \t\r\nX:\r\n\xc3: \r\n\r\n".replace(
            b"\xc3", b"c"
        ),
        b"GET / HTTP/1.1\r\nX: \x01\x7f\xff;:,\r\n\r\n",
    ],
)
def test_a_head_in_the_grammar_passes_as_it_came(raw: bytes) -> None:
    assert parse(raw).raw == raw


@pytest.mark.parametrize(
    ("raw", "rebuilt"),
    [
        (b"GET / HTTP/1.1\nHost: a\n\n", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
        (b"GET  /\tHTTP/1.1 \r\nA:b\r\n\r\n", b"GET / HTTP/1.1\r\nA: b\r\n\r\n"),
        (b"GET / HTTP/1.1\r\nA: b\r\n  c\r\n\r\n", b"GET / HTTP/1.1\r\nA: b c\r\n\r\n"),
    ],
)
def test_what_can_be_read_in_one_way_only_is_made_plain(raw: bytes, rebuilt: bytes) -> None:
    assert parse(raw).raw == rebuilt


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n", "two Host lines"),
        (b"GET / HTTP/1.1\r\nHost:\r\nHost:\r\n", "two Host lines"),
        (b"GET / HTTP/1.1\r\nHost: a:99999\r\n", "the port is above"),
        (b"GET / HTTP/1.1\r\nHost: u:p@a\r\n", "the host has characters"),
        (b"GET / HTTP/1.1\r\nno colon\r\n", "Invalid header line"),
        (b"GET / HTTP/1.1\r\nContent-Length : 0\r\n", "Invalid header line"),
        (b"GET / HTTP/1.1\r\n: x\r\n", "Invalid header line"),
        (b"GET / HTTP/1.1\r\nA\x0b: x\r\n", "Invalid header line"),
        (b"GET / HTTP/1.1\r\n folded: x\r\n", "the first field is a folded line"),
        (b"GET / HTTP/1.1\r\nA: x\0y\r\n", "zero byte"),
        (b"GET / HTTP/1.1\r\nA: x\rContent-Length: 5\r\n", "carriage return"),
        (b"GET / HTTP/1.1\r\rA: x\r\n", "carriage return"),
        (b"GET /\r\n", "Bad HTTP request line"),
        (b"GET /a b HTTP/1.1\r\n", "Bad HTTP request line"),
        (b"GET / http/1.1\r\n", "Bad HTTP request line"),
        (b"G{T / HTTP/1.1\r\n", "Bad HTTP request line"),
        (b"GET a HTTP/1.1\r\n", "the path does not begin with a slash"),
        (b"GET ftp://a/ HTTP/1.1\r\n", "no site is reached by ftp"),
        (b"GET http:///a HTTP/1.1\r\n", "the host has characters"),
        (b"CONNECT a:1 HTTP/1.1\r\n", "CONNECT leads out of a tunnel"),
        (b"GET / HTTP/1.1\r\nSec-WebSocket-Version: \xff\r\n", "WebSocket is not a number"),
    ],
)
def test_any_other_is_refused(lines: bytes, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason) as refusal:
        parse(lines + b"\r\n")
    assert refusal.value.status == 400


@pytest.mark.parametrize("version", [b"2.0", b"0.9", b"1.2", b"3.0"])
def test_other_versions_are_not_supported(version: bytes) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        parse(b"GET / HTTP/%b\r\n\r\n" % version)
    assert refusal.value.status == 505


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (b"", 0),
        (b"Content-Length: 0\r\n", 0),
        (b"Content-Length:\t 017 \r\n", 17),
        (b"Transfer-Encoding: Chunked\r\n", CHUNKED),
        (b"Transfer-Encoding: gzip,chunked\r\n", CHUNKED),
    ],
)
def test_a_body_has_one_size(fields: bytes, expected: int) -> None:
    assert size(fields) == expected


@pytest.mark.parametrize(
    "fields",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
        b"Content-Length: 5\r\nContent-Length: 6\r\n",
        b"Content-Length: 5\r\ncontent-length: 5\r\n",
        b"Content-Length: 5, 5\r\n",
        b"Content-Length: +5\r\n",
        b"Content-Length: 0x5\r\n",
        b"Content-Length: 5 5\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length:\r\n",
        b"Content-Length: \x0b5\r\n",
        b"Content-Length: 5\xb2\r\n",
        b"Content-Length: 1_0\r\n",
        b"Content-Length: 9999999999999999999\r\n",
        b"Transfer-Encoding: \x0bchunked\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding: chunked, chunked\r\n",
        b"Transfer-Encoding: chunked, gzip\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        b"Transfer-Encoding: identity\r\n",
        b"Transfer-Encoding: chunked;q=1\r\n",
        b"Transfer-Encoding:\r\n",
        b'Transfer-Encoding: "chunked"\r\n',
    ],
)
def test_ambiguous_framing_is_refused(fields: bytes) -> None:
    with pytest.raises(InvalidRequest, match=r"content-length|transfer-encoding"):
        size(fields)


def test_http_1_0_has_no_chunks() -> None:
    with pytest.raises(InvalidRequest):
        size(b"Transfer-Encoding: chunked\r\n", b"1.0")


@pytest.mark.parametrize(
    ("line", "url"),
    [
        (b"GET http://A.example/a?b#c", "http://A.example/a?b#c"),
        (b"GET HTTPS://a:8443?q", "https://a:8443/?q"),
        (b"OPTIONS http://a:80", "http://a/"),
    ],
)
def test_a_request_to_a_proxy_has_a_full_url(line: bytes, url: str) -> None:
    assert parse(line + b" HTTP/1.1\r\nHost: other\r\n\r\n", None).url == url


@pytest.mark.parametrize("lines", [b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost:\r\n"])
def test_a_proxy_request_must_name_its_site(lines: bytes) -> None:
    with pytest.raises(InvalidRequest, match="nothing says which site"):
        parse(lines + b"\r\n", None)


@pytest.mark.parametrize("target", [b"a", b"a:", b"a:0", b"a:99999", b":1", b"/", b"u@a:1"])
def test_a_tunnel_leads_to_a_host_and_a_port(target: bytes) -> None:
    assert parse(b"CONNECT [::1]:443 HTTP/1.1\r\n\r\n", None).authority == "[::1]:443"
    with pytest.raises(InvalidRequest):
        parse(b"CONNECT %b HTTP/1.1\r\n\r\n" % target, None)


def test_a_client_may_wait_for_100() -> None:
    assert expects_continue(parse(b"PUT / HTTP/1.1\r\nExpect: 100-Continue\r\n\r\n"))
    assert not expects_continue(parse(b"PUT / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n"))
    assert not expects_continue(parse(b"PUT / HTTP/1.1\r\n\r\n"))


@given(st.binary(max_size=100), st.sampled_from([b"", b"GET / HTTP/1.1\r\n", b"GET http://"]))
def test_no_bytes_raise_anything_else(data: bytes, before: bytes) -> None:
    for authority in (None, "a"):
        with suppress(InvalidRequest):
            head = parse(before + data + b"\r\n\r\n", authority)
            assert parse(head.raw, authority) == head
            request_body_size(head)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "filler", [b":", b"a", b" ", b"\t", b"\xa0", b"a:\r\n", b"a: \x0b\r\n", b","]
)
def test_no_head_takes_long_to_read(filler: bytes) -> None:
    raw = b"GET / HTTP/1.1\r\nA: " + (filler * 250_000)[:250_000] + b"\r\n\r\n"
    with suppress(InvalidRequest):
        request_body_size(parse(raw))
