"""What each condition takes from an agent: Δ against ``clean``, with the noise floor behind."""

from dataclasses import replace

from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.table.tabulate import Table
from warex.report.charts.bars import Axis, ChartRow, whiskers
from warex.report.charts.styles import ConditionStyle, groups
from warex.report.charts.svg import Chart
from warex.report.text import formatting


def delta(run: Run, table: Table) -> Chart:
    """Draw each condition's Δ; the band is what differs between clean and clean."""
    floors = dict(table.noise_floor)
    made = []
    for group in groups(run, table, _entry):
        floor = floors.get(group.name)
        band = floor.delta.interval if floor else None
        made.append(replace(group, band=band))
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
    p = row.delta.p if row.delta.p_holm is None else row.delta.p_holm
    told = formatting.delta(row.delta, interval=False)
    if p is not None:
        told += f", p {formatting.p(p)}" if p < 0.001 else f", p = {formatting.p(p)}"
    return ChartRow(
        row.condition, row.delta.value, told, row.delta.interval, look.hue, look.hatched
    )
