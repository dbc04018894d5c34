"""What was planned and what was delivered, under each condition."""

from warex.analysis.run import Run
from warex.analysis.table import Row, Table
from warex.report.charts.looks import Look, groups
from warex.report.charts.rows import Axis, Entry, bars
from warex.report.svg import Chart


def delivery(run: Run, table: Table) -> Chart:
    """Draw a bar of all planned injections: full what was delivered, hatched what was missed."""
    most = max((row.ledger.planned for row in table.rows if row.ledger), default=0)
    axis = Axis("injections", 0, max(1, most), lambda value: f"{value:g}")
    return bars("delivery", "Planned and delivered", groups(run, table, _entry), axis)


def _entry(row: Row, look: Look) -> Entry | None:
    told = row.ledger
    if row.exposure is None or told is None:
        return None
    return Entry(
        row.condition,
        told.delivered,
        f"{told.delivered} of {told.planned}",
        None,
        look.hue,
        whole=told.planned,
    )
