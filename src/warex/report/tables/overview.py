"""The table of the overview, for the terminal and the summary of a CI job."""

from collections.abc import Iterable
from typing import Final

from warex.analysis.metrics.row import ConditionRow
from warex.report.tables.columns import text
from warex.report.text.formatting import UNKNOWN, fraction

_MEANS: Final = (ConditionRow.llm_calls, ConditionRow.cost_usd)

TITLES: Final = (
    *("agent", "condition", ConditionRow.success.label, "tasks lost", ConditionRow.recovery.label),
    *(metric.label for metric in _MEANS),
)
"""The titles of its columns."""
TEXTS: Final = 2
"""How many of the first columns are text."""


def overview_lines(rows: Iterable[ConditionRow]) -> list[tuple[str, ...]]:
    """Return a line for each row: success and recovery as fractions, and what a trial takes.

    A lost task is a pair that was solved under ``clean`` and not here.
    """
    return [
        (
            *(row.agent, row.condition, fraction(row.success)),
            UNKNOWN if row.delta is None else str(row.delta.lost),
            fraction(row.recovery),
            *(text(metric, row) for metric in _MEANS),
        )
        for row in rows
    ]
