"""Simulated rates: how often their intervals cover the truth, and gates on them fail by chance."""

from collections.abc import Callable, Mapping

import numpy as np

from bench.coverage.differences import Rates, Rng, covers
from warex.analysis.output.thresholds import Claim, Threshold, judge
from warex.analysis.stats.estimates import Rate

type Population = Callable[[Rng, float, int], Rates]
"""Draws so many tasks' probabilities, whose mean is given."""

_SIZE = 200_000
"""Tasks by which the truth of a ratio is computed."""


def _equal_tasks(rng: Rng, mean: float, tasks: int) -> Rates:
    return np.full(tasks, mean)


def _spread(correlation: float) -> Population:
    weight = (1 - correlation) / correlation
    return lambda rng, mean, tasks: rng.beta(mean * weight, (1 - mean) * weight, tasks)


def _always_or_never(rng: Rng, mean: float, tasks: int) -> Rates:
    return (rng.random(tasks) < mean).astype(float)


def _half_are_sure(rng: Rng, mean: float, tasks: int) -> Rates:
    low = max(0.0, 2 * mean - 1)
    return np.where(rng.random(tasks) < (1 - mean) / (1 - low), low, 1.0)


POPULATIONS: Mapping[str, Population] = {
    "tasks alike": _equal_tasks,
    "tasks differ a little": _spread(0.1),
    "tasks differ": _spread(0.5),
    "each task always or never": _always_or_never,
    "half of the tasks are sure": _half_are_sure,
}
THRESHOLDS = (0.5, 0.8, 0.9, 0.95)


def draw_rate(rng: Rng, population: Population, mean: float, tasks: int, repeats: int) -> Rate:
    """Return the rate of a run with so many trials of each task."""
    hits = rng.binomial(repeats, population(rng, mean, tasks)).tolist()
    counts = tuple((hit, repeats) for hit in hits)
    return Rate(sum(hits), tasks * repeats, counts if repeats > 1 else None)


def rate_coverage(
    rng: Rng, population: Population, mean: float, draws: int, tasks: int, repeats: int
) -> float:
    """Return how often the interval of a success rate covers the truth."""
    return (
        sum(
            covers(draw_rate(rng, population, mean, tasks, repeats).interval, mean)
            for _ in range(draws)
        )
        / draws
    )


def false_breaks(
    rng: Rng, population: Population, mean: float, draws: int, tasks: int, repeats: int, rows: int
) -> float:
    """Return how often a gate breaks though the truth of all its rows is exactly the threshold."""
    threshold = Threshold(f"recovery>={mean:g}", "", "recovery", ">=", mean)
    return (
        sum(
            judge(
                [
                    Claim("", draw_rate(rng, population, mean, tasks, repeats), threshold)
                    for _ in range(rows)
                ]
            ).end
            == "broken"
            for _ in range(draws)
        )
        / draws
    )


def injection_coverage(
    rng: Rng, population: Population, mean: float, draws: int, tasks: int, repeats: int
) -> float:
    """Return how often the interval of recovery per injection covers the truth.

    A trial has one injection and more, by Poisson's distribution, the more the harder its task. If
    tasks are solved always or never, that is left out: a run without one of the latter then knows
    nothing of what they would weigh.
    """
    everything = _injections(rng, population, mean, _SIZE, 1)
    truth = everything[0].sum() / everything[1].sum()
    covered = 0
    for _ in range(draws):
        hits, trials = _injections(rng, population, mean, tasks, repeats)
        counts = tuple(zip(hits.tolist(), map(int, trials), strict=True))
        covered += covers(Rate(int(hits.sum()), int(trials.sum()), counts).interval, float(truth))
    return covered / draws


def _injections(
    rng: Rng, population: Population, mean: float, tasks: int, repeats: int
) -> tuple[Rates, Rates]:
    shares = population(rng, mean, tasks)
    harder = 1 - mean if population is _always_or_never else 1 - shares[:, None]
    more = rng.poisson(0.2 + 3 * harder, (tasks, repeats))
    trials = (1 + more).sum(axis=1)
    return rng.binomial(trials, shares).astype(float), trials.astype(float)
