"""Divides a body into events: server-sent events, or one JSON text on each line.

Sources: HTML Living Standard 9.2 (server-sent events); ``json_body/ndjson.py`` for lines.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from warex.rewriting.json_body.ndjson import LINES, is_lines

EVENT_STREAM: Final = "text/event-stream"
MEDIA_TYPES: Final = (EVENT_STREAM, *sorted(LINES), "application/json-seq")
"""The media types of bodies that are streams of events."""
_LONGEST: Final = 1024 * 1024
"""Bytes of an event that is held; a longer one passes as it comes."""
_BLANK: Final = re.compile(rb"(?>\r\n|\r|\n){2}")
_LINE_END: Final = re.compile(rb"\r\n|\r|\n")
_SEPARATOR: Final = b"\x1e"


class StreamEvent(Struct, frozen=True):
    """A part of a stream: an event, or other bytes."""

    raw: bytes
    """As it came, with what ends it."""
    content: bytes | None = None
    """None: it is not an event, such as a comment, or too long to be held."""
    name: str = "message"
    """The type of a server-sent event; empty for a line."""

    def with_content(self, content: bytes) -> bytes:
        """Return the event with another content; its other fields stay."""
        if not self.name:
            before, end = self._delimiters()
            return before + content + end
        match = _LINE_END.search(self.raw)
        newline = b"\n" if match is None else match[0]
        lines: list[bytes] = []
        is_put = False
        for line in _LINE_END.split(self.raw):
            if _field(line)[0] != b"data":
                lines.append(line)
            elif not is_put:
                lines += [b"data: " + part for part in content.split(b"\n")]
                is_put = True
        return newline.join(lines)

    def left_out(self) -> bytes:
        """Return what stays of an event that is left out: for how long a browser waits to retry."""
        retry_fields = [it for it in _LINE_END.split(self.raw) if _field(it)[0] == b"retry"]
        return b"\n".join([*retry_fields, b"", b""]) if retry_fields and self.name else b""

    def _delimiters(self) -> tuple[bytes, bytes]:
        """Return what is before and behind the content of a line."""
        body = self.raw.rstrip(b"\r\n")
        start = len(body) - len(body.lstrip(_SEPARATOR))
        return body[:start], self.raw[len(body) :]


class EventSplitter:
    """Divides one decoded body; the raw parts are what came."""

    def __init__(self, media_type: str) -> None:
        self._is_lines = is_lines(media_type)
        self._buffer = b""
        self._passes = False
        """Whether the event that has begun is too long to be held."""

    def feed(self, data: bytes) -> Iterator[StreamEvent]:
        """Yield the events that are complete."""
        start = max(0, len(self._buffer) - 3)
        self._buffer += data
        at = 0
        while (end := self._end(max(start, at))) is not None:
            yield self._part(self._buffer[at:end])
            at = end
        self._buffer = self._buffer[at:]
        if len(self._buffer) > _LONGEST or (self._passes and self._buffer):
            yield StreamEvent(self._buffer)
            self._buffer, self._passes = b"", True

    def close(self) -> Iterator[StreamEvent]:
        """Yield what is left at the end; only a line may be an event."""
        if self._buffer:
            rest, self._buffer = self._buffer, b""
            yield self._part(rest) if self._is_lines else StreamEvent(rest)

    def _end(self, start: int) -> int | None:
        if self._is_lines:
            return self._buffer.find(b"\n", start) + 1 or None
        match = _BLANK.search(self._buffer, start)
        return None if match is None else match.end()

    def _part(self, raw: bytes) -> StreamEvent:
        if self._passes:
            self._passes = False
            return StreamEvent(raw)
        if self._is_lines:
            content = raw.strip(b"\r\n" + _SEPARATOR)
            return StreamEvent(raw, content if content.strip() else None, "")
        fields = [_field(line) for line in _LINE_END.split(raw)]
        data = [value for name, value in fields if name == b"data"]
        if not data:
            return StreamEvent(raw)
        name = next((value for name, value in reversed(fields) if name == b"event"), b"")
        return StreamEvent(raw, b"\n".join(data), name.decode(errors="replace") or "message")


def _field(line: bytes) -> tuple[bytes, bytes]:
    name, _, value = line.removeprefix(b"\xef\xbb\xbf").partition(b":")
    return name, value.removeprefix(b" ")
