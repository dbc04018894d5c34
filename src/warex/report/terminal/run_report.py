"""The report of a run for the terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from rich.console import Group, RenderableType
from rich.text import Text

from warex.analysis.metrics.metric import Metric, Screen
from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.table.conclusions import conclusions
from warex.analysis.table.tabulate import Table, tabulate
from warex.report.tables.attacks import attack_sheet
from warex.report.tables.columns import CONDITION, Column, column, shown
from warex.report.tables.endings import ending_sheet
from warex.report.tables.overview import OVERVIEW
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
        parts += [Text(), _grid(OVERVIEW, rows, keys=2)]
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
    sheets = popup_sheet(table), attack_sheet(table), ending_sheet(table)
    for agent in run.agents:
        scripted = " (scripted)" if agent in run.scripted else ""
        parts += [Text(), Text(f"{agent}{scripted}", style="bold"), Text()]
        rows = table.of(agent)
        for screen in _SCREENS:
            if metrics := shown((m for m in METRICS if m.screen == screen), rows):
                parts += [_screen(rows, screen, metrics), Text()]
        for sheet in sheets:
            parts += _of_sheet(sheet, agent)
    return Group(*parts, *footnote_lines(excluded_pairs(table)))


def _of_sheet(sheet: Sheet, agent: str) -> Iterator[RenderableType]:
    """Yield an agent's lines of a table of the report, if any."""
    for block in sheet.blocks:
        if block.agent == agent:
            yield Grid(
                _heads(sheet.columns), tuple(tuple(c.text for c in it) for it in block.lines)
            )
            yield Text()


def _screen(rows: Sequence[ConditionRow], screen: Screen, metrics: Sequence[Metric[Any]]) -> Grid:
    """Return a table of metrics, with success before most of them."""
    metrics = (*_BESIDE.get(screen, (ConditionRow.success,)), *metrics)
    # Only the first table has room for intervals.
    columns = (column(metric, interval=screen == "success") for metric in metrics)
    return _grid((CONDITION, *columns), rows)


def _grid(columns: Sequence[Column], rows: Iterable[ConditionRow], keys: int = 1) -> Grid:
    lines = (tuple(column.cell(row).text for column in columns) for row in rows)
    return Grid(_heads(columns), tuple(lines), keys)


def _heads(columns: Iterable[Column]) -> tuple[Heading, ...]:
    return tuple(Heading(column.title, column.is_text) for column in columns)


def footnote_lines(notes: Iterable[str]) -> list[RenderableType]:
    """Return footnotes for the terminal."""
    return [Text(f"* {line}", style="dim") for line in notes]
