"""Parses the heads of HTTP/1 responses as browsers do.

A response that a browser accepts must pass, even if it is malformed. So the end of a head, its
fields and the body's length are determined as in Chromium (``net/http/http_stream_parser.cc``,
``http_util.cc``), and the head is passed on unchanged; what Chromium refuses is InvalidResponse.
"""

import re
from collections.abc import Iterator
from typing import Final

from warex.engine.http.heads import NO_FIELDS, Headers, HttpVersion, ResponseHead, parse_fields

MAX_HEAD: Final = 256 * 1024
"""Bytes of a head above which Chromium gives up."""
CHUNKED: Final = -1
"""The size of a body in chunks."""
UNTIL_EOF: Final = -2
"""The size of a body that ends with the connection."""

_SLOP: Final = 4
"""Bytes of anything that may come before the status line."""
_KNOWN_AFTER: Final = _SLOP + len("HTTP")
_START = re.compile(rb"http", re.IGNORECASE)
_END = re.compile(rb"\n\r?\n")
_STATUS_LINE = re.compile(rb"http(?:/(\d+)\.(\d+))?[^ ]*(?: +(\d+)? *(.*))?", re.IGNORECASE)
_TOKEN: Final = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_NAME = re.compile(_TOKEN)
_USUAL_LINE = re.compile(rb"HTTP/(1\.[01]) ([1-9]\d\d) +([^\r\n]*)\r\n")
_NUMBER = re.compile(r"[0-9]{1,18}")
_BODILESS: Final = frozenset((204, 205, 304))


class InvalidResponse(ValueError):
    """Browsers refuse such a response."""


def head_end(data: bytes | bytearray, start: int = 0) -> int | None:
    """Return where the head ends that begins in ``data``, 0 if there is none (HTTP/0.9).

    None: more is needed. ``start``: what was searched before. Raises InvalidResponse.
    """
    at = _start(data)
    if at is None:
        return 0 if len(data) >= _KNOWN_AFTER else None
    match = _END.search(data, max(at, start - 2))
    if match is not None:
        return match.end()
    if len(data) > MAX_HEAD:
        raise InvalidResponse(f"the head of the answer has no end within {MAX_HEAD} bytes")
    return None


def _start(data: bytes | bytearray) -> int | None:
    match = _START.search(data, 0, _KNOWN_AFTER)
    return None if match is None else match.start()


def parse_response(raw: bytes, *, default_port: bool = True) -> ResponseHead:
    """Parse a head; ``raw`` is the beginning of the body if there is none (HTTP/0.9).

    Unless the request was to its scheme's ``default_port``, only ICY (Shoutcast) may have no head.
    Raises InvalidResponse.
    """
    usual = _USUAL_LINE.match(raw)
    if usual is not None:
        headers = parse_fields(raw, usual.end())
        if headers is not None:
            digits, status, reason = usual.groups()
            version: HttpVersion = "HTTP/1.1" if digits == b"1.1" else "HTTP/1.0"
            return ResponseHead(int(status), reason, version, headers, raw)
    return _parse_leniently(raw, default_port)


def _parse_leniently(raw: bytes, default_port: bool) -> ResponseHead:
    start = _start(raw)
    if start is None:
        if not default_port and raw[:3].lower() != b"icy":
            raise InvalidResponse("this is not an answer of HTTP")
        return ResponseHead(200, b"", "HTTP/0.9", NO_FIELDS)
    if b"\0" in raw:
        raise InvalidResponse("the head of the answer has a zero byte")
    line, *lines = [it for it in re.split(rb"[\r\n]+", raw[start:]) if it] or [b""]
    match = _STATUS_LINE.fullmatch(line)
    major, minor, status, reason = match.groups() if match else (None, None, None, None)
    version: HttpVersion = "HTTP/1.1" if _number(major, minor) >= (1, 1) else "HTTP/1.0"
    code = int(status) if status is not None and len(status) < 10 else 200
    return ResponseHead(code, reason or b"", version, Headers(_fields(lines)), raw)


def _number(major: bytes | None, minor: bytes | None) -> tuple[int, int]:
    # A number of a hundred digits is large, and not read.
    return int((major or b"1")[:9]), int((minor or b"0")[:9])


def _fields(lines: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the fields; skip lines without a colon and invalid names."""
    unfolded: list[bytes] = []
    for line in lines:
        if unfolded and line[:1] in b" \t" and b":" in unfolded[-1]:
            unfolded[-1] += b" " + line.strip(b" \t")
        else:
            unfolded.append(line)
    for line in unfolded:
        name, colon, value = line.partition(b":")
        name = name.rstrip(b" \t")
        if colon and _NAME.fullmatch(name):
            yield name, value.strip(b" \t")


def response_body_size(method: str, head: ResponseHead) -> int:
    """Return the size of a response's body, ``CHUNKED`` or ``UNTIL_EOF``.

    Raises InvalidResponse if lengths contradict each other, which may be an attack.
    """
    fields = head.headers.by_name
    codings, length = fields.get("transfer-encoding"), fields.get("content-length")
    chunked = (
        codings is not None
        and head.version not in ("HTTP/0.9", "HTTP/1.0")
        and any(it.strip(" \t").lower() == "chunked" for it in codings.split(","))
    )
    if not chunked and length is not None and "," in length:
        lengths = [it.strip(" \t") for it in length.split(",")]
        if len(set(lengths)) > 1:
            shown = ", ".join(lengths)[:80].encode("ascii", "backslashreplace").decode()
            raise InvalidResponse(f"the answer has several lengths: {shown}")
        length = lengths[0]
    status = head.status
    if method in ("HEAD", "head") or 100 <= status <= 199 or status in _BODILESS:
        return 0
    if method == "CONNECT" and 200 <= status <= 299:
        return 0
    if chunked:
        return CHUNKED
    return int(length) if length is not None and _NUMBER.fullmatch(length) else UNTIL_EOF
