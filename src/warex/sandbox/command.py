"""Runs somebody else's command, bounded in time, with nothing left behind."""

import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from warex.errors import MachineError
from warex.files.private import private_opener
from warex.sandbox.cleanup.process_tree import ProcessTree
from warex.traces import write_error

_POLL_SECONDS = 0.1
"""Seconds between two questions whether to stop; who asks for a stop is another thread."""


class ChildProcess(Protocol):
    """A command that runs."""

    @property
    def pid(self) -> int:
        """Its process id, as this process sees it."""

    def wait(self) -> int:
        """Wait for its end; return its exit code, negative for a signal."""


class SpawnFunction(Protocol):
    """Starts a command with its words in a file."""

    def __call__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        output: IO[bytes],
        cwd: Path | None,
    ) -> ChildProcess:
        """Start it; raise MachineError where it cannot be started."""


@dataclass(frozen=True, slots=True)
class CompletedCommand:
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
    stop: Callable[[], bool] | None = None,
    cwd: Path | None = None,
    start: SpawnFunction | None = None,
    watch: Callable[[ProcessTree], None] = lambda family: None,
) -> CompletedCommand:
    """Run a command until it ends, its time is up, or ``stop`` says so; end all that it started.

    What it prints is appended to ``log``. ``start`` starts it elsewhere than here, and ``watch`` is
    told of its processes before there are any. Raises MachineError where it cannot be started or
    the log cannot be written.
    """
    family = ProcessTree()
    try:
        output = open(log, "ab", opener=private_opener)  # noqa: SIM115 - closed below
    except OSError as error:
        raise write_error(log, error) from None
    with output:
        began = time.monotonic()
        watch(family)
        process = (start or _start)(arguments, family.marked(environment), output, cwd)
        family.leader = process.pid
        # One waits for the process, so that its end is noticed at once.
        ended = threading.Event()
        codes: list[int] = []
        waiter = threading.Thread(target=_wait_for, args=(process, codes, ended), daemon=True)
        waiter.start()
        try:
            stopped = not _ends_by(ended, began + timeout_s, stop)
            seconds = time.monotonic() - began
        finally:
            family.end()
        waiter.join()
    return CompletedCommand(None if stopped else codes[0], seconds)


def _start(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    output: IO[bytes],
    cwd: Path | None,
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            arguments,
            env=environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # A session of its own: a Ctrl-C is for us, who then end it in good order.
            start_new_session=True,
        )
    except OSError as error:
        raise MachineError(
            f"{arguments[0]!r} cannot be started: {error.strerror}; install it, or name another"
            " program"
        ) from None


def _wait_for(process: ChildProcess, codes: list[int], ended: threading.Event) -> None:
    codes.append(process.wait())
    ended.set()


def _ends_by(ended: threading.Event, deadline: float, stop: Callable[[], bool] | None) -> bool:
    """Wait; return whether the command ended by itself."""
    while not ended.is_set():
        left = deadline - time.monotonic()
        if left <= 0 or (stop is not None and stop()):
            return False
        ended.wait(left if stop is None else min(left, _POLL_SECONDS))
    return True
