"""The figures of a report, one file each: from the table to SVG, nothing drawn twice."""

from warex.analysis.run.load import Run
from warex.analysis.table.tabulate import Table
from warex.report.charts.delivery import delivery
from warex.report.charts.delta import delta
from warex.report.charts.dose_response import dose
from warex.report.charts.effort import effort
from warex.report.charts.recovery import recovery
from warex.report.charts.reloads import reloads
from warex.report.charts.sites import sites
from warex.report.charts.success import success
from warex.report.charts.svg import Chart
from warex.report.charts.tradeoff import tradeoff


def charts(run: Run, table: Table) -> tuple[Chart, ...]:
    """Return every figure that has something to show, in the order of the report."""
    found: list[Chart] = [success(run, table)]
    if any(row.delta for row in table.rows):
        found.append(delta(run, table))
    found.append(effort(run, table))
    if any(row.reloads for row in table.rows):
        found.append(reloads(run, table))
    if any(row.cost_usd and row.success.n for row in table.rows):
        found.append(tradeoff(run, table))
    if any(row.injection_recovery and row.injection_recovery.n for row in table.rows):
        found.append(recovery(run, table))
    if doses := dose(run, table):
        found.append(doses)
    if any(row.success.n for row in table.rows):
        found.append(sites(run, table))
    if any(row.planned for row in table.rows):
        found.append(delivery(run, table))
    return tuple(found)
