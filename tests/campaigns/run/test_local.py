"""Lanes take turns until none is left."""

import signal
import threading
from collections import Counter
from collections.abc import Callable
from concurrent import futures
from concurrent.futures import Future

import pytest

from warex.campaigns.config.campaign import Budget
from warex.campaigns.run.circuit_breaker import CampaignStopped
from warex.campaigns.run.local import run_local
from warex.campaigns.run.schedule import AttemptDone, PlannedAttempt, TrialQueue
from warex.campaigns.run.spending import Spending
from warex.errors import MachineError
from warex.traces import Counted, Outcome, TrialKey, Void
from warex.trials.runner import TrialInterrupted

FAILED = Counted(ending="answered", score=0.0, latency_s=1)
VOID = Void(reason="r")

type Goes = Callable[[PlannedAttempt], Outcome]


def schedule(count: int, budget: Budget | None = None) -> TrialQueue:
    trials = [TrialKey("b", "a", "clean", f"t{n}") for n in range(count)]
    return TrialQueue(trials, budget=budget)


def run(
    goes: Goes, schedule: TrialQueue, lanes: int = 1, stop: threading.Event | None = None
) -> list[AttemptDone]:
    """Run trials that go as they are told; return what was reported, in order."""
    done: list[AttemptDone] = []
    run_local(
        schedule,
        lambda turn: (goes(turn), Spending(tokens=1)),
        lanes=lanes,
        stop=stop or threading.Event(),
        report=done.append,
    )
    return done


def test_a_trial_that_failed_is_done() -> None:
    done = run(lambda turn: FAILED, schedule(4))

    assert [(each.key.task, each.attempt) for each in done] == [(f"t{n}", 1) for n in range(4)]


def test_a_void_trial_is_tried_again_also_where_the_other_lanes_are_idle() -> None:
    alone = threading.Barrier(2, timeout=10)

    def goes(turn: PlannedAttempt) -> Outcome:
        if turn.key.task == "t0" and turn.attempt == 1:
            return VOID
        alone.wait()
        return FAILED

    # Both lanes are needed for the end: the one that had nothing to do has waited.
    done = run(goes, schedule(2), lanes=2)

    assert Counter(each.key.task for each in done) == {"t0": 2, "t1": 1}


def test_a_budget_ends_it_in_good_order() -> None:
    queue = schedule(9, Budget(tokens=3))

    done = run(lambda turn: FAILED, queue)

    assert [each.key.task for each in done] == ["t0", "t1", "t2"]
    assert queue.stopped is not None


def test_lanes_work_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=10)

    def goes(turn: PlannedAttempt) -> Outcome:
        both.wait()
        return FAILED

    assert len(run(goes, schedule(4), lanes=2)) == 4


def test_the_same_void_again_and_again_stops_the_campaign() -> None:
    stop = threading.Event()

    with pytest.raises(CampaignStopped, match="void for one reason"):
        run(lambda turn: VOID, schedule(9), stop=stop)

    assert stop.is_set()


def test_an_error_in_one_lane_stops_the_others_and_is_raised() -> None:
    stop = threading.Event()

    def goes(turn: PlannedAttempt) -> Outcome:
        if turn.key.task == "t0":
            raise MachineError("the disk is full")
        assert stop.wait(10)
        raise TrialInterrupted

    with pytest.raises(MachineError, match="the disk is full"):
        run(goes, schedule(9), lanes=2, stop=stop)


@pytest.mark.parametrize("taken_by_the_lane", [True, False])
def test_an_interrupt_in_any_thread_stops_the_lanes_before_it_is_raised(
    taken_by_the_lane: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop, waiting, ended = threading.Event(), threading.Event(), threading.Event()
    wait = futures.wait

    def waits(running: list[Future[None]], timeout: float) -> object:
        waiting.set()
        return wait(running, timeout)

    def goes(turn: PlannedAttempt) -> Outcome:
        assert waiting.wait(10)
        taker = threading.current_thread() if taken_by_the_lane else threading.main_thread()
        assert taker.ident is not None
        signal.pthread_kill(taker.ident, signal.SIGINT)
        assert stop.wait(10)
        ended.set()
        raise TrialInterrupted

    monkeypatch.setattr(futures, "wait", waits)
    with pytest.raises(KeyboardInterrupt):
        run(goes, schedule(1), stop=stop)

    assert ended.is_set()
