"""What was planned and what was delivered, under each condition."""

from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.table.tabulate import Table
from warex.report.charts.bars import Axis, ChartRow, bars
from warex.report.charts.styles import ConditionStyle, groups
from warex.report.charts.svg import Chart


def delivery(run: Run, table: Table) -> Chart:
    """Draw a bar of all planned injections: full what was delivered, hatched what was missed."""
    most = max((row.planned or 0 for row in table.rows), default=0)
    axis = Axis("injections", 0, max(1, most), lambda value: f"{value:g}")
    return bars("delivery", "Planned and delivered", groups(run, table, _entry), axis)


def _entry(row: ConditionRow, look: ConditionStyle) -> ChartRow | None:
    if row.exposure is None or row.planned is None or row.delivered is None:
        return None
    return ChartRow(
        row.condition,
        row.delivered,
        f"{row.delivered} of {row.planned}",
        None,
        look.hue,
        total=row.planned,
    )
