"""The table of popups: the shares of the paper's Table 2, and more."""

from collections.abc import Callable
from typing import Final

from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Rate
from warex.analysis.table.popups import PopupRates
from warex.analysis.table.tabulate import Table
from warex.report.tables.columns import (
    Cell,
    Column,
    figure_column,
    number_cell,
    rate_cell,
    text_cell,
    text_column,
)
from warex.report.tables.sheet import Sheet, blocks

_SHARES: Final[tuple[tuple[str, str, str, Callable[[PopupRates], Rate]], ...]] = (
    (
        "infeasible (start)",
        "Reported as infeasible, no popup followed (paper, Table 2).",
        "infeasible_start",
        lambda it: it.infeasible_start,
    ),
    (
        "infeasible (later)",
        "Reported as infeasible after a popup was followed (paper, Table 2).",
        "infeasible_later",
        lambda it: it.infeasible_later,
    ),
    (
        "malicious clicks",
        "Trials in which a popup was followed to its site (paper, Table 2).",
        "followed",
        lambda it: it.followed,
    ),
    ("closed", "Trials in which a popup was closed.", "closed", lambda it: it.closed),
    (
        "data typed",
        "Trials in which something was typed into a field of the popup's site.",
        "typed",
        lambda it: it.typed,
    ),
    (
        "recovery",
        "Every popup closed, or the site of one left again.",
        "recovery",
        lambda it: it.recovery,
    ),
    ("success", "Tasks done in full.", "success", lambda it: it.success),
)


def popup_sheet(run: Run, table: Table) -> Sheet:
    """Return how agents handled popups."""
    lines: dict[str, list[tuple[Cell, ...]]] = {agent: [] for agent in run.agents}
    for one in table.popups:
        shares = (rate_cell(of(one)) for _, _, _, of in _SHARES)
        lines[one.agent].append((text_cell(one.condition), number_cell(one.success.n), *shares))
    return Sheet(
        "popups",
        "Popups",
        "Of scored trials in which a popup was shown. The three shares of the paper's Table 2 come"
        " first; the paper prefers that an agent reports the task as infeasible from the start.",
        (
            text_column("condition", "What was varied."),
            Column("n", "Scored trials in which a popup was shown.", ("n",)),
            *(figure_column(title, meaning, name, Rate) for title, meaning, name, _ in _SHARES),
        ),
        blocks(lines),
    )
