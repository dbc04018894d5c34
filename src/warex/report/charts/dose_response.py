"""Dose and response: success as the same fault hits harder, or more often."""

from collections.abc import Callable, Sequence
from math import log2

from warex.analysis.run.load import Run
from warex.analysis.stats.dose_response import DoseSeries
from warex.analysis.table.tabulate import Table
from warex.report.charts.palette import HUES
from warex.report.charts.svg import Chart, arrange, line, mark, path, shortened, text
from warex.report.text import formatting

_WIDTH, _HEIGHT = 500.0, 300.0
_LEFT, _RIGHT, _TOP, _FOOT = 44.0, 110.0, 34.0, 48.0
_AXES = {
    "intensity": "times the fault's own size",
    "frequency": "how many are hit by chance",
    "first": "how many are hit",
}
type _Scale = Callable[[float], float]

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
    panels = list(dose_panels(run, table))
    if not panels:
        return None
    words = " ".join(f"{chart.title}: {chart.description}" for chart in panels)
    return arrange("doses", "Dose and response", words, panels, 2)


def _panel(run: Run, number: int, of: Sequence[DoseSeries]) -> Chart:
    doses = sorted({point.value for series in of for point in series.points})
    low, high = log2(doses[0]), log2(doses[-1])

    def x(value: float) -> float:
        share = (log2(value) - low) / (high - low) if high > low else 0.5
        return _LEFT + 12 + share * (_WIDTH - _LEFT - _RIGHT - 24)

    def y(share: float) -> float:
        return _HEIGHT - _FOOT - share * (_HEIGHT - _FOOT - _TOP)

    end = _WIDTH - _RIGHT
    body = [text(0, 14, shortened(of[0].of, 52), "strong")]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        body.append(line(_LEFT, y(share), end, y(share), "grid" if share else "axis"))
        body.append(text(_LEFT - 8, y(share) + 4, f"{100 * share:.0f}", "faint", "end"))
    for value in doses:
        body.append(line(x(value), y(0), x(value), y(0) + 4, "axis"))
        body.append(text(x(value), y(0) + 17, f"{value:g}", "faint", "middle"))
    title = f"{_AXES[of[0].axis]} (upwards: success, %)"
    body.append(text((_LEFT + end) / 2, _HEIGHT - 10, title, "soft", "middle"))
    for series in of:
        body += _line(series, 1 + run.agents.index(series.agent), x, y)
    body += _names(of, end, y)
    words = " ".join(
        f"{s.agent}:"
        f" {'; '.join(f'{p.value:g} {formatting.rate_percent(p.success)}' for p in s.points)}."
        for s in of
    )
    title = f"{of[0].of}, {of[0].axis}"
    return Chart(f"dose-{number}", title, words, _WIDTH, _HEIGHT, "".join(body))


def _line(series: DoseSeries, number: int, x: _Scale, y: _Scale) -> list[str]:
    known = [(p, p.success.value) for p in series.points if p.success.value is not None]
    hue = 1 + (number - 1) % (HUES - 1)
    body = [path([(x(p.value), y(value)) for p, value in known], f"pen-{hue}")] if known else []
    # Side by side, so that the intervals of two agents do not hide each other.
    aside = 3.0 * (number - 1)
    for point, value in known:
        low, high = point.success.interval
        at = x(point.value)
        body.append(line(at + aside, y(low), at + aside, y(high), f"pen-{hue}"))
        tip = f"{series.agent}, {point.condition}: {formatting.rate_percent(point.success)}"
        body.append(mark(number - 1, at, y(value), f"fill-{hue}", tip))
    return body


def _names(of: Sequence[DoseSeries], end: float, y: _Scale) -> list[str]:
    """Write each agent's name where its line ends, none over another."""
    ends = sorted((y(s.points[-1].success.value or 0), s.agent) for s in of)
    body, free = [], 0.0
    for at, agent in ends:
        free = max(at, free + _LEAST)
        body.append(text(end + 4, free + 4, shortened(agent, 16), "soft"))
    return body
