"""Runs somebody else's command, bounded in time, with nothing left behind."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from warex.errors import MachineError


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended."""

    code: int | None
    """Exit code; negative for a signal; None if its time was up or it was stopped."""
    seconds: float
    """From its start to its exit."""


def run_command(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    *,
    timeout_s: float,
    stop: threading.Event | None = None,
) -> Finished:
    """Run a command until it ends, its time is up, or ``stop`` is set; kill all that it started.

    What it prints goes into ``log``. Raises MachineError where it cannot be started.
    """
    began = time.monotonic()
    with log.open("ab") as output:
        process = _start(arguments, environment, output)
        # One waits for the process, one for the word to stop: whichever comes first.
        ended = threading.Event()
        waiter = threading.Thread(target=_wait_for, args=(process, ended), daemon=True)
        waiter.start()
        stopped = _first_of(ended, stop, timeout_s)
        seconds = time.monotonic() - began
        _kill_all(process)
        waiter.join()
    return Finished(None if stopped else process.returncode, seconds)


def _start(
    arguments: Sequence[str], environment: Mapping[str, str], output: IO[bytes]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            arguments,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # A process group of its own, so that the browsers it starts end with it.
            start_new_session=True,
        )
    except OSError as error:
        raise MachineError(f"{arguments[0]} cannot be started: {error.strerror}") from None


def _wait_for(process: subprocess.Popen[bytes], ended: threading.Event) -> None:
    process.wait()
    ended.set()


def _first_of(ended: threading.Event, stop: threading.Event | None, timeout_s: float) -> bool:
    """Wait; return whether the command was still running when waiting was over."""
    deadline = time.monotonic() + timeout_s
    while not ended.is_set():
        left = deadline - time.monotonic()
        if left <= 0 or (stop is not None and stop.is_set()):
            return True
        # The word to stop comes from another thread; looking for it ten times a second is enough.
        ended.wait(min(left, 0.1 if stop is not None else left))
    return False


def _kill_all(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGTERM)
        if process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(3)
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # Nothing of it is left.
