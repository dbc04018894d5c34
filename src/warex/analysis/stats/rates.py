"""Intervals and tests of one rate, exact for one trial a task, and by task for several.

With one trial a task: the binomial distribution, and the interval of Clopper and Pearson (1934).

With several, the trials of a task are not independent, so the tasks' rates are a sample of numbers
from 0 to 1 whose distribution is not known. Gaffke (2005, "Three test statistics for a
nonparametric one-sided hypothesis on the mean of a nonnegative variable") bounds their mean: each
task and one more, as good as possible, get random weights that are uniform over all that sum to 1;
p is the probability that the weighted mean reaches the bound. For tasks with one trial that is the
binomial test. Learned-Miller and Thomas (2019, "A new confidence interval for the mean of a bounded
random variable") have the same as an interval.

Tasks may have different numbers of trials: the rate is a ratio of two sums, and reaches a bound if
the mean of hits minus bound times trials is at least 0.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from math import lgamma, log, log1p, pi, sqrt
from typing import TYPE_CHECKING

from warex.analysis.stats.proportions import ALPHA

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

type TaskCounts = tuple[tuple[float, int], ...]
"""Hits and trials of each task. Hits may be fractions, as of a score from 0 to 1."""

_PRECISION = 1e-12


def rate_interval(tasks: Sequence[tuple[float, int]]) -> tuple[float, float]:
    """Return the 95 % interval of a rate over tasks, each (hits, trials); (0, 1) for none.

    It holds the rates that neither of the two one-sided tests of ``rate_p`` rejects at 2.5 %.
    """
    return _interval(tuple(sorted(tasks)))


def rate_p(tasks: Sequence[tuple[float, int]], bound: float, *, at_least: bool) -> float:
    """Return the one-sided p of the hypothesis that the true rate is at least (most) ``bound``."""
    if not at_least:
        tasks, bound = [(trials - hits, trials) for hits, trials in tasks], 1 - bound
    return _p_at_least(tuple(sorted(tasks)), bound)


def binomial_cdf(hits: int, n: int, p: float) -> float:
    """Return the probability of at most ``hits`` in n independent trials."""
    import numpy as np

    if hits >= n or p <= 0:
        return float(hits >= 0)
    if hits < 0 or p >= 1:
        return 0.0
    k = np.arange(hits + 1)
    logs = _log_ways(n)[: hits + 1] + k * log(p) + (n - k) * log1p(-p)
    return min(1.0, float(np.exp(logs).sum()))


@cache
def _log_ways(n: int) -> "npt.NDArray[np.float64]":
    """Return the logarithms of the binomial coefficients of n."""
    import numpy as np

    factorials: npt.NDArray[np.float64] = np.array([lgamma(k + 1) for k in range(n + 1)])
    ways: npt.NDArray[np.float64] = factorials[n] - factorials - factorials[::-1]
    return ways


@cache
def _interval(tasks: TaskCounts) -> tuple[float, float]:
    hits, n = (sum(column) for column in zip(*tasks, strict=True)) if tasks else (0, 0)
    if not n:
        return 0.0, 1.0
    misses = tuple(sorted((trials - hit, trials) for hit, trials in tasks))
    # The last bits differ between machines.
    return round(1 - _highest(misses, 1 - hits / n), 12), round(_highest(tasks, hits / n), 12)


def _highest(tasks: TaskCounts, rate: float) -> float:
    """Return the highest true rate that is not rejected at 2.5 %."""
    if rate >= 1:
        return 1.0
    return _root(lambda bound: _p_at_least(tasks, bound) - ALPHA / 2, rate, 1.0)


def _root(f: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function is 0 between two numbers, by Ridders' method (1979)."""
    at_low, at_high = f(low), f(high)
    if at_low <= 0:
        return low
    while high - low > _PRECISION:
        middle = (low + high) / 2
        at_middle = f(middle)
        slope = sqrt(at_middle**2 - at_low * at_high)
        near = middle + (middle - low) * at_middle / slope if slope else middle
        at_near = f(near)
        for place, value in sorted(((middle, at_middle), (near, at_near))):
            if value > 0 and place > low:
                low, at_low = place, value
            elif value <= 0 and place < high:
                high, at_high = place, value
                break
        if abs(at_near) < _PRECISION:
            return near
    return (low + high) / 2


def _p_at_least(tasks: TaskCounts, bound: float) -> float:
    """Return the p of the hypothesis that the true rate is at least ``bound``."""
    hits, n = (sum(column) for column in zip(*tasks, strict=True)) if tasks else (0, 0)
    if bound <= 0 or hits == n:
        return 1.0
    if bound >= 1:
        return 0.0
    if n == len(tasks) and all(task_hits in (0, 1) for task_hits, _ in tasks):
        return binomial_cdf(round(hits), n, bound)
    counts = Counter(task_hits - bound * trials for task_hits, trials in tasks)
    best = (1 - bound) * max(trials for _, trials in tasks)
    return _positive_mean_p([*counts, best], [*counts.values(), 1])


def _positive_mean_p(figures: Sequence[float], times: Sequence[float]) -> float:
    """Return the probability that a mean of figures with uniform random weights is positive.

    Each figure occurs so many times. The weights are those of independent exponential variables, so
    the characteristic function of the sum is a product, and Gil-Pelaez's formula (1951) gives the
    probability. The integral is over the logarithm of the argument, by the trapezoid rule, which
    converges exponentially there.
    """
    import numpy as np

    each, often = np.array(figures), np.array(times, float)
    each = each / np.abs(each).max()
    n, squares = often.sum(), often @ each**2
    step = min(0.2, 0.55 / sqrt(n))
    # Below the start, the integrand is the mean times the argument; above the end it is nothing.
    start = log(1e-5 / n)
    end = 5 + 37 / max(1.0, often[np.abs(each) > 0.1].sum())
    if squares > 115:
        end = log(115 / squares) / 2
    at = np.exp(np.arange(start, end, step))
    angles = np.outer(at, each)
    size = np.exp(-np.log1p(angles**2) @ often / 2)
    first = at[0] * np.exp(-step) * (each @ often) / -np.expm1(-step)
    total = (size * np.sin(np.arctan(angles) @ often)).sum() + first
    return float(min(1.0, max(0.0, 0.5 + step / pi * total)))
