"""The report of a run for the terminal."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from rich.console import Group, RenderableType
from rich.text import Text

from warex.analysis.metrics.metric import Metric, Screen
from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.table.conclusions import conclusions
from warex.analysis.table.tabulate import Table, tabulate
from warex.report.tables.attacks import attack_sheet
from warex.report.tables.columns import shown, text
from warex.report.tables.endings import ending_sheet
from warex.report.tables.overview import TEXTS, TITLES, overview_lines
from warex.report.tables.popups import popup_sheet
from warex.report.tables.sheet import Sheet
from warex.report.terminal.grid import DefinitionList, Grid, Heading
from warex.report.text.footnotes import baseline_notes, excluded_pairs, footnotes
from warex.report.text.overview import chosen_rows, summaries, warnings
from warex.text.english import count_noun

_SCREENS = tuple(get_args(Screen.__value__))
"""The tables, in their order."""
_BESIDE: Mapping[Screen, tuple[Metric[Any], ...]] = {
    "success": (),
    "delivery": (),
    "lies": (ConditionRow.success, ConditionRow.false_success),
}
"""The metrics before a table's own, if not success alone."""


def render_overview(run: Run, table: Table | None = None) -> RenderableType:
    """Return the overview of a run: warnings, summaries and a table."""
    table = table or tabulate(run)
    parts: list[RenderableType] = [Text(line, style="bold yellow") for line in warnings(run, table)]
    for summary in summaries(run, table):
        parts += [Text(summary.title, style="bold"), DefinitionList(summary.lines)]
    rows, more = chosen_rows(run, table)
    if any(row.n for row in rows):
        heads = tuple(Heading(title, place < TEXTS) for place, title in enumerate(TITLES))
        parts += [Text(), Grid(heads, tuple(overview_lines(rows)), keys=TEXTS)]
    notes = list(footnotes(run, table))
    if more:
        notes.append(
            f"{count_noun(more, 'more row is', 'more rows are')} in the tables (--full) and"
            " in the report."
        )
    return Group(*parts, *([Text()] if notes else []), *footnote_lines(notes))


def render_table(run: Run, table: Table | None = None) -> RenderableType:
    """Return the statistics of a run: conclusions, the proxy's effect, tables of each agent."""
    table = table or tabulate(run)
    parts: list[RenderableType] = [Text(line, style="bold") for line in conclusions(run, table)]
    parts += [Text(), *(Text(line) for line in baseline_notes(table))]
    for agent in run.agents:
        scripted = " (scripted)" if agent in run.scripted else ""
        parts += [Text(), Text(f"{agent}{scripted}", style="bold"), Text()]
        rows = table.of(agent)
        for screen in _SCREENS:
            if metrics := shown((m for m in METRICS if m.screen == screen), rows):
                parts += [_rows(rows, screen, metrics), Text()]
        for sheet in (popup_sheet, attack_sheet, ending_sheet):
            parts += _of_sheet(sheet(table), agent)
    return Group(*parts, *footnote_lines(excluded_pairs(table)))


def _of_sheet(sheet: Sheet, agent: str) -> Iterator[RenderableType]:
    """Yield an agent's lines of a table of the report, if any."""
    heads = tuple(Heading(column.title, column.is_text) for column in sheet.columns)
    for block in sheet.blocks:
        if block.agent == agent:
            yield Grid(heads, tuple(tuple(cell.text for cell in line) for line in block.lines))
            yield Text()


def footnote_lines(notes: Iterable[str]) -> list[RenderableType]:
    """Return footnotes for the terminal."""
    return [Text(f"* {line}", style="dim") for line in notes]


def _rows(rows: tuple[ConditionRow, ...], screen: Screen, metrics: tuple[Metric[Any], ...]) -> Grid:
    """Return a table of metrics, with success before most of them."""
    metrics = (*_BESIDE.get(screen, (ConditionRow.success,)), *metrics)
    # Only the first table has room for intervals.
    interval = screen == "success"
    return Grid(
        (Heading("condition", True), *(Heading(m.label, m.is_text) for m in metrics)),
        tuple((row.condition, *(text(m, row, interval=interval) for m in metrics)) for row in rows),
    )
