"""Runs a campaign's trials in local lanes: each lane takes the next trial until none is left."""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent import futures
from dataclasses import dataclass
from pathlib import Path

from warex.campaigns.plan import ATTEMPTS, Past
from warex.campaigns.streak import Streak
from warex.traces import Outcome, TrialKey, Void, attempt_dir
from warex.trials.run import Interrupted, Setting, TrialSpec, run_trial

_LOOK = 0.2
"""Seconds between two looks for an interrupt."""


@dataclass(frozen=True, slots=True)
class Done:
    """An attempt is over."""

    key: TrialKey
    attempt: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class _Turn:
    spec: TrialSpec
    attempt: int
    voids: int
    """How many attempts before it were void."""


def run_trials(
    specs: Sequence[TrialSpec],
    past: Mapping[TrialKey, Past],
    run: Path,
    setting: Setting,
    *,
    jobs: int,
    report: Callable[[Done], None] = lambda done: None,
) -> None:
    """Run trials in so many lanes until each is counted or void for good.

    A void trial is tried again once the others have had their turn: what was in its way may have
    passed by then. ``past`` is what lies on disk. Raises what a trial raises, after the others have
    been stopped: MachineError, InputError, CampaignStopped; KeyboardInterrupt likewise.
    """
    waiting = deque(_turn(spec, past.get(spec.key, Past())) for spec in specs)
    streak = Streak(tasks=len({spec.key.task for spec in specs}))
    lock = threading.Lock()
    errors: list[Exception] = []

    def take() -> _Turn | None:
        with lock:
            return waiting.popleft() if waiting and not setting.stop.is_set() else None

    def note(turn: _Turn, outcome: Outcome) -> None:
        key = turn.spec.key
        with lock:
            report(Done(key, turn.attempt, outcome))
            if isinstance(outcome, Void) and turn.voids + 1 < ATTEMPTS:
                waiting.append(_Turn(turn.spec, turn.attempt + 1, turn.voids + 1))
            streak.note(key.task, outcome)

    def lane() -> None:
        try:
            while (turn := take()) is not None:
                folder = attempt_dir(run, turn.spec.key, turn.attempt)
                note(turn, run_trial(turn.spec, turn.attempt, folder, setting))
        except Interrupted:
            pass
        except Exception as error:  # noqa: BLE001 - raised again once the other lanes have ended
            errors.append(error)
            setting.stop.set()

    with futures.ThreadPoolExecutor(jobs, thread_name_prefix="lane") as lanes:
        try:
            running = [lanes.submit(lane) for _ in range(jobs)]
            # The kernel may give a signal to any thread, and Python acts on it in this one only:
            # who waited without an end would not learn of it.
            while futures.wait(running, _LOOK).not_done:
                pass
            for future in running:
                future.result()
        except KeyboardInterrupt:
            setting.stop.set()
            raise
    if errors:
        raise errors[0]


def _turn(spec: TrialSpec, past: Past) -> _Turn:
    # An attempt that was cut off keeps its folder and its number: nothing written is ever lost.
    return _Turn(spec, past.last + 1, len(past.outcomes))
