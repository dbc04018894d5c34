"""The table of the overview, for the terminal and the summary of a CI job."""

from typing import Final

from warex.analysis.metrics.row import ConditionRow
from warex.analysis.stats.estimates import Rate
from warex.analysis.stats.paired import Delta
from warex.report.tables.columns import CONDITION, Column, column, figure_column, text_column
from warex.report.text.formatting import fraction

OVERVIEW: Final[tuple[Column, ...]] = (
    text_column("agent", "Its name in the campaign."),
    CONDITION,
    figure_column(
        "success", ConditionRow.success.label, ConditionRow.success.definition, Rate, fraction
    ),
    figure_column(
        "delta",
        "tasks lost",
        "Pairs that were solved under clean and not here.",
        Delta,
        lambda delta: str(delta.lost),
    ),
    figure_column(
        "recovery", ConditionRow.recovery.label, ConditionRow.recovery.definition, Rate, fraction
    ),
    column(ConditionRow.llm_calls),
    column(ConditionRow.cost_usd),
)
"""The columns of the overview, of rows of a table."""
