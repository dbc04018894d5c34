import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warex.analysis.bootstrap import Resampled, Task, flip_p
from warex.analysis.statistics import mcnemar_exact

TASKS: list[Task] = [("b", f"task-{number}") for number in range(24)]


def test_the_same_run_has_the_same_interval_in_any_order() -> None:
    figures = [(task, 1.1**place) for place, task in enumerate(TASKS)]
    interval = Resampled(TASKS, 7).mean(figures)

    assert Resampled(reversed(TASKS), 7).mean(figures[::-1]) == interval
    assert Resampled(TASKS, 8).mean(figures) != interval


def test_the_interval_of_a_mean_is_about_two_standard_errors() -> None:
    figures = [(task, float(place)) for place, task in enumerate(TASKS)]
    n = len(TASKS)
    error = ((n * n - 1) / 12 / n) ** 0.5

    low, high = Resampled(TASKS, 1).mean(figures) or (0, 0)

    assert low == pytest.approx((n - 1) / 2 - 1.96 * error, abs=0.3)
    assert high == pytest.approx((n - 1) / 2 + 1.96 * error, abs=0.3)


def test_repeats_of_a_task_add_no_certainty_where_they_are_all_alike() -> None:
    once = [(task, float(place % 2)) for place, task in enumerate(TASKS)]
    assert Resampled(TASKS, 1).mean(once) == Resampled(TASKS, 1).mean(once * 5)


def test_of_a_single_task_nothing_can_be_told() -> None:
    lone = Resampled(TASKS[:1], 1)
    assert lone.mean([(TASKS[0], 1.0), (TASKS[0], 2.0)]) is None
    assert lone.difference([(TASKS[0], 1.0), (TASKS[0], -1.0)]) is None
    assert lone.share([(TASKS[0], 1.0)], [(TASKS[0], 1.0)]) is None


def test_tasks_that_all_differ_by_the_same_leave_a_doubt() -> None:
    tasks = Resampled(TASKS[:10], 1)
    low, high = tasks.difference([(task, -1.0) for task in TASKS[:10]]) or (0, 0)
    assert low == -1
    assert -0.7 < high < -0.3
    assert tasks.share(
        [(task, 0.0) for task in TASKS[:10]], [(task, 1.0) for task in TASKS[:10]]
    ) == pytest.approx((0, 0.25), abs=0.1)
    assert tasks.share([], [(task, 0.0) for task in TASKS[:10]]) is None


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=2, max_size=24))
def test_an_interval_holds_its_difference_and_turns_with_it(differences: list[float]) -> None:
    figures = list(zip(TASKS, differences, strict=False))
    tasks = Resampled([task for task, _ in figures], 3)
    low, high = tasks.difference(figures) or (2, -2)
    value = sum(differences) / len(differences)
    assert -1 <= low <= value + 1e-9
    assert value - 1e-9 <= high <= 1
    if len(set(differences)) > 1:
        turned = tasks.difference([(task, -figure) for task, figure in figures])
        assert turned == pytest.approx((-high, -low), abs=1e-6)


@given(st.integers(0, 7), st.integers(0, 7))
def test_flipping_tasks_of_one_trial_each_is_mcnemar_s_test(lost: int, won: int) -> None:
    p = flip_p([-1.0] * lost + [1.0] * won + [0.0] * 3, 1)
    assert p == pytest.approx(mcnemar_exact(lost, won))


def test_with_many_tasks_flips_are_drawn_and_come_near_the_exact_p() -> None:
    p = flip_p([-1.0] * 15 + [1.0] * 5, 1)
    assert p == pytest.approx(mcnemar_exact(15, 5), abs=0.005)
    assert flip_p([-1.0] * 15 + [1.0] * 5, 1) == p


def test_three_tasks_cannot_be_significant_however_often_they_are_repeated() -> None:
    assert flip_p([-1.0, -1.0, -1.0], 1) == 0.25
