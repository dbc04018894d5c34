"""Runs a command with a time limit and ends its process tree."""

import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from warex.files.private import private_opener
from warex.sandbox.cleanup.process_tree import ProcessTree
from warex.sandbox.direct import cannot_start
from warex.traces import write_error

if TYPE_CHECKING:
    from warex.sandbox.namespace.launcher import NamespaceProcess

_POLL_SECONDS = 0.1
"""Seconds between two calls of ``stop``."""


type ChildProcess = subprocess.Popen[bytes] | NamespaceProcess
type Spawn = Callable[[Sequence[str], Mapping[str, str], IO[bytes], Path | None], ChildProcess]
"""Starts a command with an environment, a file for its output and a working folder."""


@dataclass(frozen=True, slots=True)
class CompletedCommand:
    """How a command ended."""

    code: int | None
    """Exit code; negative for a signal; None if it timed out or was stopped."""
    seconds: float
    """Seconds from its start to its exit."""


def run_command(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    log: Path,
    *,
    timeout_s: float,
    stop: Callable[[], bool] | None = None,
    cwd: Path | None = None,
    start: Spawn | None = None,
    watch: Callable[[ProcessTree], None] = lambda process_tree: None,
) -> CompletedCommand:
    """Run a command until it ends, times out, or ``stop()`` is true; end its process tree.

    Its output is appended to ``log``. ``start`` replaces the default way to start it, and ``watch``
    gets its process tree before the start. Raises MachineError if it cannot be started or the log
    cannot be written.
    """
    process_tree = ProcessTree()
    try:
        output = open(log, "ab", opener=private_opener)  # noqa: SIM115 - closed below
    except OSError as error:
        raise write_error(log, error) from None
    with output:
        began = time.monotonic()
        watch(process_tree)
        process = (start or _start)(arguments, process_tree.marked(environment), output, cwd)
        process_tree.leader = process.pid
        ended = threading.Event()
        codes: list[int] = []

        def wait() -> None:
            codes.append(process.wait())
            ended.set()

        waiter = threading.Thread(target=wait, daemon=True)
        waiter.start()
        try:
            stopped = not _ends_by(ended, began + timeout_s, stop)
            seconds = time.monotonic() - began
        finally:
            process_tree.end()
        waiter.join()
    return CompletedCommand(None if stopped else codes[0], seconds)


def _start(
    arguments: Sequence[str], environment: Mapping[str, str], output: IO[bytes], cwd: Path | None
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            arguments,
            env=environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # A Ctrl-C reaches WAREX alone, which then ends the command.
            start_new_session=True,
        )
    except OSError as error:
        raise cannot_start(arguments[0], error.strerror) from None


def _ends_by(ended: threading.Event, deadline: float, stop: Callable[[], bool] | None) -> bool:
    """Return whether the command ended by itself before the deadline."""
    while not ended.is_set():
        left = deadline - time.monotonic()
        if left <= 0 or (stop is not None and stop()):
            return False
        ended.wait(left if stop is None else min(left, _POLL_SECONDS))
    return True
