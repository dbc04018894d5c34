"""Success under each condition, with its interval."""

from dataclasses import replace

from warex.analysis.run.load import Run
from warex.analysis.table.tabulate import Table
from warex.report.charts.bars import Axis, whiskers
from warex.report.charts.styles import groups, rate_entry
from warex.report.charts.svg import Chart
from warex.traces import CLEAN

PERCENT = Axis("success, %", 0, 1, lambda share: f"{100 * share:.0f}")


def success(run: Run, table: Table) -> Chart:
    """Draw each condition's rate as a mark; a dashed line stands at ``clean``."""
    clean = {row.agent: row.success.value for row in table.rows if row.condition == CLEAN}
    made = groups(run, table, lambda row, look: rate_entry(row, row.success, look))
    lined = [replace(group, line_at=clean.get(group.name)) for group in made]
    return whiskers("success", "Success with 95 % interval", lined, PERCENT)
