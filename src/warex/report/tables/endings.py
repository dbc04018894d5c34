"""The table of endings, with the success under other rules for crashes."""

from typing import get_args

from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Rate
from warex.analysis.table.tabulate import Table
from warex.report.tables.columns import (
    Cell,
    Column,
    column,
    figure_column,
    number_cell,
    rate_cell,
    text_cell,
    text_column,
)
from warex.report.tables.sheet import Sheet, blocks
from warex.traces.outcome import Ending


def ending_sheet(run: Run, table: Table) -> Sheet:
    """Return the endings of trials, and the success under other rules for crashes."""
    ended = {name for one in table.endings for name, _ in one.counts}
    shown = [name for name in get_args(Ending.__value__) if name in ended]
    crashed = any(one.crashed or one.voided for one in table.endings)
    lines: dict[str, list[tuple[Cell, ...]]] = {agent: [] for agent in run.agents}
    for one in table.endings:
        counts = dict(one.counts)
        cells = [text_cell(one.condition), rate_cell(one.success)]
        cells += [number_cell(counts.get(name, 0)) for name in shown]
        if crashed:
            cells += [
                number_cell(one.voided),
                *map(rate_cell, (one.success_if_void, one.success_if_zero)),
            ]
        lines[one.agent].append(tuple(cells))
    return Sheet(
        "endings",
        "How trials ended",
        "Each scored trial by its ending. A crash of the harness after a fault counts 0; before"
        " any fault the attempt is void and run again.",
        (
            text_column("condition", "What was varied."),
            column(ConditionRow.success),
            *(
                Column(name.replace("_", " "), f"Trials that ended `{name}`.", (name,))
                for name in shown
            ),
            *(_OTHER_RULES if crashed else ()),
        ),
        blocks(lines),
    )


_OTHER_RULES = (
    Column("crashed before", "Trials with an attempt that crashed before any fault.", ("voided",)),
    figure_column(
        "success, crashes void",
        "Success if a crash of the harness were void in every case.",
        "success_if_void",
        Rate,
    ),
    figure_column(
        "success, crashes 0",
        "Success if a crash of the harness counted 0 in every case.",
        "success_if_zero",
        Rate,
    ),
)
