"""Valid and malformed WebSocket handshakes and frames (RFC 6455, RFC 7692)."""

import zlib
from collections.abc import Iterator
from itertools import cycle
from typing import Final

KEY: Final = "dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT: Final = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
"""The accept value for this key, from RFC 6455 §1.3."""

READABLE: Final = (
    "",
    "permessage-deflate",
    "permessage-deflate; server_max_window_bits=8",
    'permessage-deflate; server_max_window_bits="10"',
    "permessage-deflate ; server_no_context_takeover ;client_no_context_takeover",
    "permessage-deflate; client_max_window_bits=15; server_max_window_bits=15",
    "permessage-deflate; client_max_window_bits=8",
    ", permessage-deflate",
)
"""Values of ``Sec-WebSocket-Extensions`` with which frames can be read."""

_NUMBERS = ("7", "16", "0", "-1", "08", "1e1", "abc", "99999999999999999999", "9.0", "", " ", '""')
_NAMES = ("client_max_window_bits", "server_max_window_bits")
_FLAGS = ("client_no_context_takeover", "server_no_context_takeover")

OPAQUE: Final = (
    *(f"permessage-deflate; {name}={number}" for name in _NAMES for number in _NUMBERS),
    *(f"permessage-deflate; {name}" for name in _NAMES),
    *(f"permessage-deflate; {name}=10; {name}=10" for name in _NAMES),
    *(f"permessage-deflate; {flag}={value}" for flag in _FLAGS for value in ("1", "true", '"x"')),
    *(f"permessage-deflate; {flag}; {flag}" for flag in _FLAGS),
    "permessage-deflate; mux",
    "permessage-deflate; x=1; y",
    "permessage-deflate, permessage-deflate",
    "permessage-deflate; client_max_window_bits=10, x-webkit-deflate-frame",
    "x-webkit-deflate-frame",
    "permessage-bzip2; client_max_compress_level=5",
    "bbf-usp-protocol; eid=doc",
    "permessage-deflate=1",
    "permessage-deflate; =1",
    "permessage-deflate; a=b=c",
    'permessage-deflate; a="',
    'permessage-deflate; a="b\\"',
    "permessage-deflate; ä",
    ";",
    "=",
    '"permessage-deflate"',
    "permessage-deflate;;",
    "permessage-deflate; client_max_window_bits = 10 10",
    "(" * 2000,
    "permessage-deflate; " + "a" * 4000,
    "permessage-deflate, " * 300 + "x",
)
"""Values with which frames cannot be read."""


def frame(
    opcode: int, payload: bytes, *, fin: bool = True, rsv: int = 0, mask: bytes = b""
) -> bytes:
    """Return one frame; ``mask`` has four bytes or none."""
    first, masked = (0x80 if fin else 0) | rsv << 4 | opcode, 0x80 if mask else 0
    size = len(payload)
    if size < 126:
        head = bytes((first, masked | size))
    elif size < 65536:
        head = bytes((first, masked | 126)) + size.to_bytes(2, "big")
    else:
        head = bytes((first, masked | 127)) + size.to_bytes(8, "big")
    if mask:
        payload = bytes(byte ^ key for byte, key in zip(payload, cycle(mask), strict=False))
    return head + mask + payload


def deflated(data: bytes, window: int = 15) -> bytes:
    """Return a message as RFC 7692 compresses it."""
    compressor = zlib.compressobj(wbits=-max(window, 9))
    return (compressor.compress(data) + compressor.flush(zlib.Z_SYNC_FLUSH))[:-4]


def frames(mask: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield named byte strings for an open WebSocket; without ``mask``, those of a site."""

    def one(opcode: int, payload: bytes, **how: int) -> bytes:
        return frame(opcode, payload, fin=bool(how.get("fin", 1)), rsv=how.get("rsv", 0), mask=mask)

    yield "a message", one(1, b"hello")
    yield "no text", one(2, bytes(range(256)) * 300)
    yield "pieces", one(1, b"he", fin=0) + one(9, b"ping") + one(0, b"llo")
    yield "half a character in each piece", one(1, b"\xc3", fin=0) + one(0, b"\xa9")
    yield "compressed", one(1, deflated(b"hello" * 100), rsv=4)
    yield "compressed with nothing in it", one(1, b"\x00", rsv=4)
    yield "a bomb", one(2, deflated(bytes(8_000_000)), rsv=4)
    yield "broken compression", one(1, b"\xff\xff\xff", rsv=4)
    yield "the end of a stream", one(2, zlib.compress(b"x", wbits=-15), rsv=4) * 2
    yield "no UTF-8", one(1, b"\xff\xfe")
    for rsv in (1, 2, 3, 7):
        yield f"reserved bits {rsv}", one(1, b"a", rsv=rsv)
    for opcode in (3, 7, 11, 15):
        yield f"reserved opcode {opcode}", one(opcode, b"a")
    yield "a piece of nothing", one(0, b"a")
    yield "a message in a message", one(1, b"a", fin=0) + one(1, b"b")
    yield "a ping in pieces", one(9, b"a", fin=0)
    yield "a long ping", one(9, b"a" * 126)
    yield "a compressed ping", one(9, b"a", rsv=4)
    yield "the other side's mask", frame(1, b"hello", mask=b"" if mask else b"abcd")
    yield "a length longer than needed", b"\x81\x7e\x00\x01a"
    yield "a length without end", b"\x82\x7f" + b"\xff" * 8 + b"abc"
    yield "half a frame", one(1, b"hello")[:-2]
    yield "a close", one(8, b"\x03\xe8bye")
    yield "a close without a code", one(8, b"")
    for code in (0, 999, 1005, 1006, 1015, 2999, 5000, 65535):
        yield f"a close with {code}", one(8, code.to_bytes(2, "big"))
    yield "a close of one byte", one(8, b"\x03")
    yield "a close without UTF-8", one(8, b"\x03\xe8\xff")
    yield "what follows a close", one(8, b"\x03\xe8") + one(1, b"more") + b"\xff" * 50
    yield "HTTP", b"GET / HTTP/1.1\r\n\r\n"
    yield "zeros", bytes(5000)


def answers() -> Iterator[tuple[str, bytes]]:
    """Yield named answers to an upgrade request."""
    usual = ("Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Accept: {ACCEPT}")

    def head(*lines: str, status: str = "101 Switching Protocols") -> bytes:
        return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode("utf-8")

    for value in (*READABLE, *OPAQUE):
        yield f"extensions {value[:60]!r}", head(*usual, f"Sec-WebSocket-Extensions: {value}")
    twice = ("Sec-WebSocket-Extensions: permessage-deflate",) * 2
    yield "extensions twice", head(*usual, *twice)
    yield "another accept", head(*usual[:2], "Sec-WebSocket-Accept: AAAA")
    yield "no accept", head(*usual[:2])
    yield "two accepts", head(*usual, usual[2])
    yield "upgrade in capitals", head("Upgrade: WebSocket", *usual[1:])
    yield "no upgrade", head(*usual[1:])
    yield "another upgrade", head("Upgrade: h2c", *usual[1:])
    yield "two upgrades", head(usual[0], *usual)
    yield "no connection", head(usual[0], usual[2])
    yield "a protocol not asked for", head(*usual, "Sec-WebSocket-Protocol: chat, superchat")
    yield "a length", head(*usual, "Content-Length: 5")
    yield "chunks", head(*usual, "Transfer-Encoding: chunked")
    yield "no reason", head(*usual, status="101")
    yield "a header of no ASCII", head(*usual, "X-Greeting: grüß")
