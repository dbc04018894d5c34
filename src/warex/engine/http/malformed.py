"""Answers that break the rules of HTTP in one place, as either version can say it."""

from typing import Final, Literal

from msgspec import Struct

from warex.engine.http.heads import Headers, ResponseHead
from warex.engine.http.http1.rendering import response_bytes
from warex.engine.http.http2.header_lists import response_list

type Defect = Literal["status_line", "header", "two_lengths", "length", "chunk", "frame"]
"""What is wrong with an answer. Over HTTP/2 ``status_line`` is a second status, and ``chunk`` a
DATA frame with more padding than it has bytes."""

_OF_HTTP1: Final[frozenset[Defect]] = frozenset(("header", "two_lengths", "length"))
"""Defects that HTTP/2 has no place for, or that its clients take."""
NEEDS_BODY: Final[frozenset[Defect]] = frozenset(("length", "chunk"))
_STRAY_LINE: Final = b"Cache-Status hit\r\n"
_NO_CHUNK: Final = b"2o\r\n"
_PADDED_DATA: Final = b"\0\0\1\0\x08%b\xff"
"""RFC 9113 §6.1: padding of 255 bytes in a payload of one."""
_SHORT_WINDOW_UPDATE: Final = b"\0\0\3\x08\0%b\0\0\1"
"""RFC 9113 §6.9: three bytes in place of four."""


class MalformedAnswer(Struct, frozen=True):
    """An answer with a defect, as it is sent."""

    head: ResponseHead
    body: bytes
    """What is sent of the body, in good order."""
    rest: bytes = b""
    """Bytes of the connection that follow it."""
    is_in_head: bool = False
    """Whether the defect is there with the head."""
    ends: bool = True
    """Whether the exchange ends there, without the message's own end."""


def is_of(defect: Defect, *, is_http2: bool) -> bool:
    """Whether an answer over a version of HTTP can have a defect."""
    return defect not in _OF_HTTP1 if is_http2 else defect != "frame"


def malformed(
    head: ResponseHead, body: bytes, defect: Defect, stream: int, *, is_http2: bool
) -> MalformedAnswer:
    """Return an answer with a defect, which ``is_of`` the version; ``body``: in its coding."""
    make = _of_http2 if is_http2 else _of_http1
    return make(head, body, defect, stream)


def _of_http1(head: ResponseHead, body: bytes, defect: Defect, stream: int) -> MalformedAnswer:
    fields = head.headers.without("content-length", "transfer-encoding")
    if defect == "chunk":
        head = _with_headers(head, fields.with_added("transfer-encoding", "chunked"))
        return MalformedAnswer(head, body[: len(body) // 2], _NO_CHUNK)
    if defect == "length":
        head = _with_headers(head, fields.with_added("content-length", str(2 * len(body))))
        return MalformedAnswer(head, body)
    if body or "content-length" in head.headers.by_name:
        head = _with_headers(head, fields.with_added("content-length", str(len(body))))
    line, _, rest = response_bytes(head).partition(b"\r\n")
    match defect:
        case "status_line":
            # Chromium takes almost any other line for one, or the whole for HTTP/0.9.
            at = line.index(b" ") + 2
            line = line[:at] + b"\0" + line[at + 1 :]
        case "two_lengths":
            rest = b"content-length: %d\r\n" % (len(body) + 1) + rest
        case _:
            rest = _STRAY_LINE + rest
    head = _with_headers(head, head.headers, line + b"\r\n" + rest)
    return MalformedAnswer(head, body, is_in_head=True, ends=defect != "header")


def _of_http2(head: ResponseHead, body: bytes, defect: Defect, stream: int) -> MalformedAnswer:
    if defect == "status_line":
        _, *fields = response_list(head)
        head = ResponseHead(head.status, b"", "HTTP/2.0", Headers(((b":status", b"2o0"), *fields)))
        return MalformedAnswer(head, body, is_in_head=True, ends=False)
    frame = _PADDED_DATA if defect == "chunk" else _SHORT_WINDOW_UPDATE
    return MalformedAnswer(head, body[: len(body) // 2], frame % stream.to_bytes(4))


def _with_headers(head: ResponseHead, headers: Headers, raw: bytes = b"") -> ResponseHead:
    return ResponseHead(head.status, head.reason, "HTTP/1.1", headers, raw)
