"""An incremental reader of lines, each one message of MCP over standard input and output."""

from dataclasses import dataclass, field

from warex.mcp.messages import LONGEST


@dataclass(frozen=True, slots=True)
class Line:
    """A line, or a part of one that is too long to be read."""

    raw: bytes
    """As it came, with its end."""
    is_message: bool = True
    """Whether it is complete, so that it may be a message."""


@dataclass(slots=True)
class LineReader:
    """Splits a stream into lines."""

    longest: int = LONGEST
    """Bytes; a longer line is passed on in parts."""
    _rest: bytearray = field(default_factory=bytearray)
    _in_long_line: bool = False

    def feed(self, data: bytes) -> list[Line]:
        """Return the lines that are complete with this data."""
        lines: list[Line] = []
        begin = 0
        while (end := data.find(b"\n", begin) + 1) > 0:
            self._rest += data[begin:end]
            lines.append(self._take())
            self._in_long_line = False
            begin = end
        self._rest += data[begin:]
        if self._in_long_line or len(self._rest) > self.longest:
            self._in_long_line = True
            if self._rest:
                lines.append(self._take())
        return lines

    def rest(self) -> list[Line]:
        """Return the last line, which has no end, and drop it."""
        return [self._take()] if self._rest else []

    def _take(self) -> Line:
        is_message = not self._in_long_line and len(self._rest) <= self.longest
        line, self._rest = Line(bytes(self._rest), is_message), bytearray()
        return line
