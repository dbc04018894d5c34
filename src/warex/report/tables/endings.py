"""The table of endings, with the success under other rules for crashes."""

from typing import Final, get_args

from warex.analysis.metrics.row import ConditionRow
from warex.analysis.table.endings import Endings
from warex.analysis.table.tabulate import Table
from warex.report.tables.columns import (
    Cell,
    Column,
    number_cell,
    number_column,
    rate_column,
    text_column,
)
from warex.report.tables.sheet import Sheet, sheet_of
from warex.traces.outcome import Ending

_FIRST: Final[tuple[Column, ...]] = (
    text_column("condition", "What was varied."),
    rate_column("success", ConditionRow.success.label, ConditionRow.success.definition),
)
_OTHER_RULES: Final[tuple[Column, ...]] = (
    number_column(
        "voided", "crashed before", "Trials with an attempt that crashed before any fault."
    ),
    rate_column(
        "success_if_void",
        "success, crashes void",
        "Success if a crash of the harness were void in every case.",
    ),
    rate_column(
        "success_if_zero",
        "success, crashes 0",
        "Success if a crash of the harness counted 0 in every case.",
    ),
)


def ending_sheet(table: Table) -> Sheet:
    """Return the endings of trials, and the success under other rules for crashes."""
    ended = {name for one in table.endings for name, _ in one.counts}
    shown = (_count_column(name) for name in get_args(Ending.__value__) if name in ended)
    crashed = any(one.crashed or one.voided for one in table.endings)
    return sheet_of(
        "endings",
        "How trials ended",
        "Each scored trial by its ending. A crash of the harness after a fault counts 0; before"
        " any fault the attempt is void and run again.",
        (*_FIRST, *shown, *(_OTHER_RULES if crashed else ())),
        table.endings,
    )


def _count_column(ending: Ending) -> Column:
    def cell(of: Endings) -> Cell:
        return number_cell(dict(of.counts).get(ending, 0))

    return Column(ending.replace("_", " "), f"Trials that ended `{ending}`.", (ending,), cell)
