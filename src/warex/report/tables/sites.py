"""The table of success by site."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Rate
from warex.analysis.trial.record import TrialRecord
from warex.report.tables.columns import Cell, Column, text_column
from warex.report.tables.sheet import Sheet, sheet_of
from warex.report.text import formatting

ELSEWHERE: Final = "elsewhere"
"""The site of tasks whose trials have no recorded traffic."""


class _Site(NamedTuple):
    agent: str
    site: str
    rates: Mapping[str, Rate]
    """By condition."""


def site_sheet(run: Run) -> Sheet:
    """Return success by site under each condition."""
    return sheet_of(
        "sites",
        "Success by site",
        "A task's site is the host of the first page it opens.",
        (text_column("site", "Host."), *map(_condition_column, run.conditions)),
        (_Site(agent, site, rates) for (agent, site), rates in site_rates(run).items()),
    )


def _condition_column(condition: str) -> Column:
    def cell(of: _Site) -> Cell:
        rate = of.rates.get(condition)
        if rate is None or rate.value is None:
            return Cell(formatting.UNKNOWN, (None, None))
        values, look = (rate.value, rate.n), heat_class(rate.value)
        return Cell(formatting.fraction(rate), values, css_class=look)

    return Column(condition, "Success under this condition.", (condition, f"{condition}_n"), cell)


def site_rates(run: Run) -> Mapping[tuple[str, str], dict[str, Rate]]:
    """Return success by agent and site under each condition."""
    site_of = site_by_task(run.trials)
    outcomes: dict[tuple[str, str], dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for trial in run.trials:
        key = trial.key
        if trial.solved is None:
            continue
        outcomes[key.agent, site_of[key.benchmark, key.task]][key.condition].append(trial.solved)
    order = {agent: place for place, agent in enumerate(run.agents)}
    return {
        place: {c: Rate(sum(solved), len(solved)) for c, solved in outcomes[place].items()}
        for place in sorted(outcomes, key=lambda place: (order[place[0]], place[1]))
    }


def site_by_task(trials: Sequence[TrialRecord]) -> Mapping[tuple[str, str], str]:
    """Return the site of each task (benchmark, name): by the first page of most of its trials."""
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for trial in trials:
        here = seen[trial.key.benchmark, trial.key.task]
        if trial.site is not None:
            here[trial.site] += 1
    return {
        task: min(hosts, key=lambda host: (-hosts[host], host)) if hosts else ELSEWHERE
        for task, hosts in seen.items()
    }


def heat_class(value: float) -> str:
    """Return the CSS class of a rate, one of six steps."""
    return f"heat-{round(5 * value)}"
