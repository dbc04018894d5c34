"""Figures with a row for each condition: success, Δ, recovery, reloads, delivery."""

from dataclasses import replace

from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.stats.paired import describe_p
from warex.analysis.table.tabulate import Table
from warex.report.charts.bars import Axis, ChartRow, bars, ends, whiskers
from warex.report.charts.styles import ConditionStyle, groups, rate_entry
from warex.report.charts.svg import Chart
from warex.report.text import formatting
from warex.text.english import count_noun
from warex.traces import CLEAN

PERCENT = Axis("success, %", 0, 1, lambda share: f"{100 * share:.0f}")


def success(run: Run, table: Table) -> Chart:
    """Draw each condition's rate as a mark; a dashed line is at ``clean``."""
    clean = {row.agent: row.success.value for row in table.rows if row.condition == CLEAN}
    made = groups(run, table, lambda row, style: rate_entry(row, row.success, style))
    lined = [replace(group, line_at=clean.get(group.name)) for group in made]
    return whiskers("success", "Success with 95 % interval", lined, PERCENT)


def delta(run: Run, table: Table) -> Chart:
    """Draw each condition's Δ against ``clean``; the band is the noise floor."""

    def entry(row: ConditionRow, style: ConditionStyle) -> ChartRow | None:
        if row.delta is None:
            return None
        words, p = formatting.delta(row.delta, interval=False), row.delta.adjusted_p
        words += f", {describe_p(p)}" if p is not None else ""
        value, interval = row.delta.value, row.delta.interval
        return ChartRow(row.condition, value, words, interval, style.hue, style.hatched)

    bands = {agent: floor.delta.interval for agent, floor in table.noise_floor}
    made = [replace(group, band=bands.get(group.name)) for group in groups(run, table, entry)]
    low, high = ends(made)
    axis = Axis(
        "Δ success against clean, percentage points",
        low,
        high,
        lambda share: f"{100 * share:+.0f}" if share else "0",
    )
    return whiskers("delta", "Δ against clean with 95 % interval", made, axis)


def reloads(run: Run, table: Table) -> Chart:
    """Draw the reloads of each agent (the paper's Figure 5); rows without traces are left out."""

    def entry(row: ConditionRow, style: ConditionStyle) -> ChartRow | None:
        if row.reloads is None:
            return None
        words = f"{row.reloads} in {count_noun(row.n, 'trial')}"
        return ChartRow(row.condition, row.reloads, words, None, style.hue, style.hatched)

    most = max((row.reloads or 0 for row in table.rows), default=0)
    axis = Axis("actions that reload or ask again, over all trials", 0, max(4, most), "{:g}".format)
    return bars("reloads", "Reloads", groups(run, table, entry), axis)


def recovery(run: Run, table: Table) -> Chart:
    """Draw the recovery rate over trials for each condition with faults."""

    def entry(row: ConditionRow, style: ConditionStyle) -> ChartRow | None:
        if row.exposure is None or row.recovery is None:
            return None
        return rate_entry(row, row.recovery, style)

    axis = Axis("trials recovered, %", 0, 1, PERCENT.write)
    return bars("recovery", "Recovery rate", groups(run, table, entry), axis)


def delivery(run: Run, table: Table) -> Chart:
    """Draw a bar of all planned injections: full what was delivered, hatched what was missed."""

    def entry(row: ConditionRow, style: ConditionStyle) -> ChartRow | None:
        if row.exposure is None or row.planned is None or row.delivered is None:
            return None
        words = f"{row.delivered} of {row.planned}"
        return ChartRow(row.condition, row.delivered, words, hue=style.hue, total=row.planned)

    most = max((row.planned or 0 for row in table.rows), default=0)
    axis = Axis("injections", 0, max(1, most), "{:g}".format)
    return bars("delivery", "Planned and delivered", groups(run, table, entry), axis)
