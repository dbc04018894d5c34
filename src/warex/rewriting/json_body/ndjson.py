"""Changes a stream of JSON texts, one on each line, as it arrives.

Sources: https://github.com/ndjson/ndjson-spec, https://jsonlines.org, RFC 7464 (JSON text
sequences: a record separator before each text, a line feed behind it).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from warex.rewriting.base import Rewriter, ValueChange
from warex.rewriting.json_body.spans import JsonSpan, decode_scalar, parse_spans
from warex.rewriting.json_body.value_changes import TextReplacement, apply_replacements
from warex.text.lazy_pattern import lazy_re

LINES: Final = frozenset(
    f"application/{name}"
    for name in (
        *("x-ndjson", "ndjson", "jsonl", "x-jsonl", "jsonlines", "x-jsonlines"),
        *("json-lines", "x-json-lines", "stream+json"),
    )
)
"""Media types for one JSON text on each line."""
_SEQUENCES: Final = ("/json-seq", "+json-seq")
_LONGEST: Final = 8 * 1024 * 1024
"""Bytes of a line that are held; a longer line passes unchanged."""
_MAX_REPORTED: Final = 1000
"""Changes that are kept of a stream."""
_BEFORE: Final = lazy_re("\ufeff?\x1e*")
_SEPARATOR: Final = b"\x1e"

type ChangeLine = Callable[[JsonSpan, int], tuple[list[TextReplacement], int]]
"""Maps a line's value and the allowed number of changes to the replacements and their number."""


def is_lines(content_type: str) -> bool:
    """Whether a media type, in lower case, is for one JSON text on each line."""
    return content_type in LINES or is_sequence(content_type)


def is_sequence(content_type: str) -> bool:
    """Whether a media type is for a JSON text sequence (RFC 7464; the suffix: RFC 8091)."""
    return content_type.endswith(_SEQUENCES)


@dataclass(slots=True)
class LinesRewriter(Rewriter):
    """Changes lines of a stream, which is read as a list: line 3 is ``/3``.

    Blank lines are not items. In a sequence, lines without a separator pass unchanged.
    """

    change: ChangeLine
    count: int
    """How many values may change."""
    every: int | None = None
    """Remove every n-th line, or all if 0, and change nothing else."""
    only: str | None = None
    """The only line that may change, as a pointer's step."""
    is_sequence: bool = False
    changes: list[ValueChange] = field(default_factory=list)
    _buffer: bytearray = field(default_factory=bytearray)
    _number: int = 0
    _too_long: bool = False
    """The current line passes unchanged."""
    _over: bool = False

    def feed(self, data: bytes) -> bytes:
        """Return the lines that are complete, some of them changed."""
        if self._over:
            return data
        lines, end, rest = data.rpartition(b"\n")
        out = b""
        if end:
            self._buffer += lines + end
            out = self._ended()
        if self._over or self._too_long:
            return out + rest
        self._buffer += rest
        if len(self._buffer) > _LONGEST:
            self._too_long = True
            self._number += self._is_item(bytes(self._buffer))
            out += self._rest()
        return out

    def close(self) -> bytes:
        """Return the last line, which may lack a line feed."""
        return self._ended()

    def _ended(self) -> bytes:
        buffered = self._rest()
        out: list[bytes] = []
        at = 0
        for line in _lines(buffered):
            if self._over:
                out.append(buffered[at:])
                break
            at += len(line)
            out.append(self._line(line))
        return b"".join(out)

    def _rest(self) -> bytes:
        rest, self._buffer = bytes(self._buffer), bytearray()
        return rest

    def _is_item(self, line: bytes) -> bool:
        return line.startswith(_SEPARATOR) if self.is_sequence else not line.isspace()

    def _line(self, line: bytes) -> bytes:
        if self._too_long:
            self._too_long = False
            return line
        if not self._is_item(line):
            return line
        number, self._number = self._number, self._number + 1
        if self.only is not None and self.only != str(number):
            return line
        text = line.decode("utf-8", "surrogateescape")
        before = _BEFORE.match(text)
        begin = before.end() if before else 0
        try:
            value = parse_spans(text[begin:])
        except (ValueError, RecursionError):
            self._over = self.only is not None
            return line
        if self.every is not None:
            return self._taken_out(value, number, line)
        value.step = number
        value.parent = JsonSpan(value.text, None, None, 0, 0, 0, [value])
        made, changed = self.change(value, self.count)
        self.count -= changed
        self._over = self.only is not None or not self.count
        self._report(change for piece in made for change in piece.changes)
        if not made:
            return line
        put = apply_replacements(value.text, made)
        return f"{text[:begin]}{put}".encode("utf-8", "surrogateescape") if put.strip() else b""

    def _taken_out(self, value: JsonSpan, number: int, line: bytes) -> bytes:
        if self.every and (number + 1) % self.every:
            return line
        self._report([ValueChange(f"/{number}", decode_scalar(value.raw), None)])
        return b""

    def _report(self, changes: Iterable[ValueChange]) -> None:
        for each in changes:
            if len(self.changes) < _MAX_REPORTED:
                self.changes.append(each.short())


def _lines(data: bytes) -> Iterator[bytes]:
    """Yield the lines with their line feeds."""
    at = 0
    while at < len(data):
        end = data.find(b"\n", at) + 1 or len(data)
        yield data[at:end]
        at = end
