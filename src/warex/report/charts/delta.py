"""Δ of each condition against ``clean``, with the noise floor."""

from dataclasses import replace

from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.stats.paired import describe_p
from warex.analysis.table.tabulate import Table
from warex.report.charts.bars import Axis, ChartRow, whiskers
from warex.report.charts.styles import ConditionStyle, groups
from warex.report.charts.svg import Chart
from warex.report.text import formatting


def delta(run: Run, table: Table) -> Chart:
    """Draw each condition's Δ; the band is the noise floor."""
    floors = dict(table.noise_floor)
    made = []
    for group in groups(run, table, _entry):
        floor = floors.get(group.name)
        made.append(replace(group, band=floor.delta.interval if floor else None))
    ends = [
        end
        for group in made
        for entry in group.entries
        for end in (entry.value or 0.0, *(entry.interval or ()))
    ]
    axis = Axis(
        "Δ success against clean, percentage points",
        min([0.0, *ends]),
        max([0.0, *ends]),
        lambda share: f"{100 * share:+.0f}" if share else "0",
    )
    return whiskers("delta", "Δ against clean with 95 % interval", made, axis)


def _entry(row: ConditionRow, look: ConditionStyle) -> ChartRow | None:
    if row.delta is None:
        return None
    p = row.delta.adjusted_p
    told = formatting.delta(row.delta, interval=False) + (
        f", {describe_p(p)}" if p is not None else ""
    )
    return ChartRow(
        row.condition, row.delta.value, told, row.delta.interval, look.hue, look.hatched
    )
