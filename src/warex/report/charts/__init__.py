"""The figures of a report: from the table to SVG."""

from warex.analysis.run.load import Run
from warex.analysis.table.tabulate import Table
from warex.report.charts.conditions import delivery, delta, effort, recovery, reloads, success
from warex.report.charts.dose_response import dose
from warex.report.charts.sites import sites
from warex.report.charts.svg import Chart
from warex.report.charts.tradeoff import tradeoff


def charts(run: Run, table: Table) -> tuple[Chart, ...]:
    """Return every figure that has something to show, in the order of the report."""
    charts: list[Chart] = [success(run, table)]
    if any(row.delta for row in table.rows):
        charts.append(delta(run, table))
    charts.append(effort(run, table))
    if any(row.reloads for row in table.rows):
        charts.append(reloads(run, table))
    if any(row.cost_usd and row.success.n for row in table.rows):
        charts.append(tradeoff(run, table))
    if any(row.injection_recovery and row.injection_recovery.n for row in table.rows):
        charts.append(recovery(run, table))
    if doses := dose(run, table):
        charts.append(doses)
    if any(row.success.n for row in table.rows):
        charts.append(sites(run, table))
    if any(row.planned for row in table.rows):
        charts.append(delivery(run, table))
    return tuple(charts)
