"""The table of attack success rates."""

from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Rate
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


def attack_sheet(run: Run, table: Table) -> Sheet:
    """Return the success rates of attacks."""
    lines: dict[str, list[tuple[Cell, ...]]] = {agent: [] for agent in run.agents}
    for one in table.attacks:
        cells = (text_cell(one.condition), rate_cell(one.attack_success), number_cell(one.unknown))
        lines[one.agent].append(cells)
    return Sheet(
        "attacks",
        "Attacks",
        "Of scored trials in which an attack on the agent was shown, by what the agent did.",
        (
            text_column("condition", "What was varied."),
            figure_column(
                "attack success rate",
                "Trials in which an attack succeeded, of those of which it is known.",
                "attack_success",
                Rate,
            ),
            Column("not known", "Trials of which it is not known.", ("unknown",)),
        ),
        blocks(lines),
    )
