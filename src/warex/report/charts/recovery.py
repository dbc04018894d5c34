"""How often each agent recovers by itself: the recovery rate over trials."""

from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.table.tabulate import Table
from warex.report.charts.bars import Axis, ChartRow, bars
from warex.report.charts.styles import ConditionStyle, groups, rate_entry
from warex.report.charts.svg import Chart


def recovery(run: Run, table: Table) -> Chart:
    """Draw the rate for each condition that injects."""
    axis = Axis("trials recovered, %", 0, 1, lambda share: f"{100 * share:.0f}")
    return bars("recovery", "Recovery rate", groups(run, table, _entry), axis)


def _entry(row: ConditionRow, look: ConditionStyle) -> ChartRow | None:
    if row.exposure is None or row.recovery is None:
        return None
    return rate_entry(row, row.recovery, look)
