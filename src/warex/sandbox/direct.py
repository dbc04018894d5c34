"""A command that runs where WAREX runs: its own process group, its own streams and terminal."""

import errno
import os
import shutil
import signal
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

from warex.errors import MachineError

_SHELL = "/bin/sh"
# Python ignores these for itself; a command starts with what programs expect.
_DEFAULT_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)


class DirectProcess:
    """A process of ours, started as a shell would start it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._lock = threading.Lock()
        self._code: int | None = None

    def wait(self) -> int:
        """Wait for its end; return its exit code, negative for a signal."""
        if self._code is None:
            # Left where it is, so that its number is not given to another process meanwhile.
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            with self._lock:
                self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code

    def signal(self, number: int) -> None:
        """Send it a signal; nothing if it has ended."""
        with self._lock, suppress(ProcessLookupError):
            if self._code is None:
                os.kill(self.pid, number)


def find_program(name: str, environment: Mapping[str, str]) -> str:
    """Return the path of a program as a shell would find it.

    Raises MachineError where there is none that can be run.
    """
    found = shutil.which(name, path=environment.get("PATH", os.defpath))
    if found is not None:
        return found
    why = "no such program"
    if os.path.isdir(name):
        why = "it is a folder"
    elif os.path.dirname(name) and os.path.exists(name):
        why = "it may not be run (chmod +x makes it a program)"
    raise MachineError(f"{name!r} cannot be started: {why}; install it, or name another program")


def start_direct(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    mask: set[int] | None = None,
) -> DirectProcess:
    """Start a command with the streams of this process.

    ``mask``: the signals that it holds back, none unless given. Raises MachineError where it cannot
    be started.
    """
    program = find_program(arguments[0], environment)
    try:
        try:
            pid = _spawn(program, arguments, environment, mask or set())
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            # A script that does not name its interpreter: execvp(3) gives it to the shell.
            pid = _spawn(_SHELL, [_SHELL, program, *arguments[1:]], environment, mask or set())
    except OSError as error:
        raise MachineError(
            f"{arguments[0]!r} cannot be started: {error.strerror}; install it, or name another"
            " program"
        ) from None
    return DirectProcess(pid)


def _spawn(
    program: str, arguments: Sequence[str], environment: Mapping[str, str], mask: set[int]
) -> int:
    return os.posix_spawn(
        program, list(arguments), environment, setsigmask=mask, setsigdef=_DEFAULT_SIGNALS
    )
