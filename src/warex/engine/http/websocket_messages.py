"""The messages that WebSocket frames make up, and the compression that their sides agree on.

Sources: RFC 6455 (messages) and RFC 7692 (compression).
"""

import codecs
import re
import zlib
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from warex.engine.http.encoding import decoded_limit
from warex.engine.http.websocket import CLOSE, CONTINUATION, DATA, TEXT, Frame
from warex.text.lazy_pattern import lazy_re

_PIECE: Final = 64 * 1024
"""Bytes that are inflated at once."""
_MOST_STREAMS: Final = 100
"""Deflate streams in one frame."""
_TAIL: Final = b"\x00\x00\xff\xff"
"""What a compressed message leaves out at its end (RFC 7692 §7.2.2)."""
_CODES: Final = frozenset((*range(1000, 1004), *range(1007, 1015)))
"""Close codes that RFC 6455 and its registry define for the wire."""
_NO_CODE: Final = 1005
ABNORMAL: Final = 1006
"""The code of an end without a Close frame (RFC 6455 §7.1.5)."""
_DEFLATE: Final = "permessage-deflate"

_TOKEN: Final = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_PARAMETER: Final = lazy_re(
    rf'[ \t]*;[ \t]*({_TOKEN})(?:[ \t]*=[ \t]*(?:({_TOKEN})|"((?:[^"\\]|\\.)*)"))?'
)
_EXTENSION: Final = lazy_re(rf"[ \t,]*({_TOKEN})")
_WINDOW: Final = lazy_re(r"[89]|1[0-5]")


class Message(Struct, frozen=True):
    """A message has passed."""

    size: int
    """Bytes, decompressed."""
    text: bool
    content: bytes = b""
    """Its beginning, as far as it was to be kept."""


class Closed(Struct, frozen=True):
    """A side has sent a Close frame."""

    code: int | None


class Opaque(Struct, frozen=True):
    """From here on nothing can be read."""

    reason: str


type SocketEvent = Message | Closed | Opaque


class Inflater:
    """Decompresses the messages of one side, each with what the earlier ones have left."""

    def __init__(self) -> None:
        self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)

    def inflate(self, payload: bytes, *, final: bool) -> Iterator[bytes]:
        """Yield a frame's content in pieces; ``final``: it ends its message.

        Raises ValueError or ``zlib.error`` for what cannot be read.
        """
        data, streams = payload + _TAIL if final else payload, 0
        while data:
            if self._inflater.eof:  # A block may be marked as the last (RFC 7692 §7.2.3.4).
                self._inflater, streams = zlib.decompressobj(-zlib.MAX_WBITS), streams + 1
                if data == _TAIL:
                    return
                if streams > _MOST_STREAMS:
                    raise ValueError("it has too many last blocks")
            yield self._inflater.decompress(data, _PIECE)
            data = self._inflater.unconsumed_tail or self._inflater.unused_data
        while part := self._inflater.decompress(b"", _PIECE):
            yield part


class MessageReader:
    """Reads the messages of one side; nothing is raised."""

    def __init__(self, *, deflates: bool, keep: int = 0) -> None:
        """``deflates``: compression was agreed on; ``keep``: bytes kept of a message's content."""
        self._deflates = deflates
        self._keep = keep
        self._over = False
        """Whether the side has closed, or cannot be read any more."""
        self._inflater = Inflater() if deflates else None
        self._opcode = CONTINUATION
        """Of the message that has begun; none has if it is a continuation's."""
        self._compressed = False
        self._size = self._received = 0
        self._beginning = bytearray()
        self._text = codecs.getincrementaldecoder("utf-8")()

    def read(self, frame: Frame) -> SocketEvent | None:
        """Return what a frame ends: a message, the side, or the ability to read it."""
        if self._over:
            return None
        try:
            event = self._read(frame)
        except (ValueError, zlib.error) as error:
            event = Opaque(f"a frame cannot be read: {error}")
        self._over = isinstance(event, Closed | Opaque)
        return event

    def _read(self, frame: Frame) -> SocketEvent | None:
        if frame.flaw:
            raise ValueError(frame.flaw)
        if frame.opcode == CLOSE:
            return Closed(_close_code(frame.payload))
        if frame.opcode not in DATA:
            return None
        if (frame.opcode == CONTINUATION) is (self._opcode == CONTINUATION):
            raise ValueError("a message begins in another, or goes on before it has begun")
        if frame.opcode != CONTINUATION:
            self._opcode, self._compressed = frame.opcode, frame.compressed
            self._size = self._received = 0
        if frame.compressed and (frame.opcode == CONTINUATION or not self._deflates):
            raise ValueError("a frame is compressed that may not be")
        self._received += len(frame.raw)
        for part in self._decoded(frame):
            self._size += len(part)
            self._beginning += part[: self._keep - len(self._beginning)]
            if self._opcode == TEXT:
                self._text.decode(part)
            if self._compressed and self._size > decoded_limit(self._received):
                return Opaque(f"a message decompresses to more than {self._size:,} bytes")
        return self._end_message() if frame.final else None

    def _decoded(self, frame: Frame) -> Iterator[bytes]:
        if self._compressed:
            assert self._inflater is not None
            return self._inflater.inflate(frame.payload, final=frame.final)
        return iter((frame.payload,))

    def _end_message(self) -> Message:
        is_text, content = self._opcode == TEXT, bytes(self._beginning)
        self._opcode = CONTINUATION
        self._beginning.clear()
        if is_text:
            self._text.decode(b"", final=True)
            self._text.reset()
        return Message(self._size, is_text, content)


def _close_code(payload: bytes) -> int:
    """Return the code of a Close frame; raise ValueError if it is not valid."""
    if not payload:
        return _NO_CODE
    if len(payload) == 1:
        raise ValueError("the code of a close is cut")
    code = int.from_bytes(payload[:2])
    payload[2:].decode()
    if code not in _CODES and not 3000 <= code < 5000:
        raise ValueError(f"a close has the code {code}")
    return code


# ---- the negotiation


def agrees_on_deflate(answered: str) -> bool:
    """Whether the site's response accepts compression.

    ``answered``: the value of ``Sec-WebSocket-Extensions``; empty for none. Raises ValueError,
    saying why, where frames cannot be read under it.
    """
    extensions = list(_extensions(answered))
    for name, _ in extensions:
        if name != _DEFLATE:
            raise ValueError(f"the extension {name} is not known")
    if len(extensions) > 1:
        raise ValueError("two compressions are agreed on")
    for _, parameters in extensions:
        _check(parameters)
    return bool(extensions)


def keeps_context(answered: str, *, from_client: bool) -> bool:
    """Whether a side may refer to its earlier messages when it compresses (RFC 7692 §7.1.1).

    ``answered``: as above, with a compression that ``agrees_on_deflate``.
    """
    resets = f"{'client' if from_client else 'server'}_no_context_takeover"
    named = (name for _, parameters in _extensions(answered) for name, _ in parameters)
    return resets not in named


def _extensions(answered: str) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """Yield each extension with its parameters (RFC 6455 §9.1)."""
    at = 0
    while match := _EXTENSION.match(answered, at):
        at = match.end()
        parameters: list[tuple[str, str | None]] = []
        while parameter := _PARAMETER.match(answered, at):
            at = parameter.end()
            name, plain, quoted = parameter.groups()
            value = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            parameters.append((name, value))
        yield match[1], parameters
        if answered[at:].strip(" \t") and answered[at:].lstrip(" \t")[0] != ",":
            break
    if answered[at:].strip(" \t,"):
        raise ValueError(f"Sec-WebSocket-Extensions cannot be read from {answered[at:][:80]!r} on")


def _check(parameters: list[tuple[str, str | None]]) -> None:
    """Raise ValueError for what a site may not answer (RFC 7692 §7.1)."""
    names = [name for name, _ in parameters]
    for name, value in parameters:
        if names.count(name) > 1:
            raise ValueError(f"{name} is listed twice")
        match name:
            case "server_no_context_takeover" | "client_no_context_takeover":
                if value is not None:
                    raise ValueError(f"{name} has no value, and {value[:80]!r} was given")
            case "server_max_window_bits" | "client_max_window_bits":
                if value is None or not _WINDOW.fullmatch(value):
                    raise ValueError(f"{name} is {(value or '')[:80]!r}, not 8 to 15")
            case _:
                raise ValueError(f"{_DEFLATE} has no parameter {name}")
