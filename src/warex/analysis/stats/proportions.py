"""Tests and intervals of proportions, and the power of tests.

scipy has most of them, but needs 140 MB and a second to load. The tests compare these functions
with scipy, with published numbers and with their definitions.
"""

from collections.abc import Sequence
from functools import cache
from math import atan, ceil, comb, cos, exp, lgamma, log, pi, sin, sqrt, tan
from statistics import NormalDist

ALPHA = 0.05
"""Two-sided level of all tests; all intervals are 95 % intervals."""
_WANTED_POWER = 0.8
_MOST_PAIRS = 20_000


def wilson(hits: float, n: float, z: float | None = None) -> tuple[float, float]:
    """Return the score interval of a proportion (Wilson 1927), each end within 0 to 1.

    Unlike the normal approximation it is accurate at 0 of n and n of n. For n = 0 it is (0, 1).
    ``z`` is the normal quantile of another level than 95 %.
    """
    if n == 0:
        return 0.0, 1.0
    z, p = z_quantile() if z is None else z, hits / n
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z * sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    # At 0 of n and n of n, rounding may move the end slightly past the estimate.
    return max(0.0, min(middle - reach, p)), min(1.0, max(middle + reach, p))


@cache
def t_quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t; ``freedom`` is at least 1.

    By bisection of its distribution (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4) over the angle
    whose tangent is t / sqrt(freedom).
    """
    low, high = 0.0, pi / 2
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if _t_within(middle, freedom) < 1 - ALPHA else (low, middle)
    return tan(low) * sqrt(freedom)


def _t_within(angle: float, freedom: int) -> float:
    """Return the probability that Student's t is within ± tan(angle) * sqrt(freedom)."""
    odd = freedom % 2
    total, term = 0.0, cos(angle) if odd else 1.0
    for exponent in range(odd, freedom - 1, 2):
        total += term
        term *= cos(angle) ** 2 * (exponent + 1) / (exponent + 2)
    within = sin(angle) * total
    return 2 / pi * (angle + within) if odd else within


def student_cdf(t: float, freedom: int) -> float:
    """Return the probability that Student's t is at most ``t``."""
    within = _t_within(atan(abs(t) / sqrt(freedom)), freedom)
    return (1 + within) / 2 if t > 0 else (1 - within) / 2


def z_quantile() -> float:
    """Return the 97.5 % quantile of the normal distribution: 1.96."""
    return NormalDist().inv_cdf(1 - ALPHA / 2)


def newcombe_interval(
    both: float, lost: float, won: float, neither: float, z: float | None = None
) -> tuple[float, float]:
    """Return the 95 % interval of (won - lost) / n over pairs (Newcombe 1998, method 10).

    Built from the Wilson intervals of both sides, so it is accurate even if few pairs differ.
    Counts may be fractions. ``z`` is the normal quantile of another level.
    """
    n, after, before = both + lost + won + neither, both + won, both + lost
    low_after, high_after = wilson(after, n, z)
    low_before, high_before = wilson(before, n, z)
    p_after, p_before, value = after / n, before / n, (won - lost) / n
    phi = _correlation(both, lost, won, neither)

    def reach(one: float, other: float) -> float:
        return sqrt(max(0.0, one**2 - 2 * phi * one * other + other**2))

    low = value - reach(p_after - low_after, high_before - p_before)
    high = value + reach(high_after - p_after, p_before - low_before)
    return max(-1.0, low), min(1.0, high)


def paired_ratio_interval(
    both: float, lost: float, won: float, neither: float
) -> tuple[float, float] | None:
    """Return the 95 % interval of (both + won) / (both + lost) over pairs.

    Built from the Wilson intervals of both sides, as ``newcombe_interval`` (MOVER, Donner and Zou
    2012). None if the lower sum is 0.
    """
    n, after, before = both + lost + won + neither, both + won, both + lost
    if not before:
        return None
    top, bottom, phi = after / n, before / n, _correlation(both, lost, won, neither)
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


def _correlation(both: float, lost: float, won: float, neither: float) -> float:
    """Return the correlation of the two sides, corrected for continuity (Newcombe 1998)."""
    n, after, before = both + lost + won + neither, both + won, both + lost
    margins = after * (n - after) * before * (n - before)
    cross = both * neither - lost * won
    cross = max(0.0, cross - n / 2) if cross > 0 else cross
    return cross / sqrt(margins) if margins > 1e-9 else 0.0


def holm(ps: Sequence[float]) -> tuple[float, ...]:
    """Return the p of several tests, adjusted for their number (Holm 1979), in order."""
    fixed, highest = [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=lambda place: ps[place])):
        highest = max(highest, min(1.0, ps[place] * (len(ps) - rank)))
        fixed[place] = highest
    return tuple(fixed)


def fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the two-sided p of two independent rates, each (hits, n), by Fisher's exact test.

    It is the share of all tables with the same margins that are at most as likely as the observed.
    """
    (seen, n), (others, m) = first, second
    hits = seen + others
    fewest, most = max(0, hits - m), min(n, hits)
    ways = [comb(n, fewest) * comb(m, hits - fewest)]
    for k in range(fewest, most):
        ways.append(ways[-1] * (n - k) * (hits - k) // ((k + 1) * (m - hits + k + 1)))
    return sum(way for way in ways if way <= ways[seen - fewest]) / comb(n + m, hits)


def pass_k(tasks: Sequence[tuple[int, int]], k: int) -> float | None:
    """Return the probability that k trials of a task are all solved, as a mean over tasks.

    ``tasks`` are (solved, trials); those with fewer than k trials are ignored. Unbiased: the share
    of all choices of k trials that are all solved. None if no task has k trials.
    """
    shares = [comb(solved, k) / comb(n, k) for solved, n in tasks if n >= k]
    return sum(shares) / len(shares) if shares else None


def power(n: int, lose: float, win: float, alpha: float = ALPHA) -> float:
    """Return the probability that McNemar's mid-p test detects a drop over n pairs.

    A pair is lost with probability ``lose`` and won with ``win``. A significant rise is ignored.
    """
    differ = lose + win
    if n <= 0 or differ <= 0:
        return 0.0
    share, seen = win / differ, 0.0
    # The most of the differing pairs that may be won for a significant drop (-1: none), and the
    # probability that no more are won, by chance alone and by the given shares.
    most, by_chance, as_given = -1, 0.0, 0.0
    for differing in range(n + 1):
        # Mid-p: the observed outcome counts by half.
        while by_chance + binomial(most + 1, differing, 0.5) / 2 < alpha / 2:
            most += 1
            by_chance += binomial(most, differing, 0.5)
            as_given += binomial(most, differing, share)
        seen += binomial(differing, n, differ) * as_given
        # With one more differing pair, outcomes with the most wins that win it are excluded.
        by_chance -= binomial(most, differing, 0.5) / 2
        as_given -= binomial(most, differing, share) * share
    return min(1.0, seen)


def binomial(k: int, n: int, p: float) -> float:
    """Return the probability of k hits in n independent trials; ``p`` may be rounded above 1."""
    if not 0 <= k <= n:
        return 0.0
    if not 0 < p < 1:
        return float(k == (n if p >= 1 else 0))
    ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    return exp(ways + k * log(p) + (n - k) * log(1 - p))


def smallest_drop(n: int, ceiling: float, flips: float, alpha: float = ALPHA) -> float | None:
    """Return the smallest drop of a rate that is detected over n pairs with probability 0.8.

    ``ceiling`` is the rate before the drop, and so the largest drop. ``flips`` is the share of
    pairs that differ by chance alone, half of them each way. None if not even the largest drop is
    detected.
    """

    def seen(drop: float) -> bool:
        # No more pairs can be won than are still solved.
        won = min(flips / 2, ceiling - drop)
        return power(n, min(1 - won, drop + won), won, alpha) >= _WANTED_POWER

    low, high = 0.0, ceiling
    if not seen(high):
        return None
    while high - low > 5e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high


def tasks_needed(
    drop: float, flips: tuple[float, float], repeats: float, alpha: float = ALPHA
) -> tuple[int, int] | None:
    """Return the fewest and most tasks required to detect a drop with probability 0.8.

    ``flips`` are the least and the most share of pairs that differ by chance alone. The fewest are
    enough if repeats of a task are independent; the most, if they add no information. None if more
    than 20,000 would be required.
    """
    fewest, most = (
        pairs_needed(min(1 - by_chance / 2, drop + by_chance / 2), by_chance / 2, alpha)
        for by_chance in flips
    )
    if fewest is None or most is None:
        return None
    return ceil(fewest / max(1.0, repeats)), most


def pairs_needed(lose: float, win: float, alpha: float = ALPHA) -> int | None:
    """Return the number of pairs required to detect a difference with probability 0.8.

    ``lose`` and ``win`` are the shares of pairs that differ each way. None if they are equal, or if
    more than 20,000 would be required.
    """
    lose, win = max(lose, win), min(lose, win)

    def seen(n: int) -> bool:
        return power(n, lose, win, alpha) >= _WANTED_POWER

    if lose - win <= 0:
        return None
    high = 8
    while not seen(high):
        high *= 2
        if high > 2 * _MOST_PAIRS:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high if high <= _MOST_PAIRS else None
