"""Header lists of HTTP/2 as heads, and back (RFC 9113 §8)."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from warex.engine.http.authority import invalid_authority_reason
from warex.engine.http.heads import NEVER_TRAILERS, Headers, RequestHead, ResponseHead
from warex.text.short_cache import LONGEST

type HeaderList = list[tuple[bytes, bytes]]

_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9a-z]+")
_STATUS = re.compile(rb"[1-9][0-9][0-9]")
_LENGTH = re.compile(r"[0-9]{1,18}")
_FORBIDDEN_IN_VALUE = re.compile(rb"[\0\r\n]")
_FORBIDDEN_IN_PATH = re.compile(rb"[\0-\x20\x7f]")
_OF_CONNECTION: Final = frozenset(
    (b"connection", b"proxy-connection", b"keep-alive", b"transfer-encoding", b"upgrade")
)
"""Fields that HTTP/2 does not have (§8.2.2)."""


class MalformedMessage(ValueError):
    """A message that is not a message of HTTP/2 (§8.1.1)."""


def request_head(headers: Sequence[tuple[bytes, bytes]]) -> RequestHead:
    """Return the head of a request. Raises MalformedMessage."""
    pseudo, fields = _split(headers)
    try:
        method = pseudo.pop(b":method")
        scheme = pseudo.pop(b":scheme", b"https")
        path = pseudo.pop(b":path", b"")
    except KeyError:
        raise MalformedMessage("the method is missing") from None
    authority = pseudo.pop(b":authority", b"").decode("latin-1")
    if pseudo:
        raise MalformedMessage("there are unknown pseudo-fields")
    if not _TOKEN.fullmatch(method):
        raise MalformedMessage("the method is not a token")
    if method == b"CONNECT":
        raise MalformedMessage("CONNECT leads out of a tunnel")
    if scheme not in (b"http", b"https"):
        shown = scheme[:80].decode("ascii", "backslashreplace")
        raise MalformedMessage(f"no site is reached by {shown}")
    if not (path[:1] == b"/" or path == b"*"):
        raise MalformedMessage("the path does not begin with a slash")
    if _FORBIDDEN_IN_PATH.search(path):
        raise MalformedMessage("the path has a space or a control character")
    named = fields.by_name.get("host")
    if named is not None and named != authority:
        if authority:
            raise MalformedMessage("there are two hosts")
        authority = named
    if not authority:
        raise MalformedMessage("nothing says which site is meant")
    if (flaw := invalid_authority_reason(authority)) is not None:
        raise MalformedMessage(flaw)
    if not fields.get("sec-websocket-version").isascii():
        raise MalformedMessage("the version of WebSocket is not a number")
    return RequestHead(
        method.decode(),
        "https" if scheme == b"https" else "http",
        authority,
        path.decode("latin-1"),
        "HTTP/2.0",
        fields,
    )


def request_line(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Return what a malformed request has in place of a request line."""
    values = dict(headers)
    return b"%b %b" % (values.get(b":method", b""), values.get(b":path", b""))


def content_length(head: RequestHead) -> int | None:
    """Return how long a request's body says it is. Raises MalformedMessage."""
    length = head.headers.by_name.get("content-length")
    if length is None:
        return None
    if not _LENGTH.fullmatch(length):
        raise MalformedMessage("the content-length is not a number")
    return int(length)


def response_head(headers: Sequence[tuple[bytes, bytes]]) -> ResponseHead:
    """Return the head of a response. Raises MalformedMessage."""
    pseudo, fields = _split(headers)
    status = pseudo.pop(b":status", b"")
    if pseudo or not _STATUS.fullmatch(status) or status == b"101":
        raise MalformedMessage("the answer has no status of HTTP/2")
    return ResponseHead(int(status), b"", "HTTP/2.0", fields)


def trailers(headers: Sequence[tuple[bytes, bytes]]) -> Headers:
    """Return the fields behind a body. Raises MalformedMessage."""
    pseudo, fields = _split(headers)
    if pseudo:
        raise MalformedMessage("the trailers have pseudo-fields")
    return fields


def request_trailers(headers: Sequence[tuple[bytes, bytes]]) -> Headers:
    """Return the fields behind a request's body. Raises MalformedMessage."""
    if any(name in NEVER_TRAILERS for name, _ in headers):
        raise MalformedMessage("a trailer says how the request is read")
    return trailers(headers)


def _split(headers: Sequence[tuple[bytes, bytes]]) -> tuple[dict[bytes, bytes], Headers]:
    pseudo: dict[bytes, bytes] = {}
    at = 0
    for name, value in headers:
        if name[:1] != b":":
            break
        if name in pseudo:
            raise MalformedMessage("a pseudo-field stands twice")
        pseudo[name] = value
        at += 1
    fields = headers[at:]
    names = [name for name, _ in fields]
    longest = max(map(len, names), default=0)
    is_field = _is_field if longest <= LONGEST else _is_field.__wrapped__
    if not all(map(is_field, names)):
        wrong = next(name for name in names if not is_field(name))
        shown = wrong[:80].decode("ascii", "backslashreplace")
        raise MalformedMessage(f"HTTP/2 has no field {shown!r}")
    if b"te" in names and any(name == b"te" and value != b"trailers" for name, value in fields):
        raise MalformedMessage("HTTP/2 has no transfer codings")
    if _FORBIDDEN_IN_VALUE.search(b"".join([value for _, value in headers])):
        raise MalformedMessage("a field has a zero byte or the end of a line")
    return pseudo, Headers(fields)


@lru_cache(maxsize=1024)
def _is_field(name: bytes) -> bool:
    return _NAME.fullmatch(name) is not None and name not in _OF_CONNECTION


def request_list(head: RequestHead) -> HeaderList:
    """Return a request as HTTP/2 says it."""
    return [
        (b":method", head.method.encode()),
        (b":scheme", head.scheme.encode()),
        (b":authority", head.authority.encode("latin-1")),
        (b":path", head.path.encode("latin-1")),
        *_fields(head.headers, is_http2=head.version == "HTTP/2.0", also=b"host"),
    ]


def response_list(head: ResponseHead) -> HeaderList:
    """Return a response as HTTP/2 says it."""
    status = (b":status", b"%d" % head.status)
    return [status, *_fields(head.headers, is_http2=head.version == "HTTP/2.0")]


def trailer_list(fields: Headers) -> HeaderList:
    """Return the fields behind a body as HTTP/2 says them."""
    return list(_fields(fields, is_http2=False))


def _fields(
    headers: Headers, *, is_http2: bool, also: bytes = b""
) -> Iterable[tuple[bytes, bytes]]:
    """Return the fields that HTTP/2 has; those that came over it are kept as they are."""
    if is_http2:
        return headers.fields
    dropped = {it.strip().lower() for it in headers.get("connection").encode("latin-1").split(b",")}
    dropped |= {*_OF_CONNECTION, also, b"te"}
    return [
        (name.lower(), _FORBIDDEN_IN_VALUE.sub(b" ", value))
        for name, value in headers.fields
        if name.lower() not in dropped and _TOKEN.fullmatch(name)
    ]
