"""Several runs side by side on the terminal."""

from collections.abc import Sequence

from rich import box
from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from warex.analysis.table.tabulate import TabulatedRun
from warex.report.tables.paper import paper_sheet
from warex.report.terminal.run_report import footnote_lines
from warex.report.text.footnotes import shared_footnotes
from warex.report.text.overview import successes

_LONGEST = 22
"""Maximum characters of a name."""


def render_paper_table(runs: Sequence[TabulatedRun]) -> RenderableType:
    """Return the paper's Table 1 of these runs for the terminal."""
    sheet = paper_sheet(runs)
    lines = [line for block in sheet.blocks for line in block.lines]
    heads = [column.title if column.is_text else _broken(column.title) for column in sheet.columns]
    widths = [
        max(len(words) for words in (*head.split("\n"), *(line[place].text for line in lines)))
        for place, head in enumerate(heads)
    ]
    # Long names are folded, so that the table fits the terminal.
    widths[0] = min(widths[0], _LONGEST)
    parts: list[RenderableType] = []
    first = next((block for block in sheet.blocks if block.lines), None)
    for number, block in enumerate(sheet.blocks):
        # Above the grid, so that the name does not widen the first column.
        parts.append(Text(("\n" if number else "") + block.agent, style="bold italic"))
        if not block.lines:
            parts.append(Text("no trial counts"))
            continue
        grid = Grid(box=box.SIMPLE_HEAD, padding=0, show_edge=False, pad_edge=False)
        grid.show_header = block is first
        for head, column, width in zip(heads, sheet.columns, widths, strict=True):
            side: JustifyMethod = "left" if column.is_text else "right"
            grid.add_column(head, justify=side, width=width, overflow="fold")
        for line in block.lines:
            grid.add_row(*(Text(cell.text) for cell in line))
        parts.append(grid)
    return Group(*parts)


def _broken(title: str) -> str:
    """Return a column's title in the two narrowest lines."""
    words = title.replace("/", "/ ").split(" ")
    cuts = [(" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words))]
    return "\n".join(min(cuts, key=lambda lines: max(map(len, lines)), default=(title,)))


def render_runs(runs: Sequence[TabulatedRun]) -> RenderableType:
    """Return the success of each run, if there are several, and the paper's table of all."""
    parts: list[RenderableType] = []
    for run, table in runs if len(runs) > 1 else ():
        parts.append(Text(f"{run.name} ({run.path})", style="bold"))
        parts += [Text(line) for line in successes(run, table)]
        parts.append(Text())
    notes = footnote_lines(shared_footnotes(runs))
    return Group(*parts, render_paper_table(runs), *([Text()] if notes else []), *notes)
