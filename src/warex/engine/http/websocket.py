"""WebSocket frames, as they came and unmasked (RFC 6455 §5.2)."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

CONTINUATION: Final = 0
TEXT: Final = 1
BINARY: Final = 2
CLOSE: Final = 8
DATA: Final = (CONTINUATION, TEXT, BINARY)
_OPCODES: Final = (*DATA, CLOSE, 9, 10)
_MOST_CONTROL: Final = 125
"""Bytes of a control frame's payload (RFC 6455 §5.5)."""
_MOST_HELD: Final = 64 * 1024
"""Bytes of a frame that is held until it is complete; a longer one passes in parts."""


class Frame(Struct, frozen=True):
    """One WebSocket frame, unmasked.

    A long one comes in parts, which continue it as frames would: they must pass as they came.
    """

    opcode: int
    payload: bytes
    final: bool = True
    compressed: bool = False
    """RSV1: the payload is of permessage-deflate (RFC 7692)."""
    raw: bytes = b""
    """As it came; an unchanged frame passes so."""
    flaw: str = ""
    """How it breaks RFC 6455; it passes nevertheless."""


class FrameParser:
    """Divides the bytes of one side into frames; the raw bytes of all of them are what came.

    Nothing is refused: a frame that breaks RFC 6455 has a ``flaw``.
    """

    def __init__(self, *, from_client: bool) -> None:
        self._masks = from_client
        self._buffer = bytearray()
        self._left = 0
        """Bytes of the current frame that have not come."""
        self._mask = b""
        self._ends = True
        """Whether the current frame ends its message."""

    @property
    def is_within_frame(self) -> bool:
        """Whether a part of a frame was yielded that has not ended."""
        return self._left > 0

    def receive(self, data: bytes) -> Iterator[Frame]:
        """Yield the frames that are complete with the next bytes, and parts of long ones."""
        self._buffer += data
        while self._buffer:
            frame = self._next_part() if self._left else self._next_frame()
            if frame is None:
                return
            yield frame

    def _next_frame(self) -> Frame | None:
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        first, second = buffer[0], buffer[1]
        length, at = second & 0x7F, 2
        if length > _MOST_CONTROL:
            at = 4 if length == 126 else 10
            length = int.from_bytes(buffer[2:at])
        mask_at, at = at, at + (4 if second & 0x80 else 0)
        available = length
        if length > _MOST_HELD:
            available = _part(max(0, len(buffer) - at), length, masked=at > mask_at)
        if len(buffer) < at + available:
            return None
        raw = bytes(buffer[: at + available])
        del buffer[: at + available]
        self._mask, self._left = raw[mask_at:at], length - available
        self._ends = bool(first & 0x80)
        return Frame(
            opcode=first & 0x0F,
            payload=_unmasked(raw[at:], self._mask),
            final=self._ends and not self._left,
            compressed=bool(first & 0x40),
            raw=raw,
            flaw=_flaw(first, second, length, masks=self._masks),
        )

    def _next_part(self) -> Frame | None:
        """Return the next part of a long frame, as a frame that continues its message."""
        available = _part(len(self._buffer), self._left, masked=bool(self._mask))
        if not available:
            return None
        raw = bytes(self._buffer[:available])
        del self._buffer[:available]
        self._left -= available
        ends = self._ends and not self._left
        return Frame(CONTINUATION, _unmasked(raw, self._mask), final=ends, raw=raw)

    def rest(self) -> bytes:
        """Return the bytes of an incomplete frame, which nothing follows."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        return rest


def _part(buffered: int, left: int, *, masked: bool) -> int:
    """Return the bytes of a part: whole masks, or all that is left."""
    if buffered >= left:
        return left
    return buffered - buffered % 4 if masked else buffered


def _unmasked(payload: bytes, mask: bytes) -> bytes:
    """Apply a mask (RFC 6455 §5.3); the inverse is the same."""
    if not mask or not payload:
        return payload
    size = len(payload)
    key = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(payload) ^ int.from_bytes(key)).to_bytes(size)


def _flaw(first: int, second: int, length: int, *, masks: bool) -> str:
    """Return how a frame's head breaks RFC 6455 §5.2; empty if it does not."""
    opcode, length_code = first & 0x0F, second & 0x7F
    if first & 0x30:
        return "a reserved bit is set"
    if opcode not in _OPCODES:
        return f"the opcode {opcode} is reserved"
    if bool(second & 0x80) is not masks:
        return "a frame of the client is not masked" if masks else "a frame of the site is masked"
    if (length_code == 126 and length < 126) or (length_code == 127 and length < 1 << 16):
        return "the length is longer than it needs to be"
    if length >> 63:
        return "the length is negative"
    if opcode >= CLOSE:
        if length_code > _MOST_CONTROL:
            return "a control frame is too long"
        if not first & 0x80:
            return "a control frame is divided"
        if first & 0x40:
            return "a control frame is compressed"
    return ""


def serialise(frame: Frame, mask: bytes = b"") -> bytes:
    """Return the bytes of a frame: raw or made; a client's needs a mask of four bytes."""
    if frame.raw:
        return frame.raw
    first = frame.opcode | (0x80 if frame.final else 0) | (0x40 if frame.compressed else 0)
    size = len(frame.payload)
    masked = 0x80 if mask else 0
    if size <= _MOST_CONTROL:
        head = bytes((first, masked | size))
    elif size < 1 << 16:
        head = bytes((first, masked | 126)) + size.to_bytes(2)
    else:
        head = bytes((first, masked | 127)) + size.to_bytes(8)
    return head + mask + _unmasked(frame.payload, mask)
