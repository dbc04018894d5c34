from math import exp, log, sqrt
from statistics import fmean, variance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.analysis.stats.means import mean_interval, median_interval, ratio_interval

TASKS = [("b", f"task-{number}") for number in range(24)]


def test_the_same_run_has_the_same_interval_in_any_order() -> None:
    figures = [(task, 1.1**place) for place, task in enumerate(TASKS)]
    assert mean_interval(figures[::-1]) == mean_interval(figures)


def test_the_interval_of_an_even_mean_is_student_s() -> None:
    figures = [(task, float(place)) for place, task in enumerate(TASKS)]
    n = len(TASKS)
    error = (sum((place - (n - 1) / 2) ** 2 for place in range(n)) / (n - 1) / n) ** 0.5
    # Student's t with 23 degrees of freedom: 2.0687.
    assert mean_interval(figures) == pytest.approx(
        ((n - 1) / 2 - 2.0687 * error, (n - 1) / 2 + 2.0687 * error), abs=1e-3
    )


def test_a_long_tail_lengthens_the_interval_on_its_side() -> None:
    figures = [(task, 1.0 if place else 30.0) for place, task in enumerate(TASKS)]
    mean = sum(figure for _, figure in figures) / len(TASKS)
    low, high = mean_interval(figures) or (0, 0)
    assert 0 <= low < mean < high
    assert high - mean > 2 * (mean - low)


def test_repeats_of_a_task_add_no_certainty_where_they_are_all_alike() -> None:
    once = [(task, float(place % 2)) for place, task in enumerate(TASKS)]
    assert mean_interval(once) == mean_interval(once * 5)


def test_a_ratio_with_a_zero_denominator_has_no_interval() -> None:
    assert ratio_interval([(task, 1.0) for task in TASKS], [(task, 0.0) for task in TASKS]) is None


def test_a_mean_over_one_task_has_no_interval() -> None:
    assert mean_interval([(TASKS[0], 1.0), (TASKS[0], 2.0)]) is None


def test_a_mean_of_positive_amounts_has_at_least_cox_s_interval() -> None:
    from scipy.stats import t

    figures = [1.0, 1.5, 2.0, 9.0, 40.0, 120.0]
    logs = [log(figure) for figure in figures]
    k, spread = len(figures), variance(logs)
    reach = t.ppf(0.975, k - 1) * sqrt(spread / k + spread**2 / (2 * (k - 1)))
    low, high = mean_interval(list(enumerate(figures))) or (0, 0)
    assert high == pytest.approx(exp(fmean(logs) + spread / 2 + reach))
    assert low <= exp(fmean(logs) + spread / 2 - reach)


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=60, unique=True))
def test_a_median_lies_between_figures_that_a_sign_test_does_not_reject(
    figures: list[float],
) -> None:
    from scipy.stats import binom

    n, interval = len(figures), median_interval(figures)
    if n < 6:
        assert interval is None
        return
    assert interval is not None
    below = sum(figure < interval[0] for figure in figures)
    assert sum(figure > interval[1] for figure in figures) == below
    # So many figures on either side of the median are not too few, and one fewer would be.
    assert 2 * binom.cdf(below, n, 0.5) <= 0.05 < 2 * binom.cdf(below + 1, n, 0.5)
