"""Reads a ClientHello (RFC 8446 §4.1.2) from the first bytes of a connection."""

from typing import Final

from warex.engine.handler import ClientHello

MAX_CLIENT_HELLO: Final = 64 * 1024
"""Bytes after which an incomplete ClientHello is none."""
_HANDSHAKE, _CLIENT_HELLO = 22, 1
_SERVER_NAME, _ALPN = 0, 16


class NoClientHello(ValueError):
    """The bytes are no ClientHello."""


def read_client_hello(first: bytes) -> ClientHello | None:
    """Return what a ClientHello says; None if more bytes are needed. Raises NoClientHello."""
    message = _message(first)
    if message is None:
        if len(first) > MAX_CLIENT_HELLO:
            raise NoClientHello(f"a ClientHello is longer than {MAX_CLIENT_HELLO} bytes")
        return None
    try:
        return _parse(_Reader(message))
    except IndexError:
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


class _Reader:
    """Reads vectors (RFC 8446 §3.4); raises IndexError if there are too few bytes."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def is_empty(self) -> bool:
        return self._at >= len(self._data)

    def take(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise IndexError
        taken, self._at = self._data[self._at : end], end
        return taken

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width))

    def vector(self, width: int) -> "_Reader":
        return _Reader(self.take(self.number(width)))

    def rest(self) -> bytes:
        return self.take(len(self._data) - self._at)


def _parse(message: _Reader) -> ClientHello:
    message.take(2 + 32)  # Version and random.
    message.vector(1)  # Session.
    suites = message.vector(2).rest()
    message.vector(1)  # Compression.
    sni, alpn = "", tuple[bytes, ...]()
    extensions = _Reader(b"") if message.is_empty else message.vector(2)
    while not extensions.is_empty:
        kind, content = extensions.number(2), extensions.vector(2)
        if kind == _SERVER_NAME and not content.is_empty:
            sni = _server_name(content.vector(2))
        elif kind == _ALPN:
            alpn = tuple(_names(content.vector(2)))
    pairs = zip(suites[::2], suites[1::2], strict=False)
    return ClientHello(sni, alpn, tuple(high << 8 | low for high, low in pairs))


def _server_name(names: _Reader) -> str:
    """Return the first host name (RFC 6066 §3), in lower case; empty if it is none."""
    while not names.is_empty:
        kind, name = names.number(1), names.vector(2).rest()
        if kind == 0:
            return name.decode().lower() if name.isascii() else ""
    return ""


def _names(protocols: _Reader) -> list[bytes]:
    found = []
    while not protocols.is_empty:
        found.append(protocols.vector(1).rest())
    return found
