"""Several runs side by side on the terminal."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from warex.analysis.table.tabulate import TabulatedRun
from warex.report.tables.paper import paper_sheet
from warex.report.terminal.grid import Grid, Heading
from warex.report.terminal.run_report import footnote_lines
from warex.report.text.footnotes import shared_footnotes
from warex.report.text.overview import successes


def render_paper_table(runs: Sequence[TabulatedRun]) -> Grid:
    """Return the paper's Table 1 of these runs for the terminal."""
    sheet = paper_sheet(runs)
    nothing = ("no trial counts", *("" for _ in sheet.columns[1:]))
    rows: list[tuple[str, ...]] = []
    titles = []
    for block in sheet.blocks:
        titles.append((len(rows), block.agent))
        rows += [tuple(cell.text for cell in line) for line in block.lines] or [nothing]
    heads = tuple(Heading(column.title, column.is_text) for column in sheet.columns)
    return Grid(heads, tuple(rows), titles=tuple(titles))


def render_runs(runs: Sequence[TabulatedRun]) -> RenderableType:
    """Return the success of each run, if there are several, and the paper's table of all."""
    parts: list[RenderableType] = []
    for run, table in runs if len(runs) > 1 else ():
        parts.append(Text(f"{run.name} ({run.path})", style="bold"))
        parts += [Text(line) for line in successes(run, table)]
        parts.append(Text())
    notes = footnote_lines(shared_footnotes(runs))
    return Group(*parts, render_paper_table(runs), *([Text()] if notes else []), *notes)
