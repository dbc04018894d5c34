"""Heads that do not pass as they came."""

from warex.engine.http.heads import Headers, RequestHead, ResponseHead
from warex.engine.http.http1.rendering import (
    as_http1,
    error_page,
    is_last,
    response_bytes,
    says_close,
    with_chunks,
)

H2 = RequestHead(
    "GET",
    "https",
    "a.example",
    "/b",
    "HTTP/2.0",
    Headers([(b"cookie", b"a=1"), (b"x", b"y"), (b"cookie", b"b=2")]),
)


def test_a_request_of_http2_is_said_in_http1() -> None:
    assert as_http1(H2, has_body=True).raw == (
        b"GET /b HTTP/1.1\r\nHost: a.example\r\ncookie: a=1; b=2\r\nx: y\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )


def test_a_response_of_http2_gets_the_phrase_of_its_status() -> None:
    def line(status: int, reason: bytes = b"") -> bytes:
        return response_bytes(ResponseHead(status, reason, "HTTP/2.0", Headers()))

    assert line(404) == b"HTTP/1.1 404 Not Found\r\n\r\n"
    assert line(299) == b"HTTP/1.1 299 \r\n\r\n"
    assert line(200, b"Fine") == b"HTTP/1.1 200 Fine\r\n\r\n"


def test_an_error_page_is_the_last_answer() -> None:
    head, _, body = error_page(431).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert f"content-length: {len(body)}".encode() in head
    assert b"Connection: close" in head


def test_connections_are_kept_as_their_version_says() -> None:
    def response(version: str, *fields: tuple[bytes, bytes]) -> ResponseHead:
        return ResponseHead(200, b"", version, Headers(fields))  # type: ignore[arg-type]

    keep, close = (b"connection", b"keep-alive"), (b"Connection", b"a, CLOSE")
    assert [says_close(response("HTTP/1.1", *it)) for it in ((), (keep,), (close,))] == [
        False,
        False,
        True,
    ]
    assert [says_close(response("HTTP/1.0", *it)) for it in ((), (keep,), (close,))] == [
        True,
        False,
        True,
    ]
    assert not is_last(H2)
    assert with_chunks(response("HTTP/1.1")).headers.get("transfer-encoding") == "chunked"
