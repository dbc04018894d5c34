from itertools import combinations, product
from statistics import NormalDist

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warex.analysis.stats.clustered import (
    PairCounts,
    difference_p,
    effective_counts,
    paired_difference_interval,
    retained_share_interval,
    sign_flip_p,
    trend,
    within_tasks_p,
)
from warex.analysis.stats.proportions import newcombe_interval

CELLS = st.tuples(*4 * [st.integers(0, 3)]).filter(any)


def test_a_single_task_has_no_paired_interval() -> None:
    assert paired_difference_interval([(1, 1, 0, 0)]) is None
    assert retained_share_interval([(1, 1, 0, 0)]) is None


@pytest.mark.parametrize("repeats", [2, 5])
@pytest.mark.parametrize("tasks", [5, 10])
def test_repeats_make_a_unanimous_result_no_less_certain(tasks: int, repeats: int) -> None:
    once: list[PairCounts] = [(0, 1, 0, 0)] * tasks
    often: list[PairCounts] = [(0, repeats, 0, 0)] * tasks
    assert paired_difference_interval(often) == paired_difference_interval(once)
    assert retained_share_interval(often) == retained_share_interval(once)


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
    result = paired_difference_interval(tasks)
    assert result is not None
    (low, high), p = result
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
def test_p_is_the_mid_p_share_of_all_sign_flips_of_tasks(
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


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=9))
def test_with_one_pair_a_task_both_questions_have_mcnemar_s_test(
    pairs: list[tuple[bool, bool]],
) -> None:
    this = within_tasks_p([(1, int(after), int(before)) for after, before in pairs])
    assert this == pytest.approx(sign_flip_p([after - before for after, before in pairs]))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 2), st.integers(0, 2), st.integers(0, 2)), max_size=4))
def test_p_is_the_share_of_all_permutations_of_trials_within_tasks(
    tasks: list[tuple[int, int, int]],
) -> None:
    counts = [(n, min(this, n), min(other, n)) for n, this, other in tasks]
    ways = [0]
    for n, this, other in counts:
        trials = [1] * (this + other) + [0] * (2 * n - this - other)
        dealt = [sum(side) for side in combinations(trials, n)]
        ways = [sum_ + one for sum_ in ways for one in dealt]
    seen = sum(this for _, this, _ in counts)
    middle = sum(this + other for _, this, other in counts) / 2
    further = sum(abs(way - middle) > abs(seen - middle) for way in ways)
    as_far = sum(abs(way - middle) == abs(seen - middle) for way in ways)
    wanted = (further + as_far / 2) / len(ways) if len({*ways}) > 1 else 1.0
    assert within_tasks_p(counts) == pytest.approx(wanted)


def test_repeats_add_certainty_about_these_tasks_only() -> None:
    # Four tasks are too few to say anything of others, however often they are repeated.
    assert sign_flip_p([-5] * 4) == 0.0625
    assert within_tasks_p([(5, 0, 5)] * 4) < 1e-8


@given(CELLS, st.floats(-0.9, 0.9))
def test_p_of_a_difference_agrees_with_its_interval(cells: PairCounts, bound: float) -> None:
    _, lost, won, _ = cells
    p = difference_p(cells, bound)
    if (won - lost) / sum(cells) >= bound:
        assert p == 1
    elif 1e-12 < p < 0.5:
        z = -NormalDist().inv_cdf(p)
        assert newcombe_interval(*cells, z=z)[1] == pytest.approx(bound, abs=1e-6)
