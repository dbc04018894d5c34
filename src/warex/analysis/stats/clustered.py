"""Intervals and tests over tasks that have several trials each.

Trials of one task are not independent, so the task is the unit. Nothing is drawn at random: the
same run always has the same figures.
"""

from collections.abc import Hashable, Iterable, Sequence
from math import cbrt, log2, sqrt
from statistics import NormalDist, fmean

from warex.analysis.stats.proportions import (
    ALPHA,
    newcombe_interval,
    paired_ratio_interval,
    t_quantile,
    wilson,
    z_quantile,
)

type TaskId = tuple[str, str]
"""Benchmark and task."""

type Interval = tuple[float, float]

type PairCounts = tuple[float, float, float, float]
"""Pairs solved on both sides, on the other only (lost), on this only (won), on neither."""

type PairKey = tuple[str, str, int]
"""Benchmark, task and repeat, which trials of all conditions share."""

_MAX_EXACT_FLIPS = 14
_EPSILON = 1e-9
"""Sums of floats that differ by less are equal."""


def rate_interval(tasks: Sequence[tuple[int, int]]) -> Interval:
    """Return the 95 % interval of a rate over tasks, each (hits, trials).

    Wilson's score interval over the effective sample size (see ``effective_sample_size``).
    """
    k, n = len(tasks), sum(trials for _, trials in tasks)
    if not n:
        return 0.0, 1.0
    p = sum(hits for hits, _ in tasks) / n
    worth = float(k)
    if k > 1:
        between = k / (k - 1) * sum((hits - p * trials) ** 2 for hits, trials in tasks) / n**2
        worth = effective_sample_size(n, k, p * (1 - p) / n, between)
    return wilson(p * worth, worth)


def mean_interval(figures: Sequence[tuple[Hashable, float]]) -> Interval | None:
    """Return the 95 % interval of the mean over trials, each with its task.

    None for fewer than two tasks.
    """
    return ratio_interval(figures, [(task, 1.0) for task, _ in figures])


def ratio_interval(
    above: Sequence[tuple[Hashable, float]], below: Sequence[tuple[Hashable, float]]
) -> Interval | None:
    """Return the 95 % interval of the ratio of two sums over trials, each with its task.

    A t interval over each task's contribution, corrected for skewness (Hall 1992, "On the removal
    of skewness by transformation"), and at each end at least as wide as without the correction.
    None for fewer than two tasks, and if the lower sum is 0.
    """
    tops, bottoms = _sums(above), _sums(below)
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


def _hall_inverse(reach: float, skewness: float, k: int) -> float:
    inner = 1 + skewness * (reach - skewness / (6 * k))
    return 3 / skewness * (cbrt(inner) - 1)


def paired_difference_interval(tasks: Sequence[PairCounts]) -> tuple[Interval, float] | None:
    """Return the 95 % interval of (won - lost) / pairs over tasks, and its two-sided p.

    Newcombe's interval (1998, method 10) over the effective number of pairs, and the p of
    ``sign_flip_p``. They agree: the interval includes 0 if and only if p is at least 5 %. None for
    several pairs of a single task.
    """
    cells = effective_counts(tasks)
    if cells is None:
        return None
    p = sign_flip_p([round(won - lost) for _, lost, won, _ in tasks])
    low, high = newcombe_interval(*cells)
    if p >= ALPHA:
        return (min(low, 0.0), max(high, 0.0)), p
    # The test rejects 0, so the interval must end before it.
    least = 0.5 / sum(map(sum, tasks))
    fell = sum(lost - won for _, lost, won, _ in tasks) > 0
    return ((low, min(high, -least)) if fell else (max(low, least), high)), p


def retained_share_interval(tasks: Sequence[PairCounts]) -> Interval | None:
    """Return the 95 % interval of the share of successes that is kept.

    MOVER (Donner and Zou 2012) over the effective number of pairs. None for several pairs of a
    single task, and if the other side has no success.
    """
    after, before = (sum(cells[0] + cells[side] for cells in tasks) for side in (2, 1))
    if not before:
        return None
    cells = effective_counts(tasks, after / before)
    return None if cells is None else paired_ratio_interval(*cells)


def effective_counts(tasks: Sequence[PairCounts], share: float = 1.0) -> PairCounts | None:
    """Return the same shares over the effective number of independent pairs.

    It is computed from the variance of this side minus ``share`` of the other, between one pair per
    task and all pairs (Korn and Graubard 1998). None for several pairs of a single task.
    """
    k, sums = len(tasks), [sum(column) for column in zip(*tasks, strict=True)]
    n = sum(sums)
    both, lost, won, neither = sums
    if n == k:
        return both, lost, won, neither
    if k < 2:
        return None
    middle = (both + won - share * (both + lost)) / n
    figures = (1 - share - middle, -share - middle, 1 - middle, -middle)
    alone = sum(cell * figure**2 for cell, figure in zip(sums, figures, strict=True)) / n**2
    of_tasks = (sum(c * f for c, f in zip(cells, figures, strict=True)) for cells in tasks)
    between = k / (k - 1) * sum(total**2 for total in of_tasks) / n**2
    worth = effective_sample_size(n, k, alone, between) / n
    return both * worth, lost * worth, won * worth, neither * worth


def effective_sample_size(n: float, k: int, alone: float, between: float) -> float:
    """Return how many independent trials are equivalent to ``n`` trials of ``k`` tasks.

    ``alone`` is the variance of the figure if all trials were independent, ``between`` its variance
    over tasks, corrected for few tasks. If nothing varies, each task counts once.
    """
    if alone <= _EPSILON:
        return float(k)
    if between <= _EPSILON:
        return float(n)
    worth = n * alone / between * (z_quantile() / t_quantile(k - 1)) ** 2
    return min(max(worth, float(k)), float(n))


def sign_flip_p(sums: Sequence[int]) -> float:
    """Return the two-sided mid-p of a sign-flip test over tasks.

    ``sums`` are the tasks' won minus lost pairs. All sign flips are counted, by convolution. With
    one pair per task it is McNemar's mid-p test (Fagerland, Lydersen and Laake 2013), which counts
    outcomes as extreme as the observed one by half.
    """
    import numpy as np

    moved = [abs(one) for one in sums if one]
    seen = abs(sum(sums))
    most = sum(moved)
    chances = np.zeros(2 * most + 1)
    chances[most] = 1.0
    for step in moved:
        turned = np.zeros_like(chances)
        turned[step:] += chances[:-step] / 2
        turned[:-step] += chances[step:] / 2
        chances = turned
    if not seen:
        return float(1 - chances[most] / 2) if most else 1.0
    return float(2 * chances[most + seen + 1 :].sum() + chances[most + seen])


def trend(tasks: Sequence[Sequence[tuple[float, bool]]]) -> tuple[float, float] | None:
    """Return slope and two-sided p of success over doses; ``tasks`` hold (dose, solved).

    The slope is the change of the success rate per doubling of the dose, by least squares within
    tasks. p is the mid-p of a sign-flip test over the tasks' slopes. None if no task has two doses.
    """
    rises, spread = list[float](), 0.0
    for trials in tasks:
        doses = [log2(dose) for dose, _ in trials]
        middle = fmean(doses)
        spread += sum((dose - middle) ** 2 for dose in doses)
        rises.append(
            sum(dose - middle for dose, (_, won) in zip(doses, trials, strict=True) if won)
        )
    if not spread:
        return None
    return sum(rises) / spread, _sign_flip_p_real([rise for rise in rises if abs(rise) > _EPSILON])


def _sign_flip_p_real(figures: Sequence[float]) -> float:
    """Return the mid-p of ``sign_flip_p`` for real numbers.

    For more than 14 figures it uses the normal approximation.
    """
    import numpy as np

    seen = abs(sum(figures))
    if len(figures) > _MAX_EXACT_FLIPS:
        return 2 * NormalDist().cdf(-seen / sqrt(sum(figure**2 for figure in figures)))
    if not figures:
        return 1.0
    ways = np.arange(2 ** len(figures))[:, None] >> np.arange(len(figures)) & 1
    sums = np.abs((1 - 2 * ways) @ np.array(figures)) - seen
    return float(np.mean(sums > _EPSILON) + np.mean(np.abs(sums) <= _EPSILON) / 2)


def _sums[T: Hashable](figures: Iterable[tuple[T, float]]) -> dict[T, float]:
    sums: dict[T, float] = {}
    for task, figure in figures:
        sums[task] = sums.get(task, 0.0) + figure
    return sums
