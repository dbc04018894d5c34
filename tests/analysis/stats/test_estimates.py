import pytest

from warex.analysis.stats.estimates import Rate, clustered_rate


def test_of_no_trials_nothing_is_known() -> None:
    assert Rate(0, 0).value is None
    assert Rate(0, 0).interval == (0.0, 1.0)


def test_several_trials_of_one_task_are_not_as_many_tasks() -> None:
    alone = clustered_rate((str(number), number < 12) for number in range(20))
    alike = clustered_rate((str(number % 5), number % 5 < 3) for number in range(20))

    assert (str(alone), str(alike)) == ("12/20", "12/20")
    assert alone.interval == Rate(12, 20).interval
    # Every task came out one way in all of its trials: five tasks are five observations.
    assert alike.interval == pytest.approx(Rate(3, 5).interval)


def test_trials_that_differ_within_tasks_as_much_as_between_count_in_full() -> None:
    mixed = clustered_rate((str(number // 2), bool(number % 2)) for number in range(20))
    assert mixed.interval == pytest.approx(Rate(10, 20).interval)
