"""Intervals and tests of differences over tasks that have several trials each.

Trials of one task are not independent, so the task is the unit. Nothing is drawn at random: the
same run always has the same figures.
"""

from collections.abc import Sequence
from functools import cache
from math import comb, log2, sqrt
from statistics import NormalDist, fmean

from warex.analysis.stats.proportions import (
    ALPHA,
    newcombe_interval,
    paired_ratio_interval,
    t_quantile,
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
_MOST_Z = 8.0
_EPSILON = 1e-9
"""Sums of floats that differ by less are equal."""


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


def difference_p(cells: PairCounts, bound: float) -> float:
    """Return the one-sided p of the hypothesis that (won - lost) / pairs is at least ``bound``.

    It is the level at which Newcombe's interval over an effective number of pairs ends at the
    bound; 1 if what was observed reaches it.
    """
    _, lost, won, _ = cells
    if (won - lost) / sum(cells) >= bound:
        return 1.0
    low, high = 0.0, _MOST_Z
    while high - low > _EPSILON:
        middle = (low + high) / 2
        reached = newcombe_interval(*cells, z=middle)[1] >= bound
        low, high = (low, middle) if reached else (middle, high)
    return NormalDist().cdf(-low)


def within_tasks_p(tasks: Sequence[tuple[int, int, int]]) -> float:
    """Return the two-sided mid-p of a difference on these very tasks.

    ``tasks`` are (trials on each side, successes on this side, on the other). Under the hypothesis
    that a side changes nothing in any task, a task's trials may be exchanged between the sides, so
    its successes on this side are hypergeometric; their sum is by convolution. This is the exact
    conditional test of a common odds ratio of 1 (Gart 1970), two-sided, with mid-p.
    With one trial a side it is McNemar's mid-p test.
    """
    import numpy as np

    chances, seen = np.ones(1), 0
    for n, this, other in tasks:
        hits = this + other
        fewest = max(0, hits - n)
        seen += this - fewest
        chances = np.convolve(chances, _shares(n, hits))
    # The sides have as many trials each, so the distribution is symmetric.
    nearer = min(seen, len(chances) - 1 - seen)
    if 2 * nearer == len(chances) - 1:
        return float(1 - chances[nearer] / 2) if nearer else 1.0
    return float(2 * chances[:nearer].sum() + chances[nearer])


@cache
def _shares(n: int, hits: int) -> tuple[float, ...]:
    """Return how probable each number of hits on one of two sides of n trials is."""
    ways = [comb(n, k) * comb(n, hits - k) for k in range(max(0, hits - n), min(n, hits) + 1)]
    return tuple(way / comb(2 * n, hits) for way in ways)


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
