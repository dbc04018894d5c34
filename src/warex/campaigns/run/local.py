"""Runs a campaign's attempts in local lanes, each of which takes the next until none is left."""

import threading
from collections.abc import Callable
from concurrent import futures

from warex.campaigns.run.schedule import AttemptDone, PlannedAttempt, TrialQueue
from warex.campaigns.run.spending import Spending
from warex.clock import Clock
from warex.traces import Outcome
from warex.trials.runner import TrialInterrupted

_POLL_S = 0.2
"""Seconds between two checks for an interrupt."""

type Execute = Callable[[PlannedAttempt], tuple[Outcome, Spending]]
"""Makes one attempt; returns its outcome and cost."""


def run_local(
    schedule: TrialQueue,
    execute: Execute,
    *,
    lanes: int,
    stop: threading.Event,
    report: Callable[[AttemptDone], None] = lambda done: None,
) -> None:
    """Run the attempts of a queue in local lanes until it is finished.

    ``execute`` is called in the lanes' threads and raises TrialInterrupted once ``stop`` is set.
    Raises what it or the queue raises, after the other lanes have stopped: MachineError,
    InputError, CampaignStopped or KeyboardInterrupt.
    """
    clock = Clock()
    # Protects the queue; notified when an attempt may have become possible.
    changed = threading.Condition()
    errors: list[Exception] = []

    def take() -> PlannedAttempt | None:
        with changed:
            while not stop.is_set():
                turn = schedule.take(clock.now())
                if turn is not None or schedule.is_finished:
                    return turn
                changed.wait(_POLL_S)
            return None

    def note(turn: PlannedAttempt, outcome: Outcome, spent: Spending) -> None:
        with changed:
            report(AttemptDone(turn.key, turn.attempt, outcome))
            try:
                schedule.done(turn, outcome, spent)
            finally:
                changed.notify_all()

    def lane() -> None:
        try:
            while (turn := take()) is not None:
                note(turn, *execute(turn))
        except TrialInterrupted:
            pass
        except Exception as error:  # noqa: BLE001 - raised after the other lanes have ended
            errors.append(error)
            stop.set()

    with futures.ThreadPoolExecutor(lanes, thread_name_prefix="lane") as threads:
        try:
            running = [threads.submit(lane) for _ in range(lanes)]
            # Python handles a signal only in the main thread, which must wake up for it.
            while futures.wait(running, _POLL_S).not_done:
                pass
            for future in running:
                future.result()
        except KeyboardInterrupt:
            stop.set()
            raise
    if errors:
        raise errors[0]
