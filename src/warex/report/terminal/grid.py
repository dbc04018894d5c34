"""Tables of text for a terminal of any width.

Figures are never broken. Long names are folded at word ends. Columns that do not fit move to
another part below, which repeats the names.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style

from warex.text.escaping import escape_controls

_WORD_ENDS = re.compile(r"(?<=[-_/+.,:;=&?@ ])(?=\S)")
_SPACES = re.compile(r"(?<= )(?=\S)")
_NAME = 24
"""Cells up to which a name is not folded if figures can move to another part."""


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a column, and whether it holds text (left) or figures (right)."""

    title: str
    is_text: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A table, whose first ``keys`` columns name a line and are repeated in every part."""

    heads: tuple[Heading, ...]
    rows: tuple[tuple[str, ...], ...]
    keys: int = 1
    styles: tuple[tuple[int, int, str], ...] = ()
    """Row, column and style of cells that are not plain."""
    titles: tuple[tuple[int, str], ...] = ()
    """Titles that span the width, each with the row that it is above."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        cells = tuple(tuple(map(escape_controls, row)) for row in self.rows)
        looks = {(row, column): Style.parse(look) for row, column, look in self.styles}
        for number, shown in enumerate(self._parts(cells, options.max_width)):
            if number:
                yield Segment("\n")
            yield from self._part(cells, looks, shown, options.max_width)

    def _parts(self, cells: Sequence[Sequence[str]], width: int) -> list[list[int]]:
        keys = list(range(self.keys))
        parts, part = [], list(keys)
        for column in range(self.keys, len(self.heads)):
            least = sum(self._narrowest(cells, place) for place in (*part, column)) + len(part)
            if len(part) > self.keys and least > width:
                parts.append(part)
                part = list(keys)
            part.append(column)
        return [*parts, part]

    def _narrowest(self, cells: Sequence[Sequence[str]], column: int) -> int:
        head = self.heads[column]
        title = max(map(cell_len, head.title.split()), default=0)
        wide = max((cell_len(row[column]) for row in cells), default=0)
        if head.is_text:
            words = (part for row in cells for part in _WORD_ENDS.split(row[column]))
            wide = max(
                min(wide, _NAME), max((cell_len(word.rstrip()) for word in words), default=0)
            )
        return max(title, wide)

    def _widths(self, cells: Sequence[Sequence[str]], shown: list[int], width: int) -> list[int]:
        """Return the widths: the minimum for each column, and the rest for names."""
        widths = [self._narrowest(cells, column) for column in shown]
        left = width - sum(widths) - len(shown) + 1
        for place, column in enumerate(shown):
            widest = max((cell_len(row[column]) for row in cells), default=0)
            if self.heads[column].is_text:
                more = max(0, min(left, widest - widths[place]))
                widths[place] += more
                left -= more
        # Titles are not folded if there is room.
        titled = [
            max(wide, cell_len(self.heads[column].title))
            for wide, column in zip(widths, shown, strict=True)
        ]
        if sum(titled) + 2 * (len(shown) - 1) <= width:
            return titled
        # Only a name with a very long word can be narrower than its minimum.
        for place, column in enumerate(shown):
            over = sum(widths) + len(shown) - 1 - width
            if over > 0 and self.heads[column].is_text:
                widths[place] = max(8, widths[place] - over)
        return widths

    def _part(
        self,
        cells: Sequence[Sequence[str]],
        looks: dict[tuple[int, int], Style],
        shown: list[int],
        width: int,
    ) -> RenderResult:
        widths = self._widths(cells, shown, width)
        gap = " " * (2 if sum(widths) + 2 * (len(shown) - 1) <= width else 1)
        titles = [
            wrap(self.heads[column].title, wide) for column, wide in zip(shown, widths, strict=True)
        ]
        tall = max(map(len, titles))
        bold = dict.fromkeys(range(len(shown)), Style(bold=True))
        raised = [[""] * (tall - len(lines)) + lines for lines in titles]
        yield from self._lines(shown, widths, gap, raised, bold)
        yield Segment("─" * (sum(widths) + len(gap) * (len(shown) - 1)) + "\n")
        spanning = dict(self.titles)
        for number, row in enumerate(cells):
            if number in spanning:
                title = "\n".join(wrap(escape_controls(spanning[number]), width))
                yield Segment("\n" if number else "")
                yield Segment(f"{title}\n", Style(bold=True, italic=True))
            lines = [wrap(row[column], wide) for column, wide in zip(shown, widths, strict=True)]
            here = {
                place: looks[number, column]
                for place, column in enumerate(shown)
                if (number, column) in looks
            }
            yield from self._lines(shown, widths, gap, lines, here)

    def _lines(
        self,
        shown: list[int],
        widths: list[int],
        gap: str,
        cells: Sequence[list[str]],
        looks: dict[int, Style],
    ) -> RenderResult:
        for at in range(max(map(len, cells))):
            line: list[Segment] = []
            for place, (column, wide, words) in enumerate(zip(shown, widths, cells, strict=True)):
                text = words[at] if at < len(words) else ""
                space = " " * max(0, wide - cell_len(text))
                text = text + space if self.heads[column].is_text else space + text
                line.append(Segment((gap if place else "") + text, looks.get(place)))
            last = line[-1]
            line[-1] = Segment(last.text.rstrip(" "), last.style)
            yield from line
            yield Segment("\n")


def wrap(text: str, width: int, *, at_spaces: bool = False) -> list[str]:
    """Return a text in lines of at most ``width`` cells, broken at word ends.

    A word ends at a space and after ``- _ / + . , : ; = & ? @``; with ``at_spaces``, only at a
    space unless it is longer than a line. A word that is still too long is broken anywhere.
    """
    lines: list[str] = []
    line = ""
    for piece in _pieces(text, width) if at_spaces else _WORD_ENDS.split(text):
        if cell_len((line + piece).rstrip()) <= width:
            line += piece
            continue
        if line:
            lines.append(line.rstrip())
        *full, line = chop_cells(piece, width) if cell_len(piece.rstrip()) > width else [piece]
        lines += full
    return [*lines, line.rstrip()]


def _pieces(text: str, width: int) -> Iterator[str]:
    for word in _SPACES.split(text):
        yield from (word,) if cell_len(word.rstrip()) <= width else _WORD_ENDS.split(word)


@dataclass(frozen=True, slots=True)
class DefinitionList:
    """Labels, each with a folded and indented text."""

    lines: tuple[tuple[str, str], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = max((cell_len(label) for label, _ in self.lines), default=0)
        for label, words in self.lines:
            room = max(_NAME, options.max_width - wide - 4)
            for number, line in enumerate(wrap(escape_controls(words), room, at_spaces=True)):
                yield Segment(f"  {label if number == 0 else '':<{wide}}  ", Style(dim=True))
                yield Segment(f"{line}\n")
