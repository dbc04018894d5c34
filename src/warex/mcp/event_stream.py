"""An incremental reader of server-sent events (WHATWG HTML, section 9.2).

A stream may never end, so only the incomplete event is kept.
"""

from typing import Final

from msgspec import Struct, field

from warex.mcp.messages import LONGEST
from warex.text.lazy_pattern import lazy_re

_END = lazy_re(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LINE_END = lazy_re(rb"\r\n|\n|\r")
_DATA = lazy_re(rb"data(?::|$)")
_BOM: Final = b"\xef\xbb\xbf"


class SseEvent(Struct, frozen=True):
    """One event."""

    raw: bytes
    """The bytes received, including the empty line at the end."""
    name: str = "message"
    data: bytes = b""
    has_id: bool = False
    """Whether a client may resume the stream after it."""


class SseReader(Struct):
    """Splits a stream into events."""

    longest: int = LONGEST
    """Bytes; a longer event is passed on in pieces without data."""
    gave_up: bool = False
    """Whether an event was longer."""
    _rest: bytearray = field(default_factory=bytearray)
    _searched: int = 0

    def feed(self, data: bytes) -> list[SseEvent]:
        """Return the events that are complete with this data."""
        self._rest += data
        events: list[SseEvent] = []
        begin = 0
        while end := _END.search(self._rest, max(begin, self._searched)):
            events.append(_event(bytes(self._rest[begin : end.end()])))
            begin = end.end()
            self._searched = begin
        if begin:
            del self._rest[:begin]
        # A line end may be split between two calls.
        self._searched = max(0, len(self._rest) - 3)
        if len(self._rest) > self.longest:
            self.gave_up = True
            events.append(SseEvent(self.rest()))
        return events

    @property
    def pending(self) -> int:
        """Bytes of the incomplete event."""
        return len(self._rest)

    def pending_from(self, begin: int) -> bytes:
        """Return the incomplete event from a position on."""
        return bytes(self._rest[begin:])

    def rest(self) -> bytes:
        """Return the incomplete event, and drop it."""
        rest, self._rest, self._searched = bytes(self._rest), bytearray(), 0
        return rest


def with_data(event: SseEvent, data: bytes) -> bytes:
    """Return an event's bytes with other data."""
    lines = [line for line in _LINE_END.split(event.raw) if line and not _DATA.match(line)]
    return b"\n".join((*lines, b"data: " + data, b"", b""))


def _event(raw: bytes) -> SseEvent:
    name, data, has_id = b"", [], False
    for line in _LINE_END.split(raw.removeprefix(_BOM)):
        key, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if key == b"data":
            data.append(value)
        elif key == b"event":
            name = value
        elif key == b"id":
            has_id = True
    return SseEvent(raw, name.decode(errors="replace") or "message", b"\n".join(data), has_id)
