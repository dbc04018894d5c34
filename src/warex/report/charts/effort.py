"""Success, latency, LLM calls and cost under each condition: the paper's Figure 4."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class _Panel:
    name: str
    title: str
    axis: Callable[[Sequence[ConditionRow]], str]
    metric: Metric[Mean]


_PANELS = (
    _Panel("latency", "(b) Latency", lambda _: "seconds per trial", ConditionRow.latency_s),
    _Panel("llm-calls", "(c) LLM calls", lambda _: "calls per trial", ConditionRow.llm_calls),
    _Panel("cost", "(d) Cost", cost_axis_title, ConditionRow.cost_usd),
)


def panels(run: Run, table: Table) -> tuple[Chart, ...]:
    """Draw the four panels, each as a figure of its own."""
    rates = groups(run, table, lambda row, look: rate_entry(row, row.success, look))
    first = bars("success-bars", "(a) Success", rates, PERCENT)
    return (first, *(_panel(run, table, panel) for panel in _PANELS))


def effort(run: Run, table: Table) -> Chart:
    """Draw the four panels as one figure."""
    four = list(panels(run, table))
    words = " ".join(f"{chart.title}: {chart.description}" for chart in four)
    return arrange("effort", "Success, latency, LLM calls and cost", words, four, 2)


def _panel(run: Run, table: Table, panel: _Panel) -> Chart:
    def entry(row: ConditionRow, look: ConditionStyle) -> ChartRow:
        mean = panel.metric.of(row)
        value, interval = (mean.value, mean.interval) if mean else (None, None)
        words = text(panel.metric, row)
        return ChartRow(row.condition, value, words, interval, look.hue, look.hatched)

    made = groups(run, table, entry)
    axis = Axis(panel.axis(table.rows), 0, ends(made)[1], "{:g}".format)
    return bars(panel.name, panel.title, made, axis)
