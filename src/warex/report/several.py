"""One report over several runs: what each says, and the paper's table of them all."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from rich import box
from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from warex.analysis.run import Run
from warex.analysis.table import Table
from warex.report.colours import DARK, HEATS, LIGHT, variables
from warex.report.exports import export_together
from warex.report.html import REPORT
from warex.report.notes import footnotes, left_out
from warex.report.overview import summaries, warnings
from warex.report.paper_table import paper_sheet
from warex.report.sheet import Sheet
from warex.traces.files import write_whole
from warex.visible import counted, visible

type Told = tuple[Run, Table]

_LONGEST = 22
"""Characters of a name in the terminal's table."""


def render_paper_table(told: Sequence[Told]) -> RenderableType:
    """Return the paper's Table 1 of these runs for the terminal."""
    sheet = paper_sheet(told)
    lines = [line for block in sheet.blocks for line in block.lines]
    heads = [column.title if column.is_text else _broken(column.title) for column in sheet.columns]
    widths = [
        max(len(words) for words in (*head.split("\n"), *(line[place].text for line in lines)))
        for place, head in enumerate(heads)
    ]
    # A name that is longer than the paper's goes on below, so that all of it fits a terminal.
    widths[0] = min(widths[0], _LONGEST)
    parts: list[RenderableType] = []
    first = next((block for block in sheet.blocks if block.lines), None)
    for number, block in enumerate(sheet.blocks):
        # Above its lines and not among them: the name must not widen the first column.
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
    """Return a column's title in the two lines that take the least width."""
    words = title.replace("/", "/ ").split(" ")
    cuts = [(" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words))]
    return "\n".join(min(cuts, key=lambda lines: max(map(len, lines)), default=(title,)))


def render_several(told: Sequence[Told]) -> RenderableType:
    """Return what each run says first, where there are several, and the paper's table of all."""
    parts: list[RenderableType] = []
    for run, table in told if len(told) > 1 else ():
        parts.append(Text(f"{run.name} ({run.path})", style="bold"))
        parts += [Text(line) for line in _said(run, table)]
        parts.append(Text())
    return Group(*parts, render_paper_table(told), *_notes(told))


def _said(run: Run, table: Table) -> list[str]:
    """Return what a run says on its own first screen, a sentence for each agent."""
    found = (
        f"{summary.title}: {dict(summary.lines)['success']}" for summary in summaries(run, table)
    )
    return [*warnings(run, table), *found]


def _notes(told: Sequence[Told]) -> Iterator[Text]:
    lines = _footnotes(told)
    if lines:
        yield Text()
    for line in lines:
        yield Text(f"* {line}", style="dim")


def _footnotes(told: Sequence[Told]) -> list[str]:
    """Return what must be known of each run, a sentence of several runs once."""
    lines = (line for run, table in told for line in (*footnotes(run, table), *left_out(table)))
    return list(dict.fromkeys(lines))


def write_several(told: Sequence[Told], folder: Path) -> tuple[Path, ...]:
    """Write the page of several runs and the paper's table into ``folder``; return the files.

    Raises InputError if the folder is a file, and MachineError when the disk refuses.
    """
    tables = export_together(told, folder)
    page = folder / REPORT
    write_whole(page, _html(told, folder).encode("utf-8", "replace"))
    return (page, *tables)


def _html(told: Sequence[Told], folder: Path) -> str:
    pages = Environment(
        loader=PackageLoader("warex.report", "."), autoescape=True, undefined=StrictUndefined
    )
    sheet: Sheet = paper_sheet(told)
    words = pages.get_template("several.html").render(
        light=variables(LIGHT),
        dark=variables(DARK),
        extent=counted(len(told), "run"),
        runs=[
            {
                "name": run.name,
                "href": quote(os.path.relpath(run.path / REPORT, folder)),
                "verdict": _said(run, table),
            }
            for run, table in told
        ],
        sheet=sheet,
        footnotes=_footnotes(told),
        heats=HEATS,
    )
    return visible(words)
