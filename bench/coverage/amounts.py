"""Simulated amounts with long tails, as of cost: how often their intervals cover the truth."""

from collections.abc import Callable, Mapping
from statistics import median

import numpy as np

from bench.coverage.differences import Rates, Rng, covers
from warex.analysis.stats.estimates import mean_over
from warex.analysis.stats.means import median_interval

type Tail = Callable[[Rng, int, int], Rates]
"""Draws what each trial of each task takes; the mean and the median of tasks' means are known."""

_SIZE = 100_000
"""Tasks by which truths are computed."""


def _lognormal(between: float, within: float) -> Tail:
    return lambda rng, tasks, repeats: (
        rng.lognormal(0, between, tasks)[:, None] * rng.lognormal(0, within, (tasks, repeats))
    )


def _gamma(rng: Rng, tasks: int, repeats: int) -> Rates:
    return rng.gamma(1.5, 1, tasks)[:, None] * rng.gamma(3, 1 / 3, (tasks, repeats))


def _pareto(rng: Rng, tasks: int, repeats: int) -> Rates:
    return (1 + rng.pareto(2.5, (tasks, 1))) * rng.lognormal(0, 0.2, (tasks, repeats))


def _rarely_loops(rng: Rng, tasks: int, repeats: int) -> Rates:
    loops = rng.random((tasks, repeats)) < 0.15
    return np.where(loops, 5.0, 1.0) * rng.lognormal(0, 0.2, (tasks, repeats))


MODERATE: Mapping[str, Tail] = {
    "lognormal, coefficient of variation 0.2": _lognormal(0.2, 0.1),
    "lognormal, coefficient of variation 0.6": _lognormal(0.5, 0.25),
    "lognormal, coefficient of variation 1.1": _lognormal(0.8, 0.4),
    "gamma, coefficient of variation 1.1": _gamma,
}
"""Tails at which the interval of a mean is to hold."""
HEAVY: Mapping[str, Tail] = {
    "lognormal, coefficient of variation 2": _lognormal(1.2, 0.5),
    "Pareto, exponent 2.5": _pareto,
    "one trial in seven takes five times as much": _rarely_loops,
}
"""Tails at which no interval of a mean from few tasks can hold, and those of medians are to."""


def amount_coverage(
    rng: Rng, tail: Tail, draws: int, tasks: int, repeats: int
) -> tuple[float, float]:
    """Return how often the intervals of a mean and of the median over tasks cover the truth."""
    everything = tail(rng, _SIZE, repeats)
    mean, middle = float(everything.mean()), float(np.median(everything.mean(axis=1)))
    covered = [0, 0]
    for _ in range(draws):
        estimate = mean_over(
            [(n, one) for n, row in enumerate(tail(rng, tasks, repeats).tolist()) for one in row]
        )
        assert estimate is not None
        assert estimate.interval is not None
        assert estimate.median_interval is not None
        covered[0] += covers(estimate.interval, mean)
        covered[1] += covers(estimate.median_interval, middle)
    return covered[0] / draws, covered[1] / draws


def ratio_coverage(rng: Rng, tail: Tail, draws: int, tasks: int, repeats: int) -> float:
    """Return how often the interval of the median task's ratio covers the truth.

    One side takes 1.3 times as much as the other, and a task in five three times as much.
    """

    def ratios(tasks: int) -> list[float]:
        base = tail(rng, tasks, 1)
        sides = [
            (base * rng.lognormal(0, 0.4, (tasks, repeats)) * factor).sum(axis=1)
            for factor in (np.where(rng.random((tasks, 1)) < 0.2, 3.0, 1.3), 1.0)
        ]
        return [float(ratio) for ratio in sides[0] / sides[1]]

    truth, covered = median(ratios(_SIZE)), 0
    for _ in range(draws):
        interval = median_interval(ratios(tasks))
        assert interval is not None
        covered += covers(interval, truth)
    return covered / draws
