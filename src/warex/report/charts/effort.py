"""Success, latency, LLM calls and cost under each condition: the paper's Figure 4."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from warex.analysis.run import Run
from warex.analysis.table import Row, Table
from warex.report import figures
from warex.report.charts.looks import Look, groups, money_axis, rate_entry
from warex.report.charts.rows import Axis, Entry, bars
from warex.report.charts.success import PERCENT
from warex.report.svg import Chart, beside


@dataclass(frozen=True, slots=True)
class _Panel:
    name: str
    title: str
    axis: Callable[[Sequence[Row]], str]
    field: str
    write: Callable[[Row], str]


_PANELS = (
    _Panel(
        "latency",
        "(b) Latency",
        lambda _: "seconds per trial",
        "latency_s",
        lambda row: figures.seconds(row.latency_s),
    ),
    _Panel(
        "llm-calls",
        "(c) LLM calls",
        lambda _: "calls per trial",
        "llm_calls",
        lambda row: figures.mean(row.llm_calls),
    ),
    _Panel("cost", "(d) Cost", money_axis, "usd", lambda row: figures.usd(row.usd, row.as_if)),
)


def panels(run: Run, table: Table) -> tuple[Chart, ...]:
    """Draw the four panels, each as a figure of its own."""
    first = bars("success-bars", "(a) Success", groups(run, table, _success), PERCENT)
    return (first, *(_panel(run, table, panel) for panel in _PANELS))


def effort(run: Run, table: Table) -> Chart:
    """Draw the four panels as one figure."""
    four = list(panels(run, table))
    words = " ".join(f"{chart.title}: {chart.words}" for chart in four)
    return beside("effort", "Success, latency, LLM calls and cost", words, four, 2)


def _panel(run: Run, table: Table, panel: _Panel) -> Chart:
    def entry(row: Row, look: Look) -> Entry:
        value: float | None = getattr(row, panel.field)
        interval = getattr(row.intervals, panel.field)
        return Entry(row.condition, value, panel.write(row), interval, look.hue, look.hatched)

    made = groups(run, table, entry)
    ends = [
        end
        for group in made
        for e in group.entries
        for end in (e.value or 0.0, *(e.interval or ()))
    ]
    axis = Axis(panel.axis(table.rows), 0, max([0.0, *ends]), lambda value: f"{value:g}")
    return bars(panel.name, panel.title, made, axis)


def _success(row: Row, look: Look) -> Entry:
    return rate_entry(row, row.success, look)
