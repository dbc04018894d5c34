"""Dose and response: success as the same fault hits harder, or more often."""

from collections.abc import Sequence

from warex.analysis.run.load import Run
from warex.analysis.stats.dose_response import DoseSeries
from warex.analysis.table.tabulate import Table
from warex.report.charts.palette import HUES
from warex.report.charts.plot import SUCCESS, Axis, Plot
from warex.report.charts.svg import Chart, Style, arrange, line, mark, path, shortened, text
from warex.report.text import formatting

_WIDTH, _HEIGHT = 500.0, 300.0
_LEFT, _RIGHT, _TOP, _FOOT = 44.0, 110.0, 34.0, 48.0
_MARGIN = 12.0
_AXES = {
    "intensity": "times the fault's own size",
    "frequency": "how many are hit by chance",
    "first": "how many are hit",
}
_LEAST = 13.0
"""Between two names at the right."""


def dose_panels(run: Run, table: Table) -> tuple[Chart, ...]:
    """Draw a figure for each dosed fault, with a line for each agent."""
    kinds = dict.fromkeys((series.axis, series.of) for series in table.doses)
    return tuple(
        _panel(run, number, [s for s in table.doses if (s.axis, s.of) == kind])
        for number, kind in enumerate(kinds, 1)
    )


def dose(run: Run, table: Table) -> Chart | None:
    """Draw all of them as one figure; None where nothing was dosed."""
    panels = dose_panels(run, table)
    return arrange("doses", "Dose and response", panels, 2) if panels else None


def _panel(run: Run, number: int, of: Sequence[DoseSeries]) -> Chart:
    doses = sorted({point.value for series in of for point in series.points})
    axis = Axis(_AXES[of[0].axis], tuple(doses), doubling=True)
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _FOOT
    plot = Plot(_LEFT, right, _TOP, bottom, axis, up=SUCCESS, margin=_MARGIN)
    body = [text(0, 14, shortened(of[0].of, 52), "strong"), *plot.axes()]
    for series in of:
        body += _line(series, run.agents.index(series.agent), plot)
    body += _names(of, plot)
    words = " ".join(
        f"{s.agent}:"
        f" {'; '.join(f'{p.value:g} {formatting.rate_percent(p.success)}' for p in s.points)}."
        for s in of
    )
    title = f"{of[0].of}, {of[0].axis}"
    return Chart(f"dose-{number}", title, words, _WIDTH, _HEIGHT, "".join(body))


def _line(series: DoseSeries, agent: int, plot: Plot) -> list[str]:
    known = [(p, p.success.value) for p in series.points if p.success.value is not None]
    style = Style(1 + agent % (HUES - 1))
    pen = f"pen-{style.hue}"
    body = [path([(plot.x(p.value), plot.y(value)) for p, value in known], pen)] if known else []
    # Side by side, so that the intervals of two agents do not hide each other.
    aside = 3.0 * agent
    for point, value in known:
        low, high = point.success.interval
        x = plot.x(point.value)
        body.append(line(x + aside, plot.y(low), x + aside, plot.y(high), pen))
        tip = f"{series.agent}, {point.condition}: {formatting.rate_percent(point.success)}"
        body.append(mark(agent, x, plot.y(value), style.mark_class, tip))
    return body


def _names(of: Sequence[DoseSeries], plot: Plot) -> list[str]:
    """Write each agent's name where its line ends, none over another."""
    ends = sorted((plot.y(s.points[-1].success.value or 0), s.agent) for s in of)
    body, free = [], 0.0
    for at, agent in ends:
        free = max(at, free + _LEAST)
        body.append(text(plot.right + 4, free + 4, shortened(agent, 16), "soft"))
    return body
