"""Parses the heads of HTTP/1 responses as browsers do.

A response that a browser accepts must pass, even if it is malformed. So the end of a head, its
fields and the body's length are determined as in Chromium (``net/http/http_stream_parser.cc``,
``http_util.cc``), and the head is passed on unchanged; what Chromium refuses is InvalidResponse.
"""

import re
import time
from collections.abc import Iterator
from typing import Final

from mitmproxy import http
from mitmproxy.net.http import http1

MAX_HEAD_SIZE: Final = 256 * 1024
"""Bytes of a head above which Chromium gives up."""

_SLOP: Final = 4
"""Bytes of anything that may come before the status line."""
_KNOWN_AFTER: Final = _SLOP + len("HTTP")
_START = re.compile(rb"http", re.IGNORECASE)
_END = re.compile(rb"\n\r?\n")
_STATUS_LINE = re.compile(rb"http(?:/(\d+)\.(\d+))?[^ ]*(?: +(\d+)? *(.*))?", re.IGNORECASE)
_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_NUMBER = re.compile(r"[0-9]{1,18}")
_BODILESS: Final = frozenset((204, 205, 304))

_KEY = "warex_head"


class InvalidResponse(ValueError):
    """Browsers refuse such a response."""


def head_length(data: bytes) -> int | None:
    """Return the bytes of the head, 0 if there is none; None if more data is needed."""
    start = _start(data)
    if start is None:
        return 0 if len(data) >= _KNOWN_AFTER else None
    end = _END.search(data, start)
    if end is not None:
        return end.end()
    if len(data) > MAX_HEAD_SIZE:
        raise InvalidResponse(f"the head of the answer has no end within {MAX_HEAD_SIZE} bytes")
    return None


def _start(data: bytes) -> int | None:
    found = _START.search(data, 0, _KNOWN_AFTER)
    return None if found is None else found.start()


def parse_head(raw: bytes, *, default_port: bool = True) -> http.Response:
    """Parse a head; ``raw`` is the beginning of the body if there is none (HTTP/0.9).

    Unless the request was to its scheme's ``default_port``, only ICY (Shoutcast) may have no head.
    """
    start = _start(raw)
    if start is None:
        if not default_port and raw[:3].lower() != b"icy":
            raise InvalidResponse("this is no answer of HTTP")
        return _with_raw_head(_response(b"HTTP/0.9", 200, b"", []), b"")
    if b"\0" in raw:
        raise InvalidResponse("the head of the answer has a zero byte")
    line, *fields = [it for it in re.split(rb"[\r\n]+", raw[start:]) if it] or [b""]
    found = _STATUS_LINE.fullmatch(line)
    major, minor, status, reason = found.groups() if found else (None, None, None, None)
    version = b"HTTP/1.1" if (int(major or 1), int(minor or 0)) >= (1, 1) else b"HTTP/1.0"
    code = int(status) if status is not None and len(status) < 10 else 200
    return _with_raw_head(_response(version, code, reason or b"", list(_fields(fields))), raw)


def _response(
    version: bytes, status: int, reason: bytes, fields: list[tuple[bytes, bytes]]
) -> http.Response:
    return http.Response(
        http_version=version,
        status_code=status,
        reason=reason,
        headers=http.Headers(fields),
        content=None,
        trailers=None,
        timestamp_start=time.time(),  # noqa: TID251 - mitmproxy's own stamp
        timestamp_end=None,
    )


def _fields(lines: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the fields; skip lines without a colon and invalid names."""
    whole: list[bytes] = []
    for line in lines:
        if whole and line[:1] in b" \t" and b":" in whole[-1]:
            whole[-1] += b" " + line.strip(b" \t")
        else:
            whole.append(line)
    for line in whole:
        name, colon, value = line.partition(b":")
        name = name.rstrip(b" \t")
        if colon and _TOKEN.fullmatch(name):
            yield name, value.strip(b" \t")


def _with_raw_head(response: http.Response, raw: bytes) -> http.Response:
    assembled = http1.assemble_response_head(response)
    if raw != assembled:
        vars(response)[_KEY] = (raw, assembled)
    return response


def raw_head(response: http.Response) -> bytes | None:
    """Return the head as the site sent it; None if mitmproxy would assemble the same."""
    raw, assembled = vars(response).get(_KEY, (None, b""))
    # The response may have been changed since.
    return raw if raw is not None and http1.assemble_response_head(response) == assembled else None


def body_size(request: http.Request, response: http.Response) -> int | None:
    """Return the body's length: None for chunks, -1 until the connection ends.

    Raises InvalidResponse if lengths contradict each other, which may be an attack.
    """
    codings, lengths = (
        [it.strip(" \t") for value in response.headers.get_all(name) for it in value.split(",")]
        for name in ("transfer-encoding", "content-length")
    )
    chunked = response.http_version not in ("HTTP/0.9", "HTTP/1.0") and any(
        it.lower() == "chunked" for it in codings
    )
    if not chunked and len(set(lengths)) > 1:
        raise InvalidResponse(f"the answer has several lengths: {', '.join(lengths)[:80]}")
    method, status = request.method.upper(), response.status_code
    if method == "HEAD" or 100 <= status <= 199 or status in _BODILESS:
        return 0
    if method == "CONNECT" and 200 <= status <= 299:
        return 0
    if chunked:
        return None
    return int(lengths[0]) if lengths and _NUMBER.fullmatch(lengths[0]) else -1
