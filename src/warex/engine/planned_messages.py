"""The messages that a plan asks for, as they are sent."""

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Final

from warex.engine.handler import Respond, SiteFailure
from warex.engine.http.error_page import phrase
from warex.engine.http.events import DataReceived
from warex.engine.http.heads import Headers, RequestHead, ResponseHead

PIECE: Final = 64 * 1024
"""Bytes of a body that are written at once."""
CONTINUE: Final = ResponseHead(100, b"Continue", "HTTP/1.1", Headers())
_BODILESS: Final = frozenset((204, 205, 304))


def without_expectation(head: RequestHead) -> RequestHead:
    """Return a request whose client has been told to go on."""
    if "expect" not in head.headers.by_name:
        return head
    return _with_headers(head, head.headers.without("expect"))


def with_body(head: RequestHead, body: bytes) -> RequestHead:
    """Return a request that says the length of another body."""
    headers = head.headers.without("transfer-encoding", "expect")
    if body or "content-length" in headers.by_name:
        headers = headers.with_field("content-length", str(len(body)))
    return _with_headers(head, headers)


def _with_headers(head: RequestHead, headers: Headers) -> RequestHead:
    return RequestHead(head.method, head.scheme, head.authority, head.path, head.version, headers)


def with_any_length(head: ResponseHead) -> ResponseHead:
    """Return a response whose body may have any length."""
    if "content-length" not in head.headers.by_name:
        return head
    headers = head.headers.without("content-length")
    return ResponseHead(head.status, head.reason, head.version, headers)


def planned_response(
    request: RequestHead, respond: Respond
) -> tuple[ResponseHead, Sequence[bytes]]:
    """Return the head of a planned response, and the pieces of its body."""
    headers, pieces = respond.headers, respond.pieces
    if respond.status in _BODILESS or respond.status < 200:
        pieces = ()
    elif not {"content-length", "transfer-encoding"} & headers.by_name.keys():
        headers = headers.with_added("content-length", str(sum(map(len, pieces))))
    if request.method == "HEAD":
        pieces = ()  # A body would be taken for the next response (RFC 9110 §9.3.2).
    try:
        reason = HTTPStatus(respond.status).phrase.encode()
    except ValueError:
        reason = b""
    return ResponseHead(respond.status, reason, "HTTP/1.1", headers), pieces


def split(payload: bytes) -> Iterable[bytes]:
    """Return a body in parts that are written at once."""
    if len(payload) <= PIECE:
        return (payload,) if payload else ()
    view = memoryview(payload)
    return (bytes(view[at : at + PIECE]) for at in range(0, len(payload), PIECE))


def spliced(part: DataReceived, changed: bytes) -> bytes:
    """Return the raw form of a part whose content was changed, but not its length.

    Raises ValueError if its length was.
    """
    if changed == part.payload:
        return part.raw
    if len(changed) != len(part.payload):
        raise ValueError("a piece has another length, though its plan says that none has")
    before, _, after = part.raw.partition(part.payload)
    return before + changed + after


def tunnel_refusal(failure: SiteFailure) -> ResponseHead:
    """Return what a CONNECT is answered whose site cannot be reached (RFC 9209 §2.1.5, §2.3)."""
    status = 504 if failure == "connection_timeout" else 502
    fields = Headers(
        (
            (b"Proxy-Status", b"proxy; error=" + failure.encode()),
            (b"Content-Length", b"0"),
            (b"Connection", b"close"),
        )
    )
    return ResponseHead(status, phrase(status), "HTTP/1.1", fields)
