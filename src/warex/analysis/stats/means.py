"""Intervals of means, ratios and medians over tasks."""

from collections.abc import Hashable, Iterable, Sequence
from math import cbrt, exp, log, sqrt
from statistics import fmean, variance

from warex.analysis.stats.proportions import ALPHA, t_quantile
from warex.analysis.stats.rates import binomial_cdf

type Interval = tuple[float, float]

type TaskFigures = Sequence[tuple[Hashable, float]]
"""A figure of each trial, with its task."""


def mean_interval(figures: TaskFigures) -> Interval | None:
    """Return the 95 % interval of the mean over trials, each with its task.

    ``ratio_interval``; if all tasks' sums are positive, also as wide as Cox's interval for the mean
    of a lognormal distribution, with t instead of z (Olsson 2005). None for fewer than two tasks.
    """
    interval = ratio_interval(figures, [(task, 1.0) for task, _ in figures])
    if interval is None or min(means := task_means(figures)) <= 0:
        return interval
    low, high = _cox_interval(means)
    return round(min(interval[0], low), 12), round(max(interval[1], high), 12)


def ratio_interval(above: TaskFigures, below: TaskFigures) -> Interval | None:
    """Return the 95 % interval of the ratio of two sums over trials, each with its task.

    A t interval over each task's contribution, corrected for skewness (Hall 1992, "On the removal
    of skewness by transformation"), and at each end at least as wide as without the correction.
    None for fewer than two tasks, and if the lower sum is 0.
    """
    tops, bottoms = ({t: s for t, (s, _) in _sums(side).items()} for side in (above, below))
    tasks = tops.keys() | bottoms.keys()
    total = sum(bottoms.values())
    k = len(tasks)
    if k < 2 or not total:
        return None
    value = sum(tops.values()) / total
    added = [k * (tops.get(task, 0.0) - value * bottoms.get(task, 0.0)) / total for task in tasks]
    squares, cubes = sum(one**2 for one in added) / k, sum(one**3 for one in added) / k
    reach = t_quantile(k - 1) / sqrt(k)
    spread = sqrt(squares * k / (k - 1))
    low, high = value - spread * reach, value + spread * reach
    if squares and (skewness := cubes / squares**1.5):
        low = min(low, value - spread * _hall_inverse(reach, skewness, k))
        high = max(high, value - spread * _hall_inverse(-reach, skewness, k))
    if min(tops.values()) >= 0 and min(bottoms.values()) >= 0:
        low = max(low, 0.0)
    # Sums of floats differ in their last bits between machines.
    return round(low, 12), round(high, 12)


def task_means(figures: TaskFigures) -> list[float]:
    """Return the mean of each task."""
    return [total / n for total, n in _sums(figures).values()]


def median_interval(figures: Sequence[float]) -> Interval | None:
    """Return the 95 % interval of the median of independent figures, for any distribution.

    By the sign test: between two of the figures in their order (Thompson 1936). None for fewer than
    six, of which not even the least and the greatest are far enough apart.
    """
    n, ordered = len(figures), sorted(figures)
    outer = 0
    while 2 * binomial_cdf(outer, n, 0.5) <= ALPHA:
        outer += 1
    return (ordered[outer - 1], ordered[n - outer]) if outer else None


def _hall_inverse(reach: float, skewness: float, k: int) -> float:
    inner = 1 + skewness * (reach - skewness / (6 * k))
    return 3 / skewness * (cbrt(inner) - 1)


def _cox_interval(figures: Sequence[float]) -> Interval:
    logs, k = [log(figure) for figure in figures], len(figures)
    spread = variance(logs)
    middle = fmean(logs) + spread / 2
    reach = t_quantile(k - 1) * sqrt(spread / k + spread**2 / (2 * (k - 1)))
    return exp(min(middle - reach, 700)), exp(min(middle + reach, 700))


def _sums[T: Hashable](figures: Iterable[tuple[T, float]]) -> dict[T, tuple[float, int]]:
    """Return the sum of each task, and of how many figures."""
    sums: dict[T, tuple[float, int]] = {}
    for task, figure in figures:
        total, n = sums.get(task, (0.0, 0))
        sums[task] = total + figure, n + 1
    return sums
