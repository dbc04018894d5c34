"""Protocol detection, by the first bytes that a client sends."""

import re
from typing import Final, Literal

type DetectedProtocol = Literal["tls", "http", "proxied", "h2c", "other"]
"""TLS; HTTP/1; HTTP/1 to a proxy of the client's own; HTTP/2 without TLS; anything else."""

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""The beginning of every HTTP/2 connection (RFC 9113 §3.4)."""

_TOKEN: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}")
_VERSION: Final = re.compile(rb" HTTP/1\.[0-9]\r?$")
_ASKS_PROXY: Final = re.compile(rb"CONNECT |[^ ]+ +http://", re.I)
_COMMON_METHODS: Final = frozenset(b"GET POST HEAD PUT PATCH DELETE OPTIONS".split())

MAX_PEEK: Final = 8192
"""Bytes after which an incomplete first line is not HTTP."""


def detect_protocol(first: bytes) -> DetectedProtocol | None:
    """Return the protocol; None if more bytes are needed."""
    if not first:
        return None
    if first[0] == 0x16:
        return _tls(first)
    if first.startswith(PREFACE[: len(first)]):
        return "h2c" if len(first) >= len(PREFACE) else _undecided(first)
    # An empty line before the request is allowed (RFC 9112 §2.2).
    return _http(first.lstrip(b"\r\n")) if first.strip(b"\r\n") else _undecided(first)


def _tls(first: bytes) -> DetectedProtocol | None:
    """Recognize a handshake record with a ClientHello (RFC 8446 §4.1.2, §5.1)."""
    wanted = (0x16, 0x03, None, None, None, 0x01)
    for byte, needed in zip(first, wanted, strict=False):
        if needed is not None and byte != needed:
            return "other"
    if len(first) < len(wanted):
        return None
    return "tls" if first[2] <= 4 else "other"


def _http(first: bytes) -> DetectedProtocol | None:
    """Recognize a request line by its end, since other protocols also begin with a word."""
    line, ended, _ = first.partition(b"\n")
    if ended:
        if not _VERSION.search(line):
            return "other"
        return "proxied" if _ASKS_PROXY.match(line) else "http"
    word, space, rest = line.partition(b" ")
    if not _TOKEN.fullmatch(word):
        return "other"
    if not space:
        return _undecided(first)
    # A long URL may arrive in several pieces.
    if word in _COMMON_METHODS and rest.startswith((b"/", b"* ")):
        return "http"
    if word in _COMMON_METHODS and rest.startswith(b"http://"):
        return "proxied"
    return _undecided(first)


def _undecided(first: bytes) -> DetectedProtocol | None:
    return None if len(first) < MAX_PEEK else "other"
