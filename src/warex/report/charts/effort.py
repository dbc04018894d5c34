"""Success, latency, LLM calls and cost under each condition: the paper's Figure 4."""

from collections.abc import Callable
from dataclasses import dataclass

from warex.analysis.run import Run
from warex.analysis.table import Row, Table
from warex.report import figures
from warex.report.charts.looks import Look, groups, rate_entry
from warex.report.charts.rows import Axis, Entry, bars
from warex.report.charts.success import PERCENT
from warex.report.svg import Chart, beside


@dataclass(frozen=True, slots=True)
class _Panel:
    name: str
    title: str
    axis: str
    field: str
    write: Callable[[float | None], str]


_PANELS = (
    _Panel("latency", "(b) Latency", "seconds per trial", "latency_s", figures.seconds),
    _Panel("llm-calls", "(c) LLM calls", "calls per trial", "llm_calls", figures.mean),
    _Panel("cost", "(d) Cost", "US dollars per trial", "usd", figures.usd),
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
        words = panel.write(value)
        return Entry(row.condition, value, words, interval, look.hue, look.hatched)

    made = groups(run, table, entry)
    ends = [
        end
        for group in made
        for e in group.entries
        for end in (e.value or 0.0, *(e.interval or ()))
    ]
    axis = Axis(panel.axis, 0, max([0.0, *ends]), lambda value: f"{value:g}")
    return bars(panel.name, panel.title, made, axis)


def _success(row: Row, look: Look) -> Entry:
    return rate_entry(row, row.success, look)
