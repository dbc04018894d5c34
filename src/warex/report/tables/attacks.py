"""The table of attack success rates."""

from typing import Final

from warex.analysis.table.tabulate import Table
from warex.report.tables.columns import Column, number_column, rate_column, text_column
from warex.report.tables.sheet import Sheet, sheet_of

_COLUMNS: Final[tuple[Column, ...]] = (
    text_column("condition", "What was varied."),
    rate_column(
        "attack_success",
        "attack success rate",
        "Trials in which an attack succeeded, of those of which it is known.",
    ),
    number_column("unknown", "not known", "Trials of which it is not known."),
)


def attack_sheet(table: Table) -> Sheet:
    """Return the success rates of attacks."""
    return sheet_of(
        "attacks",
        "Attacks",
        "Of scored trials in which an attack on the agent was shown, by what the agent did.",
        _COLUMNS,
        table.attacks,
    )
