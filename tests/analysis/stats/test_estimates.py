import pytest

from warex.analysis.stats.estimates import Rate, clustered_rate, mean_over


def test_no_trials_give_no_estimate() -> None:
    assert Rate(0, 0).value is None
    assert Rate(0, 0).interval == (0.0, 1.0)


def test_several_trials_of_one_task_are_not_as_many_tasks() -> None:
    alone = clustered_rate((str(number), number < 12) for number in range(20))
    alike = clustered_rate((str(number % 5), number % 5 < 3) for number in range(20))

    assert (str(alone), str(alike)) == ("12/20", "12/20")
    assert alone.interval == Rate(12, 20).interval
    # Every task came out one way in all of its trials: five tasks are five observations.
    assert alike.interval == pytest.approx(Rate(3, 5).interval)


def test_trials_that_differ_within_tasks_say_more_than_a_trial_a_task() -> None:
    low, high = clustered_rate((str(n // 2), bool(n % 2)) for n in range(20)).interval
    alone = Rate(5, 10).interval
    assert alone[0] < low < 0.5 < high < alone[1]


def test_p_of_a_mean_at_the_end_of_its_interval_is_2_5_per_cent() -> None:
    mean = mean_over(list(enumerate([3.0, 4.0, 5.0, 6.0, 7.0, 8.0])))
    assert mean is not None
    assert mean.interval is not None
    low, high = mean.interval
    assert mean.bound_p(high, at_least=True) == pytest.approx(0.025)
    assert mean.bound_p(low, at_least=False) == pytest.approx(0.025)
    assert mean.bound_p(mean.value, at_least=True) == pytest.approx(0.5)
    assert (mean.median, mean.median_interval) == (5.5, (3.0, 8.0))
