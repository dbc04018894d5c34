from itertools import product
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warex.analysis.stats.clustered import (
    PairCounts,
    TaskId,
    effective_counts,
    mean_interval,
    paired_difference_interval,
    rate_interval,
    ratio_interval,
    retained_share_interval,
    sign_flip_p,
    trend,
)
from warex.analysis.stats.proportions import newcombe_interval, wilson

TASKS: list[TaskId] = [("b", f"task-{number}") for number in range(24)]
COUNTS = st.integers(0, 40)
CELLS = st.tuples(*4 * [st.integers(0, 3)]).filter(any)


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


def test_of_a_single_task_nothing_can_be_told() -> None:
    assert mean_interval([(TASKS[0], 1.0), (TASKS[0], 2.0)]) is None
    assert paired_difference_interval([(1, 1, 0, 0)]) is None
    assert retained_share_interval([(1, 1, 0, 0)]) is None


def test_a_ratio_has_none_where_there_is_nothing_below() -> None:
    assert ratio_interval([(task, 1.0) for task in TASKS], [(task, 0.0) for task in TASKS]) is None


@pytest.mark.parametrize("repeats", [2, 5])
@pytest.mark.parametrize("tasks", [5, 10])
def test_repeats_make_a_unanimous_result_no_less_certain(tasks: int, repeats: int) -> None:
    once: list[PairCounts] = [(0, 1, 0, 0)] * tasks
    often: list[PairCounts] = [(0, repeats, 0, 0)] * tasks
    assert paired_difference_interval(often) == paired_difference_interval(once)
    assert retained_share_interval(often) == retained_share_interval(once)


@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=8))
def test_trials_of_few_tasks_never_claim_more_than_as_many_trials_apart(
    tasks: list[tuple[int, int]],
) -> None:
    counts = [(hits, hits + more) for hits, more in tasks if hits + more]
    n, hits = sum(n for _, n in counts), sum(hits for hits, _ in counts)
    low, high = rate_interval(counts)
    alone = wilson(hits, n)
    assert low <= alone[0] + 1e-12
    assert high >= alone[1] - 1e-12


@given(st.lists(CELLS, min_size=2, max_size=9))
def test_pairs_are_worth_at_least_a_pair_a_task_and_at_most_themselves(
    tasks: list[PairCounts],
) -> None:
    worth = sum(effective_counts(tasks) or ())
    assert len(tasks) - 1e-9 <= worth <= sum(map(sum, tasks)) + 1e-9


@settings(deadline=None)
@given(st.lists(CELLS, min_size=2, max_size=9))
def test_an_interval_holds_its_difference_turns_with_it_and_agrees_with_p(
    tasks: list[PairCounts],
) -> None:
    found = paired_difference_interval(tasks)
    assert found is not None
    (low, high), p = found
    value = sum(won - lost for _, lost, won, _ in tasks) / sum(map(sum, tasks))
    assert -1 <= low <= value + 1e-9
    assert value - 1e-9 <= high <= 1
    assert (low <= 0 <= high) == (p >= 0.05)
    turned = paired_difference_interval(
        [(both, won, lost, neither) for both, lost, won, neither in tasks]
    )
    assert turned is not None
    assert turned[0] == pytest.approx((-high, -low), abs=1e-6)
    assert turned[1] == pytest.approx(p)


def test_one_pair_a_task_has_newcombe_s_interval() -> None:
    pairs: list[PairCounts] = [*[(0, 1, 0, 0)] * 8, *[(1, 0, 0, 0)] * 8]
    assert paired_difference_interval(pairs) == (newcombe_interval(8, 8, 0, 0), (1 / 2) ** 8)


@given(st.lists(st.integers(-5, 5), max_size=9))
def test_p_is_the_share_of_all_ways_to_turn_tasks_that_lie_further_and_half_of_those_as_far(
    sums: list[int],
) -> None:
    ways = [abs(sum(way)) for way in product(*((one, -one) for one in sums))]
    seen = abs(sum(sums))
    further, as_far = sum(way > seen for way in ways), ways.count(seen)
    wanted = (further + as_far / 2) / len(ways) if any(sums) else 1.0
    assert sign_flip_p(sums) == pytest.approx(wanted)


def test_a_trend_is_as_unlikely_as_when_each_task_s_slope_had_any_sign() -> None:
    falling = [[(1.0, True), (2.0, True), (4.0, False), (8.0, False)]]
    assert trend(falling * 10) == pytest.approx((-0.4, (1 / 2) ** 10))
    # Each trial five times over: no more tasks than before.
    assert trend([trials * 5 for trials in falling] * 10) == pytest.approx((-0.4, (1 / 2) ** 10))
    slope, p = trend(falling * 40) or (0.0, 1.0)
    assert slope == pytest.approx(-0.4)
    assert p < 1e-9
    same = [[(1.0, True), (2.0, False)], [(1.0, False), (2.0, True)]]
    assert trend(same) == (0.0, 0.75)
    assert trend([[(1.0, True), (2.0, True)]]) == (0.0, 1.0)
    assert trend([[(1.0, True)], [(2.0, False)]]) is None


def test_four_tasks_cannot_be_significant_however_often_they_are_repeated() -> None:
    assert sign_flip_p([-1] * 4) == sign_flip_p([-9] * 4) == 0.0625


def test_hundreds_of_tasks_come_near_the_normal_distribution() -> None:
    p = sign_flip_p([-1] * 330 + [1] * 270)
    assert p == pytest.approx(2 * NormalDist().cdf(-60 / 600**0.5), abs=2e-3)
