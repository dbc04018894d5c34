"""Reads many trials at once, each into its record; the traces themselves are never kept.

Above some hundred attempts in processes of their own, started as programs: a fork would copy the
threads of whoever reads, and Python's own way to spawn runs the caller's script again.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from warex.analysis.trial.record import TrialRecord, load_trial
from warex.errors import MachineError, TraceError
from warex.llm.actions.parser import Vocabulary
from warex.llm.prices.table import PriceTable

ATTEMPTS_PER_PROCESS = 600
"""Up to so many attempts one process reads as fast as two that must be started."""


@dataclass(frozen=True, slots=True)
class ReadJob:
    """What one process reads."""

    attempts: tuple[tuple[Path, Vocabulary | None], ...]
    """Folders, each with its benchmark's vocabulary."""
    prices: PriceTable


def read_trials(
    attempts: Sequence[tuple[Path, Vocabulary | None]],
    prices: PriceTable,
    processes: int | None = None,
) -> list[TrialRecord]:
    """Read attempts' folders, in their order.

    ``processes`` is chosen by their number and the machine's cores unless given. Raises TraceError
    as ``load_trial`` does, MachineError where a process died.
    """
    if processes is None:
        processes = min(os.cpu_count() or 1, 1 + len(attempts) // ATTEMPTS_PER_PROCESS)
    if processes < 2:
        return _read(ReadJob(tuple(attempts), prices))
    size = -(-len(attempts) // processes)
    jobs = [
        ReadJob(tuple(attempts[start : start + size]), prices)
        for start in range(0, len(attempts), size)
    ]
    with ThreadPoolExecutor(len(jobs)) as threads:
        return [record for found in threads.map(_read_in_subprocess, jobs) for record in found]


def _read(job: ReadJob) -> list[TrialRecord]:
    return [load_trial(folder, vocabulary, job.prices) for folder, vocabulary in job.attempts]


def _read_in_subprocess(job: ReadJob) -> list[TrialRecord]:
    done = subprocess.run(
        [sys.executable, "-m", "warex.analysis.run.parallel_read"],
        input=pickle.dumps(job),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"])[
            -1
        ]
        raise MachineError(
            f"a process that read traces ended with {done.returncode} ({last}); if the machine was"
            " short of memory, give it more"
        )
    found: list[TrialRecord] | TraceError = pickle.loads(done.stdout)
    if isinstance(found, TraceError):
        raise found
    return found


def _main() -> None:
    found: list[TrialRecord] | TraceError
    try:
        found = _read(pickle.load(sys.stdin.buffer))
    except TraceError as error:
        found = error
    sys.stdout.buffer.write(pickle.dumps(found))


if __name__ == "__main__":
    _main()
