"""Success, latency, LLM calls and cost under each condition: the paper's Figure 4."""

from warex.analysis.metrics.metric import Metric
from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Mean
from warex.analysis.table.tabulate import Table
from warex.report.charts.bars import Axis, ChartRow, bars, ends
from warex.report.charts.conditions import PERCENT
from warex.report.charts.styles import ConditionStyle, cost_axis_title, groups, rate_entry
from warex.report.charts.svg import Chart, arrange
from warex.report.tables.columns import text


def panels(run: Run, table: Table) -> tuple[Chart, ...]:
    """Draw the four panels, each as a figure of its own."""
    rates = groups(run, table, lambda row, style: rate_entry(row, row.success, style))
    return (
        bars("success-bars", "(a) Success", rates, PERCENT),
        _panel(run, table, ConditionRow.latency_s, "latency", "(b) Latency", "seconds per trial"),
        _panel(run, table, ConditionRow.llm_calls, "llm-calls", "(c) LLM calls", "calls per trial"),
        _panel(run, table, ConditionRow.cost_usd, "cost", "(d) Cost", cost_axis_title(table.rows)),
    )


def effort(run: Run, table: Table) -> Chart:
    """Draw the four panels as one figure."""
    four = list(panels(run, table))
    words = " ".join(f"{chart.title}: {chart.description}" for chart in four)
    return arrange("effort", "Success, latency, LLM calls and cost", words, four, 2)


def _panel(
    run: Run, table: Table, metric: Metric[Mean], name: str, title: str, axis_title: str
) -> Chart:
    def entry(row: ConditionRow, style: ConditionStyle) -> ChartRow:
        mean = metric.of(row)
        value, interval = (mean.value, mean.interval) if mean else (None, None)
        words = text(metric, row)
        return ChartRow(row.condition, value, words, interval, style.hue, style.hatched)

    made = groups(run, table, entry)
    return bars(name, title, made, Axis(axis_title, 0, ends(made)[1], "{:g}".format))
