"""Parses the heads of HTTP/1 requests: strictly, so that the site reads the request that was read.

A head in the grammar of RFC 9112 passes as it came. One that recipients may repair in one way only
(§2.2, §3, §5.2: line feeds alone, several spaces, folded lines) is rebuilt; any other is refused.
"""

import re
from typing import Final, Literal

from warex.engine.http.authority import invalid_authority_reason
from warex.engine.http.heads import Headers, RequestHead, parse_fields
from warex.text.lazy_pattern import lazy_re

MAX_HEAD: Final = 256 * 1024
"""Bytes of a head, as Chromium bounds those of responses."""
CHUNKED: Final = -1
"""The size of a body in chunks."""

type Scheme = Literal["http", "https"]

_TOKEN: Final = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_END = re.compile(rb"\n\r?\n")
_LINE = re.compile(rb"(%b) ([^\x00-\x20\x7f]+) HTTP/(1\.[01])\r\n" % _TOKEN)
_LOOSE_LINE = lazy_re(rb"(%b)[ \t]+([^\x00-\x20\x7f]+)[ \t]+HTTP/(\d\.\d)[ \t]*" % _TOKEN)
_NAME = re.compile(_TOKEN)
_ABSOLUTE = lazy_re(r"(?i:(https?)://)([^/?#]*)(.*)")
_OTHER_SCHEME = lazy_re(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_LENGTH = re.compile(r"[0-9]{1,18}")
_CODINGS: Final = frozenset(("compress", "deflate", "gzip", "x-compress", "x-gzip"))


class InvalidRequest(ValueError):
    """A request that is not forwarded."""

    def __init__(self, reason: str, status: int = 400) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


def head_end(data: bytes | bytearray, start: int = 0) -> int:
    """Return where the head ends that begins in ``data``; -1 if more is needed.

    ``start``: what was searched before.
    """
    match = _END.search(data, max(0, start - 2))
    return -1 if match is None else match.end()


def parse_request(raw: bytes, scheme: Scheme, authority: str | None) -> RequestHead:
    """Parse a complete head. Raises InvalidRequest.

    ``authority``: where the connection leads; None if each request must say so (a proxy's).
    """
    line = _LINE.match(raw)
    headers = None if line is None else parse_fields(raw, line.end())
    if line is None or headers is None:
        method, target, version, fields = _repair(raw)
        raw = _assemble(method, target, version, fields)
        headers = Headers(fields)
    else:
        method, target, version = line.groups()
    return _head(raw, method, target, version, headers, scheme, authority)


def _repair(raw: bytes) -> tuple[bytes, bytes, bytes, list[tuple[bytes, bytes]]]:
    """Return the parts of a head that is not in the grammar, if only one reading is possible."""
    first, *lines = [line.removesuffix(b"\r") for line in raw.split(b"\n")]
    if b"\0" in raw or b"\r" in first or any(b"\r" in line for line in lines):
        raise InvalidRequest("the head has a zero byte or a carriage return in a line")
    match = _LOOSE_LINE.fullmatch(first)
    if match is None:
        raise InvalidRequest("Bad HTTP request line")
    method, target, version = match.groups()
    if version not in (b"1.1", b"1.0"):
        raise InvalidRequest("this is another version of HTTP", 505)
    fields: list[tuple[bytes, bytes]] = []
    for line in lines:
        if not line:
            continue
        if line[:1] in b" \t":
            if not fields:
                raise InvalidRequest("the first field is a folded line")
            name, value = fields[-1]
            fields[-1] = (name, (value + b" " + line.strip(b" \t")).strip(b" "))
            continue
        name, colon, value = line.partition(b":")
        if not colon or not _NAME.fullmatch(name):
            raise InvalidRequest("Invalid header line")
        fields.append((name, value.strip(b" \t")))
    return method, target, version, fields


def _assemble(
    method: bytes, target: bytes, version: bytes, fields: list[tuple[bytes, bytes]]
) -> bytes:
    lines = b"".join(b"%b: %b\r\n" % field for field in fields)
    return b"%b %b HTTP/%b\r\n%b\r\n" % (method, target, version, lines)


def _head(
    raw: bytes,
    method: bytes,
    target: bytes,
    version: bytes,
    headers: Headers,
    scheme: Scheme,
    authority: str | None,
) -> RequestHead:
    named = headers.by_name.get("host")
    if named and (flaw := invalid_authority_reason(named)) is not None:
        raise InvalidRequest("there are two Host lines" if "," in named else flaw)
    path = target.decode("latin-1")
    if path[0] != "/":
        if method == b"CONNECT":
            _check_connect(path, inside=authority is not None)
            named, path = path, ""
        elif (match := _ABSOLUTE.fullmatch(path)) is not None:
            scheme = "https" if match[1].lower() == "https" else "http"
            named, path = match[2], match[3] if match[3].startswith("/") else "/" + match[3]
            if (flaw := invalid_authority_reason(named)) is not None:
                raise InvalidRequest(flaw)
        elif (other := _OTHER_SCHEME.match(path)) is not None:
            raise InvalidRequest(f"no site is reached by {other[1].lower()}")
        elif path != "*":
            raise InvalidRequest("the path does not begin with a slash")
    elif method == b"CONNECT":
        _check_connect(path, inside=authority is not None)
    site = named or authority
    if not site:
        raise InvalidRequest("nothing says which site is meant")
    if not headers.get("sec-websocket-version").isascii():
        raise InvalidRequest("the version of WebSocket is not a number")
    return RequestHead(
        method.decode(),
        scheme,
        site,
        path,
        "HTTP/1.1" if version == b"1.1" else "HTTP/1.0",
        headers,
        raw,
    )


def _check_connect(target: str, *, inside: bool) -> None:
    if inside:
        raise InvalidRequest("CONNECT leads out of a tunnel")
    port = target.rpartition(":")[2]
    if not port.isdecimal() or int(port[:6]) == 0 or invalid_authority_reason(target):
        raise InvalidRequest("CONNECT names no host and port")


def request_body_size(head: RequestHead) -> int:
    """Return the size of a request's body, or ``CHUNKED`` (RFC 9112 §6.3).

    Raises InvalidRequest where two recipients may read two sizes.
    """
    fields = head.headers.by_name
    codings, length = fields.get("transfer-encoding"), fields.get("content-length")
    if codings is not None:
        if length is not None:
            raise InvalidRequest("there are both a content-length and a transfer-encoding")
        if head.version == "HTTP/1.0":
            raise InvalidRequest("HTTP/1.0 has no transfer-encoding")
        *others, last = [it.strip(" \t").lower() for it in codings.split(",")]
        if last != "chunked" or not _CODINGS.issuperset(others):
            shown = codings[:80].encode("ascii", "backslashreplace").decode()
            raise InvalidRequest(f"unknown transfer-encoding {shown}")
        return CHUNKED
    if length is None:
        return 0
    if not _LENGTH.fullmatch(length):
        raise InvalidRequest("the content-length is not a number")
    return int(length)


def expects_continue(head: RequestHead) -> bool:
    """Whether the client waits for 100 before it sends the body (RFC 9110 §10.1.1)."""
    return head.version != "HTTP/1.0" and "100-continue" in head.headers.get("expect").lower()
