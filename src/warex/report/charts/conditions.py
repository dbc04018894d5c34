"""Figures with a row for each condition: success, Δ, effort, recovery, reloads, delivery."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from warex.analysis.metrics.metric import Metric
from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Mean, Rate
from warex.analysis.stats.paired import Delta, describe_p
from warex.analysis.table.tabulate import Table
from warex.report.charts.bars import ChartGroup, ChartRow, bars, ends, whiskers
from warex.report.charts.plot import SUCCESS, linear_axis
from warex.report.charts.styles import cost_axis_title, groups
from warex.report.charts.svg import Chart, Style, arrange
from warex.report.tables.columns import text
from warex.text.english import count_noun
from warex.traces import CLEAN


def metric_row(metric: Metric[Any], row: ConditionRow, style: Style) -> ChartRow:
    """Return a condition's row of a chart for one of its figures, with its interval."""
    figure, words = metric.of(row), text(metric, row, interval=False)
    match figure:
        case Rate(n=n) if n:
            return ChartRow(row.condition, figure.value, words, figure.interval, style)
        case Mean() | Delta():
            return ChartRow(row.condition, figure.value, words, figure.interval, style)
        case int():
            return ChartRow(row.condition, figure, words, style=style)
        case _:
            return ChartRow(row.condition, None, words, style=style)


def success(run: Run, table: Table) -> Chart:
    """Draw each condition's rate as a mark; a dashed line is at ``clean``."""
    clean = {row.agent: row.success.value for row in table.rows if row.condition == CLEAN}
    lined = [replace(group, line_at=clean.get(group.name)) for group in _success_rows(run, table)]
    return whiskers("success", "Success with 95 % interval", lined, SUCCESS)


def delta(run: Run, table: Table) -> Chart:
    """Draw each condition's Δ against ``clean``; the band is the noise floor."""

    def entry(row: ConditionRow, style: Style) -> ChartRow | None:
        if row.delta is None:
            return None
        drawn, p = metric_row(ConditionRow.delta, row, style), row.delta.adjusted_p
        return replace(
            drawn, value_text=drawn.value_text + (f", {describe_p(p)}" if p is not None else "")
        )

    bands = {agent: floor.delta.interval for agent, floor in table.noise_floor}
    made = [replace(group, band=bands.get(group.name)) for group in groups(run, table, entry)]
    axis = linear_axis(
        "Δ success against clean, percentage points",
        *ends(made),
        lambda share: f"{100 * share:+.0f}" if share else "0",
    )
    return whiskers("delta", "Δ against clean with 95 % interval", made, axis)


def effort_panels(run: Run, table: Table) -> tuple[Chart, ...]:
    """Draw success, latency, LLM calls and cost, each as a figure: the paper's Figure 4."""
    means = (
        (ConditionRow.latency_s, "latency", "(b) Latency", "seconds per trial"),
        (ConditionRow.llm_calls, "llm-calls", "(c) LLM calls", "calls per trial"),
        (ConditionRow.cost_usd, "cost", "(d) Cost", cost_axis_title(table.rows)),
    )
    panels = [bars("success-bars", "(a) Success", _success_rows(run, table), SUCCESS)]
    for metric, name, title, axis_title in means:
        made = groups(run, table, partial(metric_row, metric))
        panels.append(bars(name, title, made, linear_axis(axis_title, 0, ends(made)[1])))
    return tuple(panels)


def effort(run: Run, table: Table) -> Chart:
    """Draw the four panels as one figure."""
    return arrange("effort", "Success, latency, LLM calls and cost", effort_panels(run, table), 2)


def reloads(run: Run, table: Table) -> Chart:
    """Draw the reloads of each agent (the paper's Figure 5); rows without traces are left out."""

    def entry(row: ConditionRow, style: Style) -> ChartRow | None:
        if row.reloads is None:
            return None
        words = f"{row.reloads} in {count_noun(row.n, 'trial')}"
        return ChartRow(row.condition, row.reloads, words, style=style)

    most = max((row.reloads or 0 for row in table.rows), default=0)
    axis = linear_axis("actions that reload or ask again, over all trials", 0, max(4, most))
    return bars("reloads", "Reloads", groups(run, table, entry), axis)


def recovery(run: Run, table: Table) -> Chart:
    """Draw the recovery rate over trials for each condition with faults."""

    def entry(row: ConditionRow, style: Style) -> ChartRow | None:
        if row.exposure is None or row.recovery is None:
            return None
        return metric_row(ConditionRow.recovery, row, style)

    axis = replace(SUCCESS, title="trials recovered, %")
    return bars("recovery", "Recovery rate", groups(run, table, entry), axis)


def delivery(run: Run, table: Table) -> Chart:
    """Draw a bar of all planned injections: full what was delivered, hatched what was missed."""

    def entry(row: ConditionRow, style: Style) -> ChartRow | None:
        if row.exposure is None or row.planned is None or row.delivered is None:
            return None
        words = f"{row.delivered} of {row.planned}"
        # Only what was missed is hatched.
        full = Style(style.hue)
        return ChartRow(row.condition, row.delivered, words, style=full, total=row.planned)

    most = max((row.planned or 0 for row in table.rows), default=0)
    axis = linear_axis("injections", 0, max(1, most))
    return bars("delivery", "Planned and delivered", groups(run, table, entry), axis)


def _success_rows(run: Run, table: Table) -> Sequence[ChartGroup]:
    return groups(run, table, partial(metric_row, ConditionRow.success))
