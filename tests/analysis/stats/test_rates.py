from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warex.analysis.stats.rates import binomial_cdf, rate_interval, rate_p

COUNTS = st.integers(0, 4)


def _alone(hits: int, n: int) -> list[tuple[int, int]]:
    return [(1, 1)] * hits + [(0, 1)] * (n - hits)


@given(st.integers(0, 80), st.integers(0, 80), st.floats(0.01, 0.99))
def test_one_trial_a_task_gets_binomial_test_and_clopper_pearson(
    hits: int, more: int, bound: float
) -> None:
    from scipy.stats import beta, binom

    n = hits + more
    assert binomial_cdf(hits, n, bound) == pytest.approx(binom.cdf(hits, n, bound), abs=1e-10)
    if not n:
        assert rate_interval([]) == (0, 1)
        return
    tasks = _alone(hits, n)
    assert rate_p(tasks, bound, at_least=True) == pytest.approx(binom.cdf(hits, n, bound))
    assert rate_p(tasks, bound, at_least=False) == pytest.approx(binom.sf(hits - 1, n, bound))
    low = beta.ppf(0.025, hits, more + 1) if hits else 0
    high = beta.ppf(0.975, hits + 1, more) if more else 1
    assert rate_interval(tasks) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize("repeats", [2, 5])
def test_repeats_of_tasks_that_come_out_one_way_add_no_certainty(repeats: int) -> None:
    often = [(repeats * hit, repeats) for hit, _ in _alone(5, 8)]
    assert rate_interval(often) == pytest.approx(rate_interval(_alone(5, 8)), abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=8), st.floats(0.1, 0.9))
def test_p_of_a_rate_is_that_of_a_bayesian_bootstrap(
    counts: list[tuple[int, int]], bound: float
) -> None:
    tasks = [(hits, hits + more) for hits, more in counts if hits + more]
    if not tasks or all(hits == n for hits, n in tasks):
        return
    assert rate_p(tasks, bound, at_least=True) == pytest.approx(_drawn(tasks, bound), abs=0.02)


def _drawn(tasks: Sequence[tuple[int, int]], bound: float) -> float:
    draw = np.random.default_rng(1)
    figures = [hits - bound * n for hits, n in tasks]
    figures.append((1 - bound) * max(n for _, n in tasks))
    weights = draw.exponential(size=(10_000, len(figures)))
    return float((weights @ figures >= 0).mean())


@settings(deadline=None)
@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=12))
def test_an_interval_holds_its_rate_and_the_rates_that_are_not_rejected(
    counts: list[tuple[int, int]],
) -> None:
    tasks = [(hits, hits + more) for hits, more in counts if hits + more]
    if not tasks:
        return
    rate = sum(hits for hits, _ in tasks) / sum(n for _, n in tasks)
    low, high = rate_interval(tasks)
    assert 0 <= low <= rate + 1e-12 <= high + 2e-12 <= 1 + 2e-12
    turned = rate_interval([(n - hits, n) for hits, n in tasks])
    assert turned == pytest.approx((1 - high, 1 - low), abs=1e-9)
    if high < 1:
        assert rate_p(tasks, high, at_least=True) == pytest.approx(0.025, abs=1e-6)
    if low > 0:
        assert rate_p(tasks, low, at_least=False) == pytest.approx(0.025, abs=1e-6)


def test_hundreds_of_tasks_have_an_interval_too() -> None:
    low, high = rate_interval([(1, 2)] * 400 + [(2, 2)] * 200 + [(0, 2)] * 200)
    assert (low, high) == pytest.approx((0.5 - 0.0248, 0.5 + 0.0248), abs=1e-3)
