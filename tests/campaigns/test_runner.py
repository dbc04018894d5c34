"""Lanes take trials until each is counted or void for good."""

import signal
import threading
from collections import Counter
from collections.abc import Callable
from concurrent import futures
from concurrent.futures import Future
from pathlib import Path

import pytest

from warex.benchmarks import AgentSpec, benchmark_kind
from warex.campaigns import runner
from warex.campaigns.plan import Past
from warex.campaigns.runner import Done, run_trials
from warex.campaigns.streak import CampaignStopped
from warex.errors import MachineError
from warex.proxy.ca import CertificateAuthority
from warex.proxy.forkserver import Forkserver
from warex.traces import Counted, Outcome, TrialKey, Void, attempt_dir
from warex.trials import Setting, TrialSpec
from warex.trials.run import Interrupted

FAILED = Counted(ending="answered", score=0.0, latency_s=1)
VOID = Void(reason="r")

type Goes = Callable[[TrialSpec, int], Outcome]


@pytest.fixture
def setting() -> Setting:
    ca = CertificateAuthority(Path("/nowhere"))
    return Setting(benchmark_kind("testbed")(), Forkserver(), ca, Path("/bin/none"))


def specs(count: int) -> list[TrialSpec]:
    agent = AgentSpec("a", "m")
    return [TrialSpec(TrialKey("b", "a", "clean", f"t{n}"), agent, n) for n in range(count)]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, setting: Setting) -> Callable[..., list[Done]]:
    """Run trials that go as they are told; return what was reported, in order."""

    def run(goes: Goes, count: int, past: dict[TrialKey, Past], jobs: int = 1) -> list[Done]:
        def trial(spec: TrialSpec, attempt: int, folder: Path, setting: Setting) -> Outcome:
            assert folder == attempt_dir(Path("run"), spec.key, attempt)
            return goes(spec, attempt)

        monkeypatch.setattr(runner, "run_trial", trial)
        done: list[Done] = []
        run_trials(specs(count), past, Path("run"), setting, jobs=jobs, report=done.append)
        return done

    return run


def test_a_trial_that_failed_is_done(run: Callable[..., list[Done]]) -> None:
    done = run(lambda spec, attempt: FAILED, 4, {})

    assert [(each.key.task, each.attempt) for each in done] == [(f"t{n}", 1) for n in range(4)]


def test_a_void_trial_is_tried_again_after_the_others(run: Callable[..., list[Done]]) -> None:
    def goes(spec: TrialSpec, attempt: int) -> Outcome:
        return VOID if spec.key.task == "t0" and attempt < 3 else FAILED

    done = run(goes, 3, {})

    assert [(each.key.task, each.attempt) for each in done] == [
        ("t0", 1),
        ("t1", 1),
        ("t2", 1),
        ("t0", 2),
        ("t0", 3),
    ]


def test_after_three_voids_a_trial_is_left_alone(run: Callable[..., list[Done]]) -> None:
    def goes(spec: TrialSpec, attempt: int) -> Outcome:
        return VOID if spec.key.task == "t0" else FAILED

    done = run(goes, 3, {}, jobs=2)

    assert Counter(each.key.task for each in done) == {"t0": 3, "t1": 1, "t2": 1}


def test_an_attempt_takes_the_number_after_all_that_lie_on_disk(
    run: Callable[..., list[Done]],
) -> None:
    key = specs(1)[0].key

    done = run(lambda spec, attempt: VOID, 1, {key: Past((VOID,), last=4)})

    assert [each.attempt for each in done] == [5, 6]


def test_lanes_work_at_the_same_time(run: Callable[..., list[Done]]) -> None:
    both = threading.Barrier(2, timeout=10)

    def goes(spec: TrialSpec, attempt: int) -> Outcome:
        both.wait()
        return FAILED

    assert len(run(goes, 4, {}, jobs=2)) == 4


def test_the_same_void_again_and_again_stops_the_campaign(
    run: Callable[..., list[Done]], setting: Setting
) -> None:
    with pytest.raises(CampaignStopped, match="void for one reason"):
        run(lambda spec, attempt: VOID, 9, {})

    assert setting.stop.is_set()


def test_an_error_in_one_lane_stops_the_others_and_is_raised(
    run: Callable[..., list[Done]], setting: Setting
) -> None:
    def goes(spec: TrialSpec, attempt: int) -> Outcome:
        if spec.key.task == "t0":
            raise MachineError("the disk is full")
        assert setting.stop.wait(10)
        raise Interrupted

    with pytest.raises(MachineError, match="the disk is full"):
        run(goes, 9, {}, jobs=2)


@pytest.mark.parametrize("taken_by_the_lane", [True, False])
def test_an_interrupt_stops_the_lanes_before_it_is_raised_whichever_thread_took_the_signal(
    taken_by_the_lane: bool, monkeypatch: pytest.MonkeyPatch, setting: Setting
) -> None:
    waiting, ended = threading.Event(), threading.Event()
    wait = futures.wait

    def waits(running: list[Future[None]], timeout: float) -> object:
        waiting.set()
        return wait(running, timeout)

    def trial(*given: object) -> Outcome:
        assert waiting.wait(10)
        taker = threading.current_thread() if taken_by_the_lane else threading.main_thread()
        assert taker.ident is not None
        signal.pthread_kill(taker.ident, signal.SIGINT)
        assert setting.stop.wait(10)
        ended.set()
        raise Interrupted

    monkeypatch.setattr(futures, "wait", waits)
    monkeypatch.setattr(runner, "run_trial", trial)
    with pytest.raises(KeyboardInterrupt):
        run_trials(specs(1), {}, Path("run"), setting, jobs=1)

    assert ended.is_set()
