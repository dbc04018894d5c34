"""Intervals and tests over tasks that have several trials each.

Trials of one task are alike, so that a task counts as a whole: five trials of it are no five tasks.
Nothing is drawn at random: the same run has the same figures for ever.
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


_MAX_EXACT_FLIPS = 14
_EPSILON = 1e-9
"""Sums of floats that are no further apart are the same."""


def rate_interval(tasks: Sequence[tuple[int, int]]) -> Interval:
    """Return the 95 % interval of a rate over tasks, each (hits, trials).

    Wilson's score interval over as many independent trials as would give the spread between tasks,
    as in ``independent``.
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
    """Return the 95 % interval of the mean of trials' figures, each with its task.

    None for fewer than two tasks.
    """
    return ratio_interval(figures, [(task, 1.0) for task, _ in figures])


def ratio_interval(
    above: Sequence[tuple[Hashable, float]], below: Sequence[tuple[Hashable, float]]
) -> Interval | None:
    """Return the 95 % interval of the ratio of two sums over trials, each with its task.

    A t interval over what each task adds to the ratio, corrected for its skewness (Hall 1992, "On
    the removal of skewness by transformation"), and never narrower at an end than without the
    correction. None for fewer than two tasks, and where the lower sum is 0.
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
    # Sums of floats differ in their last bits from machine to machine.
    return round(low, 12), round(high, 12)


def _hall_inverse(reach: float, skewness: float, k: int) -> float:
    """Return the inverse of Hall's transformation."""
    inner = 1 + skewness * (reach - skewness / (6 * k))
    return 3 / skewness * (cbrt(inner) - 1)


def paired_difference_interval(tasks: Sequence[PairCounts]) -> tuple[Interval, float] | None:
    """Return the 95 % interval of (won - lost) / pairs over tasks, and its two-sided p.

    Newcombe's interval (1998, method 10) of as many independent pairs as would give the spread
    between tasks, and the p of ``sign_flip_p``. They agree: the interval holds 0 exactly where p is
    at least 5 %. None for several pairs of a single task.
    """
    cells = effective_counts(tasks)
    if cells is None:
        return None
    p = sign_flip_p([round(won - lost) for _, lost, won, _ in tasks])
    low, high = newcombe_interval(*cells)
    if p >= ALPHA:
        return (min(low, 0.0), max(high, 0.0)), p
    # Whatever lies beyond 0 is refuted with it.
    least = 0.5 / sum(map(sum, tasks))
    fell = sum(lost - won for _, lost, won, _ in tasks) > 0
    return ((low, min(high, -least)) if fell else (max(low, least), high)), p


def retained_share_interval(tasks: Sequence[PairCounts]) -> Interval | None:
    """Return the 95 % interval of the share of successes that is kept.

    MOVER (Donner and Zou 2012) over as many independent pairs as would give the spread between
    tasks. None for several pairs of a single task, and where there is nothing to keep.
    """
    after, before = (sum(cells[0] + cells[side] for cells in tasks) for side in (2, 1))
    if not before:
        return None
    cells = effective_counts(tasks, after / before)
    return None if cells is None else paired_ratio_interval(*cells)


def effective_counts(tasks: Sequence[PairCounts], share: float = 1.0) -> PairCounts | None:
    """Return the same shares of as many independent pairs as would give the spread between tasks.

    The spread is that of this side minus ``share`` of the other. At least one pair a task and at
    most all (Korn and Graubard 1998), with their correction for how little few tasks say of a
    spread. None for several pairs of a single task.
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
    """Return how many independent trials tell as much as ``n`` trials of ``k`` tasks.

    ``alone`` is the variance of the figure were all trials independent, ``between`` its variance
    over tasks. Where nothing varies there is no spread to judge by, and each task counts once.
    """
    if alone <= _EPSILON:
        return float(k)
    if between <= _EPSILON:
        return float(n)
    worth = n * alone / between * (z_quantile() / t_quantile(k - 1)) ** 2
    return min(max(worth, float(k)), float(n))


def sign_flip_p(sums: Iterable[int]) -> float:
    """Return the two-sided mid-p of tasks' differences, were each as likely the other way round.

    ``sums`` are the tasks' won minus lost pairs. Every way to turn tasks round counts, by
    convolution. With one pair a task it is McNemar's mid-p test (Fagerland, Lydersen and Laake
    2013); mid-p counts what is as extreme as the seen by half, which the exact test counts whole.
    """
    import numpy as np

    moved = [abs(one) for one in sums if one]
    seen = abs(sum(one for one in sums))
    most = sum(moved)
    chances = np.zeros(2 * most + 1)
    chances[most] = 1.0
    for step in moved:
        turned = np.zeros_like(chances)
        turned[step:] += chances[:-step] / 2
        turned[:-step] += chances[step:] / 2
        chances = turned
    if not seen:
        # Half of what is as extreme as nothing, and all else.
        return float(1 - chances[most] / 2) if most else 1.0
    return float(2 * chances[most + seen + 1 :].sum() + chances[most + seen])


def trend(tasks: Sequence[Sequence[tuple[float, bool]]]) -> tuple[float, float] | None:
    """Return slope and two-sided p of success over doses; ``tasks`` hold (dose, solved).

    The slope is the change of the success rate for each doubling of the dose, by least squares
    within tasks. p is how often the tasks' own slopes add up to as much, were each as likely the
    other way round; what is as extreme as the seen counts by half. None where no task has two
    doses.
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
    """Return the mid-p of ``sign_flip_p`` for figures that are no whole numbers.

    Of more than 14 by the normal distribution that their sum then comes near.
    """
    import numpy as np

    seen = abs(sum(figures))
    if len(figures) > _MAX_EXACT_FLIPS:
        spread = sqrt(sum(figure**2 for figure in figures))
        return 2 * NormalDist().cdf(-seen / spread)
    ways = np.arange(2 ** len(figures))[:, None] >> np.arange(len(figures)) & 1
    sums = np.abs((1 - 2 * ways) @ np.array(figures)) - seen
    return (
        float(np.mean(sums > _EPSILON) + np.mean(np.abs(sums) <= _EPSILON) / 2) if figures else 1.0
    )


def _sums[T: Hashable](figures: Iterable[tuple[T, float]]) -> dict[T, float]:
    sums: dict[T, float] = {}
    for task, figure in figures:
        sums[task] = sums.get(task, 0.0) + figure
    return sums


type PairKey = tuple[str, str, int]
"""Benchmark, task and repeat: what conditions have in common."""
