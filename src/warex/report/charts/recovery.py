"""How often each agent recovers by itself: RR, the recovery rate over trials."""

from warex.analysis.run import Run
from warex.analysis.table import Row, Table
from warex.report import figures
from warex.report.charts.looks import Look, groups
from warex.report.charts.rows import Axis, Entry, bars
from warex.report.svg import Chart


def recovery(run: Run, table: Table) -> Chart:
    """Draw RR for each condition that injects."""
    axis = Axis("trials recovered, %", 0, 1, lambda share: f"{100 * share:.0f}")
    return bars("recovery", "Recovery rate", groups(run, table, _entry), axis)


def _entry(row: Row, look: Look) -> Entry | None:
    rate = row.recovery
    if row.exposure is None or rate is None:
        return None
    return Entry(
        row.condition,
        rate.value,
        figures.success(rate, interval=False),
        rate.interval if rate.n else None,
        look.hue,
        look.hatched,
    )
