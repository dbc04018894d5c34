"""How often agents reload, under each condition: the paper's Figure 5."""

from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.table.tabulate import Table
from warex.report.charts.bars import Axis, ChartRow, bars
from warex.report.charts.styles import ConditionStyle, groups
from warex.report.charts.svg import Chart
from warex.text.english import count_noun


def reloads(run: Run, table: Table) -> Chart:
    """Draw the reloads of each agent; rows without traces are left out."""
    most = max((row.reloads or 0 for row in table.rows), default=0)
    axis = Axis("actions that reload or ask again, over all trials", 0, max(4, most), "{:g}".format)
    return bars("reloads", "Reloads", groups(run, table, _entry), axis)


def _entry(row: ConditionRow, look: ConditionStyle) -> ChartRow | None:
    if row.reloads is None:
        return None
    words = f"{row.reloads} in {count_noun(row.n, 'trial')}"
    return ChartRow(row.condition, row.reloads, words, None, look.hue, look.hatched)
