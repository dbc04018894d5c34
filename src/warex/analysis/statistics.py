"""The tests and intervals, from scipy and statsmodels where they have them.

The libraries are imported inside the functions: they take a second, and whoever only runs trials
must not pay for it.
"""

from collections.abc import Sequence
from math import comb, log2, sqrt

LEVEL = 0.05
"""Two-sided level of every test; every interval is a 95 % one."""


def wilson(hits: float, n: float) -> tuple[float, float]:
    """Return the score interval of a proportion (Wilson 1927), each end within 0 to 1.

    Unlike the normal approximation it stays honest at 0 of n and n of n, which is where small
    campaigns end. Of no trials at all nothing is known: (0, 1).
    """
    if n == 0:
        return 0.0, 1.0
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(hits, n, alpha=LEVEL, method="wilson")
    # At 0 of n and n of n rounding leaves the end a hair inside or outside of the estimate.
    return max(0.0, min(float(low), hits / n)), min(1.0, max(float(high), hits / n))


def wilson_clustered(tasks: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return the score interval of a proportion over tasks with several trials each.

    ``tasks`` are (hits, trials). Trials of one task are alike, so that they count as fewer: as many
    as would give the spread seen between tasks, at least one a task, at most each (Korn and
    Graubard 1998). Where all trials came out the same there is no spread to judge by, and each task
    counts once.
    """
    k, n = len(tasks), sum(trials for _, trials in tasks)
    if not n:
        return 0.0, 1.0
    p = sum(hits for hits, _ in tasks) / n
    worth = float(k)
    if 0 < p < 1 and k > 1:
        between = k / (k - 1) * sum((hits - p * trials) ** 2 for hits, trials in tasks) / n**2
        worth = p * (1 - p) / between if between else float(n)
    worth = min(max(worth, float(k)), float(n))
    return wilson(p * worth, worth)


def mcnemar_exact(lost: int, won: int) -> float:
    """Return the two-sided p of pairs that differ one way and the other (McNemar, exact)."""
    from statsmodels.stats.contingency_tables import mcnemar

    return min(1.0, float(mcnemar([[0, lost], [won, 0]], exact=True).pvalue))


def paired_interval(both: int, lost: int, won: int, neither: int) -> tuple[float, float]:
    """Return the 95 % interval of (won - lost) / n over pairs (Newcombe 1998, method 10).

    Made of the two sides' Wilson intervals, so that it stays honest where hardly a pair differs.
    """
    n = both + lost + won + neither
    after, before = both + won, both + lost
    low_after, high_after = wilson(after, n)
    low_before, high_before = wilson(before, n)
    p_after, p_before, value = after / n, before / n, (won - lost) / n
    margins = after * (n - after) * before * (n - before)
    cross = float(both * neither - lost * won)
    if cross > 0:
        cross = max(0.0, cross - n / 2)
    phi = cross / sqrt(margins) if margins else 0.0

    def reach(one: float, other: float) -> float:
        return sqrt(max(0.0, one**2 - 2 * phi * one * other + other**2))

    low = value - reach(p_after - low_after, high_before - p_before)
    high = value + reach(high_after - p_after, p_before - low_before)
    return max(-1.0, low), min(1.0, high)


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """Return the p of several tests, adjusted for being several (Holm 1979), in their order.

    Not by statsmodels, whose function collects garbage at each call: seconds, in a large run.
    """
    fixed, highest = [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda place: ps[place])):
        highest = max(highest, min(1.0, ps[place] * (len(ps) - rank)))
        fixed[place] = highest
    return tuple(fixed)


def fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the two-sided p of two independent rates, each (hits, n), by Fisher's exact test."""
    from scipy.stats import fisher_exact

    table = [[hits, n - hits] for hits, n in (first, second)]
    return min(1.0, float(fisher_exact(table).pvalue))


def pass_k(tasks: Sequence[tuple[int, int]], k: int) -> float | None:
    """Return how likely k trials of a task are all solved, as a mean over tasks.

    ``tasks`` are (solved, trials); those with fewer than k trials say nothing. Unbiased: of all
    ways to choose k of the trials, the share that are all solved. None where no task says anything.
    """
    shares = [comb(solved, k) / comb(n, k) for solved, n in tasks if n >= k]
    return sum(shares) / len(shares) if shares else None


def trend(tasks: Sequence[Sequence[tuple[float, bool]]]) -> tuple[float, float] | None:
    """Return slope and two-sided p of success over doses; ``tasks`` hold (dose, solved).

    The slope is the change of the success rate for each doubling of the dose, by least squares
    within tasks. The p is Cochran's and Armitage's, with tasks as strata (Mantel 1963): within a
    task it is chance which doses its successes fall on. None where no task has two doses.
    """
    from scipy.stats import norm

    reached = expected = variance = spread = 0.0
    for trials in tasks:
        n = len(trials)
        if n < 2:
            continue
        doses = [log2(dose) for dose, _ in trials]
        middle = sum(doses) / n
        squares = sum((dose - middle) ** 2 for dose in doses)
        solved = sum(won for _, won in trials)
        reached += sum(dose for dose, (_, won) in zip(doses, trials, strict=True) if won)
        expected += solved * middle
        variance += solved * (n - solved) / (n * (n - 1)) * squares
        spread += squares
    if not spread:
        return None
    slope = (reached - expected) / spread
    if not variance:
        return slope, 1.0
    return slope, min(1.0, 2 * float(norm.sf(abs(reached - expected) / sqrt(variance))))


def power(n: int, lose: float, win: float, alpha: float = LEVEL) -> float:
    """Return how likely the exact McNemar test sees a fall over n pairs.

    A pair is lost with probability ``lose`` and won with ``win``; a significant rise is no fall
    seen.
    """
    import numpy as np
    from scipy.stats import binom

    differ = lose + win
    if n <= 0 or differ <= 0:
        return 0.0
    differing = np.arange(n + 1)
    # The most wins among so many differing pairs that are still significant; -1: none is.
    most = binom.ppf(alpha / 2, differing, 0.5)
    most = np.where(binom.cdf(most, differing, 0.5) > alpha / 2, most - 1, most)
    seen = binom.cdf(most, differing, min(1.0, win / differ))
    return float(min(1.0, np.sum(binom.pmf(differing, n, min(1.0, differ)) * seen)))


def smallest_drop(
    n: int, ceiling: float, flips: float, alpha: float = LEVEL, wanted: float = 0.8
) -> float | None:
    """Return the smallest fall of a rate that is seen over n pairs with probability ``wanted``.

    ``ceiling`` is the rate before the fall, below which nothing can fall. ``flips`` is the share of
    pairs that differ by chance alone, half of them each way. None where not even the deepest fall
    would be seen.
    """

    def seen(drop: float) -> bool:
        return power(n, min(1 - flips / 2, drop + flips / 2), flips / 2, alpha) >= wanted

    low, high = 0.0, ceiling
    if not seen(high):
        return None
    while high - low > 5e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high


def pairs_needed(
    lose: float, win: float, alpha: float = LEVEL, wanted: float = 0.8, most: int = 20_000
) -> int | None:
    """Return how many pairs it takes to see a difference with probability ``wanted``.

    ``lose`` and ``win`` are the shares of pairs that differ each way. None where they are the
    same, or where more than ``most`` would be needed.
    """
    lose, win = max(lose, win), min(lose, win)

    def seen(n: int) -> bool:
        return power(n, lose, win, alpha) >= wanted

    if lose - win <= 0:
        return None
    high = 8
    while not seen(high):
        high *= 2
        if high > 2 * most:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high if high <= most else None
