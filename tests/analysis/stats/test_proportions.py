"""Known answers: from publications, from scipy, and from definitions worked out here."""

from fractions import Fraction
from itertools import combinations, product
from math import comb, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.analysis.stats.proportions import (
    binomial,
    fisher,
    holm,
    newcombe_interval,
    paired_ratio_interval,
    pairs_needed,
    pass_k,
    power,
    smallest_drop,
    t_quantile,
    tasks_needed,
    wilson,
)

COUNTS = st.integers(0, 40)
PARTS = st.integers(0, 160).map(lambda quarters: quarters / 4)
"""Effective numbers of trials are no whole ones."""
Z95 = NormalDist().inv_cdf(0.975)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        # Newcombe 1998, table I, method 3 (score without continuity correction).
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_wilson_interval_gives_the_published_numbers(
    hits: int, n: int, low: float, high: float
) -> None:
    assert wilson(hits, n) == pytest.approx((low, high), abs=5e-5)


@given(PARTS, PARTS)
def test_the_ends_of_a_wilson_interval_are_as_far_as_the_score_test_allows(
    hits: float, more: float
) -> None:
    n = hits + more
    low, high = wilson(hits, n)
    assert 0 <= low <= high <= 1
    if not n:
        return
    assert low <= hits / n <= high
    for end in (low, high):
        if 0 < end < 1:
            assert abs(hits / n - end) == pytest.approx(Z95 * sqrt(end * (1 - end) / n))
    assert wilson(more, n) == pytest.approx((1 - high, 1 - low))


def _mcnemar_by_definition(lost: int, won: int) -> Fraction:
    n = lost + won
    few = min(lost, won)
    tail = Fraction(2 * sum(comb(n, k) for k in range(few)) + comb(n, few), 2 * 2**n)
    return 2 * tail


@pytest.mark.parametrize(
    ("table", "low", "high"),
    [
        # Newcombe 1998 (paired), table II, method 10.
        ((36, 2, 12, 0), 0.0569, 0.3404),
    ],
)
def test_the_interval_of_paired_rates_gives_the_published_numbers(
    table: tuple[int, int, int, int], low: float, high: float
) -> None:
    assert newcombe_interval(*table) == pytest.approx((low, high), abs=5e-5)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_interval_of_paired_rates_holds_the_difference_and_has_no_side(
    both: int, lost: int, won: int, neither: int
) -> None:
    n = both + lost + won + neither
    if not n:
        return
    low, high = newcombe_interval(both, lost, won, neither)
    assert -1 <= low <= (won - lost) / n <= high <= 1
    turned = newcombe_interval(both, won, lost, neither)
    assert turned == pytest.approx((-high, -low))


@pytest.mark.parametrize(("both", "lost", "won"), [(0.6, 0.2, 0.05), (0.3, 0.3, 0.0)])
def test_the_interval_of_paired_rates_covers_as_often_as_it_says(
    both: float, lost: float, won: float
) -> None:
    n, covered = 16, 0.0
    shares = (both, lost, won, 1 - both - lost - won)
    for b, d in product(range(n + 1), repeat=2):
        for g in range(n + 1 - b - d):
            counts = (b, d, g, n - b - d - g)
            if counts[3] < 0:
                continue
            low, high = newcombe_interval(*counts)
            chance, left = 1.0, n
            for share, count in zip(shares, counts, strict=True):
                chance *= comb(left, count) * share**count
                left -= count
            covered += chance * (low <= won - lost <= high)
    assert covered > 0.93


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_interval_of_a_paired_ratio_contains_the_ratio(
    both: int, lost: int, won: int, neither: int
) -> None:
    result = paired_ratio_interval(both, lost, won, neither)
    if not both + lost:
        assert result is None
        return
    assert result is not None
    low, high = result
    assert 0 <= low <= (both + won) / (both + lost) <= high


def test_the_paper_s_fine_tuning_is_significant() -> None:
    # Section 5.3 and appendix G: recovered in 9 of 21 and in 17 of 21.
    assert fisher((9, 21), (17, 21)) == pytest.approx(0.0247, abs=5e-5)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_fisher_s_test_is_the_tables_no_likelier_than_the_one_seen(
    a: int, b: int, c: int, d: int
) -> None:
    p = fisher((a, a + b), (c, c + d))
    assert 0 < p <= 1
    assert p == pytest.approx(fisher((c, c + d), (a, a + b)))
    full = comb(a + b + c + d, a + c)
    ways = [
        comb(a + b, k) * comb(c + d, a + c - k) for k in range(max(0, a - d), min(a + b, a + c) + 1)
    ]
    seen = comb(a + b, a) * comb(c + d, c)
    assert p == pytest.approx(float(Fraction(sum(w for w in ways if w <= seen), full)))


def test_holm_multiplies_the_smallest_by_all_and_never_falls_again() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([0.5, 0.9]) == pytest.approx((1.0, 1.0))
    assert holm([]) == ()


def test_the_score_interval_is_scipy_s() -> None:
    from scipy.stats import binomtest

    for n in (1, 2, 7, 120, 10_000):
        for hits in (0, 1, n // 3, n // 2, n):
            known = binomtest(hits, n).proportion_ci(method="wilson")
            assert wilson(hits, n) == pytest.approx((known.low, known.high), abs=1e-12)


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=6))
def test_holms_p_is_the_largest_bonferroni_p_of_any_set_with_the_test(
    ps: list[float],
) -> None:
    # The closure of Bonferroni's test: a hypothesis falls where each set that holds it does.
    numbers = range(len(ps))
    sets = [chosen for size in numbers for chosen in combinations(numbers, size + 1)]
    for number, fixed in enumerate(holm(ps)):
        of_sets = (len(s) * min(ps[one] for one in s) for s in sets if number in s)
        assert fixed == pytest.approx(min(1.0, max(of_sets)))


def test_the_quantile_of_student_s_t_is_scipy_s() -> None:
    from scipy.special import stdtrit

    for freedom in (*range(1, 60), 99, 100, 4999, 5000):
        assert t_quantile(freedom) == pytest.approx(float(stdtrit(freedom, 0.975)), rel=1e-11)


@given(st.integers(0, 300), st.integers(0, 1000))
def test_the_binomial_distribution_is_scipy_s(n: int, thousandths: int) -> None:
    from scipy.stats import binom

    p = thousandths / 1000
    for k in (-1, 0, 1, n // 2, n - 1, n, n + 1):
        assert binomial(k, n, p) == pytest.approx(float(binom.pmf(k, n, p)), rel=1e-9, abs=1e-15)


@given(st.lists(st.floats(1e-6, 1), min_size=1, max_size=6))
def test_an_adjusted_p_is_a_p_and_no_smaller(ps: list[float]) -> None:
    for bare, fixed in zip(ps, holm(ps), strict=True):
        assert bare - 1e-12 <= fixed <= 1


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=4))
def test_pass_k_is_the_share_of_choices_that_are_all_solved(tasks: list[list[bool]]) -> None:
    for k in (1, 2, 3):
        by_hand = [
            sum(map(all, chosen)) / len(chosen)
            for trials in tasks
            if (chosen := list(combinations(trials, k)))
        ]
        result = pass_k([(sum(trials), len(trials)) for trials in tasks], k)
        assert result == (pytest.approx(sum(by_hand) / len(by_hand)) if by_hand else None)


def test_power_is_the_sum_over_all_outcomes_that_would_be_significant() -> None:
    n, lose, win = 12, 0.5, 0.1
    stay = 1 - lose - win
    by_hand = sum(
        comb(n, b) * comb(n - b, c) * lose**b * win**c * stay ** (n - b - c)
        for b in range(n + 1)
        for c in range(n + 1 - b)
        if b > c and _mcnemar_by_definition(b, c) < Fraction(5, 100)
    )
    assert power(n, lose, win) == pytest.approx(by_hand)


@pytest.mark.parametrize(
    ("n", "lose", "win"), [(1, 1.0, 0.0), (60, 0.3, 0.05), (250, 0.0, 0.2), (5000, 0.11, 0.1)]
)
def test_power_is_as_by_scipy_s_binomial_distribution(n: int, lose: float, win: float) -> None:
    from scipy.stats import binom

    differing = range(n + 1)
    # The most wins whose mid-p is below the level, sought from the quantile on.
    most = [int(binom.ppf(0.025, one, 0.5)) for one in differing]
    mid = [binom.cdf(m, one, 0.5) - binom.pmf(m, one, 0.5) / 2 for one, m in enumerate(most)]
    most = [m if p < 0.025 else m - 1 for m, p in zip(most, mid, strict=True)]
    seen = np.asarray(binom.cdf(most, differing, win / (lose + win)))
    known = float(np.asarray(binom.pmf(differing, n, lose + win)) @ seen)
    assert power(n, lose, win) == pytest.approx(known, abs=1e-10)


def test_the_smallest_drop_is_just_seen_and_a_smaller_one_is_not() -> None:
    drop = smallest_drop(60, 0.7, 0.1)
    assert drop is not None
    assert power(60, drop + 0.05, 0.05) >= 0.8
    assert power(60, drop - 0.005 + 0.05, 0.05) < 0.8


def test_four_tasks_can_show_nothing() -> None:
    # Even four of four lost is p = 0.0625.
    assert smallest_drop(4, 1.0, 0.0) is None
    assert smallest_drop(5, 1.0, 0.0) == pytest.approx(0.8 ** (1 / 5), abs=1e-3)


def test_a_total_collapse_is_seen_though_pairs_flip_by_chance() -> None:
    drop = smallest_drop(8, 1.0, 0.1, 0.05 / 3)
    assert drop is not None
    assert 0.9 < drop < 1


def test_needed_tasks_are_fewest_where_repeats_tell_as_much_as_tasks() -> None:
    once = tasks_needed(0.2, (0.1, 0.1), 1)
    thrice = tasks_needed(0.2, (0.1, 0.1), 3)
    assert once is not None
    assert thrice is not None
    assert once[0] == once[1] == thrice[1]
    assert thrice[0] == -(-once[0] // 3)
    wider = tasks_needed(0.2, (0.05, 0.2), 1)
    assert wider is not None
    assert wider[0] < once[0] < wider[1]
    assert tasks_needed(0.0, (0.1, 0.1), 1) is None


def test_the_needed_pairs_are_enough_to_show_the_difference() -> None:
    needed = pairs_needed(0.2, 0.05)
    assert needed is not None
    assert power(needed, 0.2, 0.05) >= 0.8
    assert pairs_needed(0.05, 0.2) == needed
    assert pairs_needed(0.1, 0.1) is None
    assert pairs_needed(0.1001, 0.1) is None
