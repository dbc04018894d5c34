"""Success by site and condition."""

from collections.abc import Iterable, Mapping

from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Rate
from warex.analysis.table.tabulate import Table
from warex.report.charts.svg import Chart, rect, shortened, text, width_of
from warex.report.tables.sites import heat_class, site_rates
from warex.report.text import formatting

_CELL = (58.0, 24.0)
_HEAD = 26.0
_KEY = "Solved of scored trials."
_SLANT = 0.7071
"""Of 45 degrees: names of conditions rise to the right."""


def sites(run: Run, table: Table) -> Chart:
    """Draw a field for each site (down) and condition (across), the fuller the more was solved."""
    rates = site_rates(run)
    left = 12 + max((width_of(shortened(site), 12) for _, site in rates), default=0)
    tallest = max((width_of(shortened(c, 24), 12) for c in run.conditions), default=0)
    top = 16 + _SLANT * tallest
    body = list(_titles(run, left, top))
    y = top
    for agent in run.agents:
        here = {site: by_condition for (of, site), by_condition in rates.items() if of == agent}
        if not here:
            continue
        body.append(text(0, y + _HEAD - 8, shortened(agent, 48), "strong"))
        y += _HEAD
        for site, by_condition in here.items():
            body.append(text(left - 10, y + 16, shortened(site), "soft", "end"))
            body += _line(run, left, y, by_condition)
            y += _CELL[1]
    width = left + _CELL[0] * len(run.conditions) + _SLANT * tallest
    return Chart("sites", "Success by site", _words(rates), width, y + 4, "".join(body), _KEY)


def _titles(run: Run, left: float, top: float) -> Iterable[str]:
    for place, condition in enumerate(run.conditions):
        x = left + _CELL[0] * (place + 0.5)
        words = text(0, 0, shortened(condition, 24), "soft")
        yield f'<g transform="translate({x:.1f} {top + _HEAD - 8:.1f}) rotate(-45)">{words}</g>'


def _line(run: Run, left: float, y: float, by_condition: dict[str, Rate]) -> Iterable[str]:
    for place, condition in enumerate(run.conditions):
        rate = by_condition.get(condition)
        x = left + _CELL[0] * place
        if rate is None or rate.value is None:
            yield text(x + _CELL[0] / 2, y + 16, formatting.UNKNOWN, "soft", "middle")
            continue
        yield rect(x, y, *_CELL, heat_class(rate.value), formatting.rate_percent(rate))
        yield text(x + _CELL[0] / 2, y + 16, formatting.fraction(rate), "", "middle")


def _words(rates: Mapping[tuple[str, str], dict[str, Rate]]) -> str:
    return " ".join(
        f"{agent}, {site}: {'; '.join(f'{c} {rate}' for c, rate in by_condition.items())}."
        for (agent, site), by_condition in rates.items()
    )
