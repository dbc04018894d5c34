"""Reads many trials into records, without keeping their traces.

From ``ATTEMPTS_PER_PROCESS`` attempts on it starts processes with ``subprocess``: a fork would copy
the caller's threads, and the spawn method of multiprocessing runs the caller's script again.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import batched, repeat
from pathlib import Path

from warex.analysis.trial.record import TrialRecord, load_trial
from warex.errors import MachineError, TraceError
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.prices.table import PriceTable

ATTEMPTS_PER_PROCESS = 600
"""Number of attempts up to which one process is as fast as two, with the time to start them."""


type _Attempts = Sequence[tuple[Path, Vocabulary | None]]
"""Folders, each with the vocabulary of its benchmark."""


def read_trials(
    attempts: _Attempts, prices: PriceTable, processes: int | None = None
) -> list[TrialRecord | TraceError]:
    """Read the folders of attempts, in order; of a damaged one the error is returned.

    ``processes`` defaults to a number that depends on the attempts and the machine's cores. Raises
    MachineError if a process dies.
    """
    if processes is None:
        processes = min(os.cpu_count() or 1, 1 + len(attempts) // ATTEMPTS_PER_PROCESS)
    if processes < 2:
        return _read(attempts, prices)
    size = -(-len(attempts) // processes)
    parts = list(batched(attempts, size))
    with ThreadPoolExecutor(len(parts)) as threads:
        read = threads.map(_read_in_subprocess, parts, repeat(prices))
        return [record for records in read for record in records]


def _read(attempts: _Attempts, prices: PriceTable) -> list[TrialRecord | TraceError]:
    return [_read_one(folder, vocabulary, prices) for folder, vocabulary in attempts]


def _read_one(
    folder: Path, vocabulary: Vocabulary | None, prices: PriceTable
) -> TrialRecord | TraceError:
    try:
        return load_trial(folder, vocabulary, prices)
    except TraceError as error:
        return error


def _read_in_subprocess(attempts: _Attempts, prices: PriceTable) -> list[TrialRecord | TraceError]:
    done = subprocess.run(
        [sys.executable, "-m", "warex.analysis.run.parallel_read"],
        input=pickle.dumps((attempts, prices)),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        raise MachineError(
            f"a process that read traces ended with {done.returncode} ({lines[-1]}); if the machine"
            " was short of memory, give it more"
        )
    records: list[TrialRecord | TraceError] = pickle.loads(done.stdout)
    return records


def _main() -> None:
    records = _read(*pickle.load(sys.stdin.buffer))
    sys.stdout.buffer.write(pickle.dumps(records))


if __name__ == "__main__":
    _main()
