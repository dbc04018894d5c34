"""A campaign stops when the same thing voids trial after trial, and not for bad luck."""

import pytest

from warex.campaigns.run.circuit_breaker import CampaignStopped, CircuitBreaker
from warex.traces import Counted, Void

FINE = Counted(ending="answered", score=1.0, latency_s=1)


def void(reason: str = "no key") -> Void:
    return Void(reason=reason)


def test_five_voids_in_a_row_for_one_reason_stop_it_with_the_reason() -> None:
    streak = CircuitBreaker(tasks=2)
    for task in "abab":
        streak.record(task, void())

    with pytest.raises(CampaignStopped, match=r"5 trials in a row are void.*: no key") as stopped:
        streak.record("a", void())
    assert stopped.value.exit_code == 3


def test_ports_and_paths_make_no_other_reason() -> None:
    streak = CircuitBreaker(tasks=2)
    for n in range(4):
        streak.record(f"t{n}", void(f"port {n} of /runs/{n}/x is closed"))

    with pytest.raises(CampaignStopped):
        streak.record("t4", void("port 4 of /runs/4/x is closed"))


def test_a_trial_that_counts_begins_again() -> None:
    streak = CircuitBreaker(tasks=9)
    for n in range(20):
        streak.record(f"t{n}", FINE if n % 4 == 0 else void())


def test_another_reason_begins_again() -> None:
    streak = CircuitBreaker(tasks=9)
    for n in range(20):
        streak.record(f"t{n}", void("one" if n % 2 else "other"))


def test_one_broken_task_does_not_stop_the_others() -> None:
    streak = CircuitBreaker(tasks=2)
    for _ in range(9):
        streak.record("broken", void())

    with pytest.raises(CampaignStopped):
        streak.record("other", void())


def test_a_campaign_of_one_task_stops_too() -> None:
    streak = CircuitBreaker(tasks=1)
    for _ in range(4):
        streak.record("only", void())

    with pytest.raises(CampaignStopped):
        streak.record("only", void())


def test_three_deaths_in_a_row_stop_the_run() -> None:
    streak = CircuitBreaker(tasks=9)
    streak.record("a", Void(reason="the reaper", died=True))
    streak.record("a", Void(reason="the proxy", died=True))
    streak.record("a", FINE)
    streak.record("a", Void(reason="the reaper", died=True))
    streak.record("a", Void(reason="the proxy", died=True))

    with pytest.raises(CampaignStopped, match=r"3 trials in a row .*: the forkserver") as stopped:
        streak.record("a", Void(reason="the forkserver", died=True))
    assert stopped.value.exit_code == 3


def test_what_a_harness_said_last_makes_no_other_reason() -> None:
    streak = CircuitBreaker(tasks=2)
    for n in range(4):
        streak.record(f"t{n}", void(f"it ended with code 2, after it said: bad goal {'x' * n}"))

    with pytest.raises(CampaignStopped, match="begin a new run with another --out"):
        streak.record("t4", void("it ended with code 2, after it said: bad goal y"))
