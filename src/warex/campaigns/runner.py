"""Runs a campaign's trials in local lanes: each lane takes the next trial until none is left."""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from warex.campaigns.plan import ATTEMPTS
from warex.errors import WarexError
from warex.traces import Outcome, TrialKey, Void, attempt_dir
from warex.trials.run import Interrupted, Setting, TrialSpec, run_trial

SAME_VOID_LIMIT = 5
"""After so many voids in a row for one reason the campaign stops: it is no bad luck."""


@dataclass(frozen=True, slots=True)
class Done:
    """An attempt is over."""

    key: TrialKey
    attempt: int
    outcome: Outcome


class CampaignStopped(WarexError):
    """Trial after trial is void for the same reason; the message says which."""

    exit_code = 3


def run_trials(
    specs: Sequence[TrialSpec],
    past: Mapping[TrialKey, int],
    run: Path,
    setting: Setting,
    *,
    jobs: int,
    report: Callable[[Done], None] = lambda done: None,
) -> None:
    """Run trials in so many lanes until each is counted or void for good.

    ``past``: attempts already on disk. Raises what a trial raises, after the others have been
    stopped: MachineError, InputError, CampaignStopped; KeyboardInterrupt likewise.
    """
    waiting = deque(specs)
    lock = threading.Lock()
    voids: list[str] = []
    errors: list[Exception] = []

    def take() -> TrialSpec | None:
        with lock:
            return waiting.popleft() if waiting and not setting.stop.is_set() else None

    def note(done: Done) -> None:
        with lock:
            if isinstance(done.outcome, Void):
                voids.append(done.outcome.reason)
            else:
                voids.clear()
            report(done)
            if len(voids) >= SAME_VOID_LIMIT and len(set(voids[-SAME_VOID_LIMIT:])) == 1:
                raise CampaignStopped(
                    f"{SAME_VOID_LIMIT} trials in a row are void for one reason: {voids[-1]}"
                )

    def lane() -> None:
        try:
            while (spec := take()) is not None:
                for attempt in range(past.get(spec.key, 0) + 1, ATTEMPTS + 1):
                    folder = attempt_dir(run, spec.key, attempt)
                    outcome = run_trial(spec, attempt, folder, setting)
                    note(Done(spec.key, attempt, outcome))
                    if not isinstance(outcome, Void):
                        break
        except Interrupted:
            pass
        except Exception as error:  # noqa: BLE001 - raised again once the other lanes have ended
            errors.append(error)
            setting.stop.set()

    with ThreadPoolExecutor(jobs, thread_name_prefix="lane") as lanes:
        running = [lanes.submit(lane) for _ in range(jobs)]
        try:
            for future in running:
                future.result()
        except KeyboardInterrupt:
            setting.stop.set()
            raise
    if errors:
        raise errors[0]
