"""The tests and intervals, from scipy where it has them and is not slow to load.

The libraries are imported inside the functions: they take a second, and whoever only runs trials
must not pay for it.
"""

from collections.abc import Sequence
from math import ceil, comb, sqrt
from statistics import NormalDist

LEVEL = 0.05
"""Two-sided level of every test; every interval is a 95 % one."""


def wilson(hits: float, n: float) -> tuple[float, float]:
    """Return the score interval of a proportion (Wilson 1927), each end within 0 to 1.

    Unlike the normal approximation it stays honest at 0 of n and n of n, which is where small
    campaigns end. Of no trials at all nothing is known: (0, 1). Not by statsmodels, which takes two
    seconds of processor time to load.
    """
    if n == 0:
        return 0.0, 1.0
    z, p = z_quantile(), hits / n
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    # At 0 of n and n of n rounding leaves the end a hair inside or outside of the estimate.
    return max(0.0, min(middle - reach, p)), min(1.0, max(middle + reach, p))


def t_quantile(freedom: int) -> float:
    """Return the end of the middle 95 % of Student's t with so many degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 1 - LEVEL / 2))


def z_quantile() -> float:
    """Return the end of the middle 95 % of the normal distribution: 1.96."""
    return NormalDist().inv_cdf(1 - LEVEL / 2)


def paired_interval(both: float, lost: float, won: float, neither: float) -> tuple[float, float]:
    """Return the 95 % interval of (won - lost) / n over pairs (Newcombe 1998, method 10).

    Made of the two sides' Wilson intervals, so that it stays honest where hardly a pair differs.
    Pairs may be worth a part of one.
    """
    n = both + lost + won + neither
    after, before = both + won, both + lost
    low_after, high_after = wilson(after, n)
    low_before, high_before = wilson(before, n)
    p_after, p_before, value = after / n, before / n, (won - lost) / n
    phi = _alike(both, lost, won, neither)

    def reach(one: float, other: float) -> float:
        return sqrt(max(0.0, one**2 - 2 * phi * one * other + other**2))

    low = value - reach(p_after - low_after, high_before - p_before)
    high = value + reach(high_after - p_after, p_before - low_before)
    return max(-1.0, low), min(1.0, high)


def share_interval(
    both: float, lost: float, won: float, neither: float
) -> tuple[float, float] | None:
    """Return the 95 % interval of (both + won) / (both + lost) over pairs.

    Made of the two sides' Wilson intervals, as ``paired_interval`` is (MOVER, Donner and Zou 2012).
    None where the lower sum is 0.
    """
    n = both + lost + won + neither
    after, before = both + won, both + lost
    if not before:
        return None
    top, bottom, phi = after / n, before / n, _alike(both, lost, won, neither)
    low_top, high_top = wilson(after, n)
    low_bottom, high_bottom = wilson(before, n)
    middle = top * bottom - phi * (top - low_top) * (high_bottom - bottom)
    least = high_bottom * (2 * bottom - high_bottom)
    low = 0.0
    if least > 0:
        root = middle**2 - low_top * (2 * top - low_top) * least
        low = (middle - sqrt(max(0.0, root))) / least
    middle = top * bottom - phi * (high_top - top) * (bottom - low_bottom)
    most = low_bottom * (2 * bottom - low_bottom)
    root = middle**2 - high_top * (2 * top - high_top) * most
    high = (middle + sqrt(max(0.0, root))) / most
    return max(0.0, min(low, after / before)), max(high, after / before)


def _alike(both: float, lost: float, won: float, neither: float) -> float:
    """Return the correlation of the two sides, corrected for continuity (Newcombe 1998)."""
    n = both + lost + won + neither
    after, before = both + won, both + lost
    margins = after * (n - after) * before * (n - before)
    cross = both * neither - lost * won
    if cross > 0:
        cross = max(0.0, cross - n / 2)
    return cross / sqrt(margins) if margins > 1e-9 else 0.0


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


def power(n: int, lose: float, win: float, alpha: float = LEVEL) -> float:
    """Return how likely McNemar's mid-p test sees a fall over n pairs.

    A pair is lost with probability ``lose`` and won with ``win``; a significant rise is no fall
    seen.
    """
    import numpy as np
    from scipy.stats import binom

    differ = lose + win
    if n <= 0 or differ <= 0:
        return 0.0
    differing = np.arange(n + 1)
    # The most wins among so many differing pairs that are still significant; -1: none is. What is
    # as extreme as that counts by half.
    most = binom.ppf(alpha / 2, differing, 0.5)
    half = (binom.cdf(most - 1, differing, 0.5) + binom.cdf(most, differing, 0.5)) / 2
    most = np.where(half >= alpha / 2, most - 1, most)
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
        # No more is won than is still solved.
        won = min(flips / 2, ceiling - drop)
        return power(n, min(1 - won, drop + won), won, alpha) >= wanted

    low, high = 0.0, ceiling
    if not seen(high):
        return None
    while high - low > 5e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high


def tasks_needed(
    drop: float, flips: tuple[float, float], repeats: float, alpha: float = LEVEL
) -> tuple[int, int] | None:
    """Return how many tasks it takes to see a stated fall with probability 0.8: fewest and most.

    ``flips`` are the least and the most share of pairs that differ by chance alone. The fewest are
    enough where repeats of a task tell as much as other tasks would; the most, where they tell
    nothing new. None where more than 20,000 would be needed.
    """
    fewest, most = (
        pairs_needed(min(1 - by_chance / 2, drop + by_chance / 2), by_chance / 2, alpha)
        for by_chance in flips
    )
    if fewest is None or most is None:
        return None
    return ceil(fewest / max(1.0, repeats)), most


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
