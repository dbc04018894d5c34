"""Reads a ClientHello (RFC 8446 §4.1.2) from the first bytes of a connection."""

import struct
from typing import Final

from warex.engine.handler import ClientHello

MAX_CLIENT_HELLO: Final = 64 * 1024
"""Bytes after which an incomplete ClientHello is refused."""
_HANDSHAKE, _CLIENT_HELLO = 22, 1
_SERVER_NAME, _ALPN = 0, 16
_EXTENSION: Final = struct.Struct(">HH")
"""Type and length."""


class NoClientHello(ValueError):
    """The bytes are not a ClientHello."""


def read_client_hello(first: bytes) -> ClientHello | None:
    """Return what a ClientHello says; None if more bytes are needed. Raises NoClientHello."""
    message = _message(first)
    if message is None:
        if len(first) > MAX_CLIENT_HELLO:
            raise NoClientHello(f"a ClientHello is longer than {MAX_CLIENT_HELLO} bytes")
        return None
    try:
        return _parse(message)
    except (IndexError, struct.error):
        raise NoClientHello("a ClientHello is cut") from None


def _message(first: bytes) -> bytes | None:
    """Return the first handshake message, put together from its records (RFC 8446 §5.1)."""
    handshake = b""
    at = 0
    while len(first) >= at + 5:
        if first[at] != _HANDSHAKE or first[at + 1] != 3:
            raise NoClientHello("a TLS connection begins with another record")
        length = int.from_bytes(first[at + 3 : at + 5])
        if not length:
            raise NoClientHello("a record of the handshake is empty")
        handshake += first[at + 5 : at + 5 + length]
        if handshake and handshake[0] != _CLIENT_HELLO:
            raise NoClientHello("a TLS connection begins with another message")
        if len(handshake) >= 4:
            end = 4 + int.from_bytes(handshake[1:4])
            if len(handshake) >= end:
                return handshake[4:end]
            if end > MAX_CLIENT_HELLO:
                raise NoClientHello(f"a ClientHello is longer than {MAX_CLIENT_HELLO} bytes")
        at += 5 + length
    return None


def _parse(message: bytes) -> ClientHello:
    _, at = _vector(message, 2 + 32, 1)  # Behind version and random: the session.
    suites, at = _vector(message, at, 2)
    _, at = _vector(message, at, 1)  # Compression.
    extensions = b"" if at >= len(message) else _vector(message, at, 2)[0]
    sni, alpn = "", tuple[bytes, ...]()
    at, size = 0, len(extensions)
    while at < size:
        kind, length = _EXTENSION.unpack_from(extensions, at)
        begin = at + _EXTENSION.size
        at = begin + length
        if at > size:
            raise IndexError
        if kind == _SERVER_NAME and length:
            sni = _server_name(_vector(extensions[begin:at], 0, 2)[0])
        elif kind == _ALPN:
            alpn = tuple(_names(_vector(extensions[begin:at], 0, 2)[0]))
    count = len(suites) // 2
    return ClientHello(sni, alpn, struct.unpack_from(f">{count}H", suites))


def _vector(data: bytes, at: int, width: int) -> tuple[bytes, int]:
    """Return a vector (RFC 8446 §3.4) and what is behind it; raise IndexError if it is cut."""
    begin = at + width
    end = begin + int.from_bytes(data[at:begin])
    if end > len(data) or begin > len(data):
        raise IndexError
    return data[begin:end], end


def _server_name(names: bytes) -> str:
    """Return the first host name (RFC 6066 §3), in lower case; empty for an invalid name."""
    at = 0
    while at < len(names):
        kind = names[at]
        name, at = _vector(names, at + 1, 2)
        if kind == 0:
            return name.decode().lower() if name.isascii() else ""
    return ""


def _names(protocols: bytes) -> list[bytes]:
    names, at = [], 0
    while at < len(protocols):
        name, at = _vector(protocols, at, 1)
        names.append(name)
    return names
