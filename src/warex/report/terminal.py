"""Tables for the terminal."""

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.text import Text

from warex.analysis.run import Run
from warex.analysis.table import Row, Table, tabulate
from warex.analysis.verdict import verdict
from warex.report.attacks import attack_sheet
from warex.report.columns import RowColumn, columns
from warex.report.endings import ending_sheet
from warex.report.figures import mean as written
from warex.report.figures import rate, usd
from warex.report.grid import Entries, Grid, Head
from warex.report.notes import footnotes, instrument, left_out
from warex.report.overview import chosen_rows, lost, summaries, warnings
from warex.report.popups import popup_sheet
from warex.report.sheet import Sheet
from warex.visible import counted

# Cost never stands without success beside it.
_SPEED = ("condition", "success", "first token", "tokens/s")
"""Shown of an agent whose model streams its answers."""
_LIES = ("condition", "success", "false success", "lies")
"""Shown of an agent that was given answers that were not true."""
_PARTS = (
    ("condition", "n", "success", "Δ clean", "adj. p"),
    ("condition", "success", "RR", "RR per injection", "price"),
    ("condition", "success", "detected", "false success", "reloads", "duplicated writes"),
    ("condition", "success", "latency", "LLM calls", "steps", "tokens in", "tokens out", "cost"),
    _SPEED,
    _LIES,
    ("condition", "exposure", "planned", "delivered", "missed", "voids"),
)


def render_overview(run: Run, table: Table | None = None) -> RenderableType:
    """Return what a run says on one screen: warnings, a sentence for each question, a table."""
    table = table or tabulate(run)
    parts: list[RenderableType] = [Text(line, style="bold yellow") for line in warnings(run, table)]
    for summary in summaries(run, table):
        parts += [_named(summary.title), Entries(summary.lines)]
    rows, more = chosen_rows(run, table)
    if any(row.n for row in rows):
        parts += [Text(), _first_table(rows)]
    notes = list(footnotes(run, table))
    if more:
        notes.append(
            f"{counted(more, 'more row is', 'more rows are')} in the tables (--full) and"
            " in the report."
        )
    return Group(*parts, *([Text()] if notes else []), *_footnotes(notes))


def _first_table(rows: tuple[Row, ...]) -> Grid:
    figures = ("success", "tasks lost", "recovered", "LLM calls", "cost")
    heads = (Head("agent", True), Head("condition", True), *map(Head, figures))
    cells = tuple(
        (
            row.agent,
            row.condition,
            rate(row.success),
            lost(row),
            rate(row.recovery),
            written(row.llm_calls),
            usd(row.usd, row.as_if),
        )
        for row in rows
    )
    return Grid(heads, cells, keys=2)


def render_table(run: Run, table: Table | None = None) -> RenderableType:
    """Return the statistics of a run: the verdict, the proxy's own effect, tables of each agent."""
    table = table or tabulate(run)
    parts: list[RenderableType] = [Text(line, style="bold") for line in verdict(run, table)]
    parts += [Text(), *(Text(line) for line in instrument(table))]
    for agent in run.agents:
        scripted = " (scripted)" if agent in run.scripted else ""
        parts += [Text(), _named(f"{agent}{scripted}"), Text()]
        rows = table.of(agent)
        unasked: dict[tuple[str, ...], bool] = {
            _SPEED: all(row.first_token_s is None for row in rows),
            _LIES: not any(row.lies for row in rows),
        }
        for titles in _PARTS:
            if not unasked.get(titles):
                parts += [_rows(rows, columns(*titles)), Text()]
        parts += _of_sheet(popup_sheet(run, table), agent)
        parts += _of_sheet(attack_sheet(run, table), agent)
        parts += _of_sheet(ending_sheet(run, table), agent)
    return Group(*parts, *_footnotes(left_out(table)))


def _of_sheet(sheet: Sheet, agent: str) -> list[RenderableType]:
    """Return an agent's lines of a table of the report; nothing if it has none."""
    heads = tuple(Head(column.title, column.is_text) for column in sheet.columns)
    return [
        part
        for block in sheet.blocks
        if block.agent == agent
        for part in (
            Grid(heads, tuple(tuple(cell.text for cell in line) for line in block.lines)),
            Text(),
        )
    ]


def _named(agent: str) -> Text:
    return Text(agent, style="bold")


def _footnotes(notes: Iterable[str]) -> list[RenderableType]:
    return [Text(f"* {line}", style="dim") for line in notes]


def _rows(rows: tuple[Row, ...], shown: tuple[RowColumn, ...]) -> Grid:
    return Grid(
        tuple(Head(column.title, column.is_text) for column in shown),
        tuple(tuple(_short(column, row, shown) for column in shown) for row in rows),
    )


def _short(column: RowColumn, row: Row, shown: tuple[RowColumn, ...]) -> str:
    """Return a cell; success beside effort goes without its interval, which stands above."""
    words = column.fill(row).text
    return words if columns("n")[0] in shown else words.partition(" [")[0]
