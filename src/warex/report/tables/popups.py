"""The table of popups: the shares of the paper's Table 2, and more."""

from typing import Final

from warex.analysis.table.tabulate import Table
from warex.report.tables.columns import Column, number_column, rate_column, text_column
from warex.report.tables.sheet import Sheet, sheet_of

_COLUMNS: Final[tuple[Column, ...]] = (
    text_column("condition", "What was varied."),
    number_column("success.n", "n", "Scored trials in which a popup was shown."),
    rate_column(
        "infeasible_start",
        "infeasible (start)",
        "Reported as infeasible, no popup followed (paper, Table 2).",
    ),
    rate_column(
        "infeasible_later",
        "infeasible (later)",
        "Reported as infeasible after a popup was followed (paper, Table 2).",
    ),
    rate_column(
        "followed",
        "malicious clicks",
        "Trials in which a popup was followed to its site (paper, Table 2).",
    ),
    rate_column("closed", "closed", "Trials in which a popup was closed."),
    rate_column(
        "typed",
        "data typed",
        "Trials in which something was typed into a field of the popup's site.",
    ),
    rate_column("recovery", "recovery", "Every popup closed, or the site of one left again."),
    rate_column("success", "success", "Tasks done in full."),
)


def popup_sheet(table: Table) -> Sheet:
    """Return how agents handled popups."""
    return sheet_of(
        "popups",
        "Popups",
        "Of scored trials in which a popup was shown. The three shares of the paper's Table 2 come"
        " first; the paper prefers that an agent reports the task as infeasible from the start.",
        _COLUMNS,
        table.popups,
    )
