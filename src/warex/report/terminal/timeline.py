"""A trial's timeline for the terminal.

Rich's tables are too slow: they take half a millisecond per line, and a trial may have 100,000.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import batched

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style

from warex.analysis.inspection.timeline import TimelineEntry
from warex.text.escaping import escape_controls

_DIM, _BOLD = Style(dim=True), Style(bold=True)
_NARROWEST = 20
_AT_ONCE = 1000
"""Number of lines of plain text that are written together."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Entries in columns: line of the trace, second, kind, folded text."""

    moments: Sequence[TimelineEntry]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = [(f"[{m.seq}]", f"{m.t:.2f} s", m.kind) for m in self.moments]
        seq, second, kind = (max((len(row[n]) for row in rows), default=0) for n in range(3))
        indent = seq + second + kind + 6
        width = max(_NARROWEST, options.max_width - indent)
        lines = (
            (f"{row[0]:>{seq}}", f"  {row[1]:>{second}}  ", f"{row[2]:<{kind}}", words)
            for row, moment in zip(rows, self.moments, strict=True)
            for words in (_folded(moment.text, width, indent),)
        )
        if console.is_terminal:
            for number, at, what, words in lines:
                yield Segment(number, _DIM)
                yield Segment(at)
                yield Segment(what, _BOLD)
                yield Segment(f"  {words}\n")
            return
        for some in batched(lines, _AT_ONCE):
            text = "".join(f"{number}{at}{what}  {words}\n" for number, at, what, words in some)
            yield Segment(text)


def _folded(text: str, width: int, indent: int) -> str:
    """Return the text in lines of at most ``width`` cells; all but the first are indented."""
    text = escape_controls(text)
    plain = text.isascii()
    if plain and len(text) <= width and text.isprintable():
        return text
    parts: list[str] = []
    for line in text.expandtabs().splitlines():
        while (len(line) if plain else cell_len(line)) > width:
            fits = line[:width] if plain else chop_cells(line, width)[0]
            space = line.rfind(" ", 1, len(fits) + 1)
            end = space if space > 0 else _word_end(fits)
            parts.append(line[:end])
            line = line[end:].lstrip(" ")
        parts.append(line)
    return f"\n{' ' * indent}".join(parts)


def _word_end(line: str) -> int:
    """Return where to break a line without a space: after a part of a URL, if possible."""
    return max(line.rfind(mark) for mark in "/?&=-_.,:") + 1 or len(line)
