"""A command that shares WAREX's process group, streams and terminal."""

import errno
import os
import shutil
import signal
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

from warex.errors import MachineError

_SHELL = "/bin/sh"
# Python ignores these; a command gets the default action.
_DEFAULT_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)


class DirectProcess:
    """A child process, started as a shell would start it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._lock = threading.Lock()
        self._code: int | None = None

    def wait(self) -> int:
        """Wait for the end; return the exit code, negative for a signal."""
        if self._code is None:
            # WNOWAIT keeps the zombie, so that the process id is not reused meanwhile.
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            with self._lock:
                self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code

    def signal(self, number: int) -> None:
        """Send a signal; do nothing if the process has ended."""
        with self._lock, suppress(ProcessLookupError):
            if self._code is None:
                os.kill(self.pid, number)


def find_program(name: str, environment: Mapping[str, str]) -> str:
    """Return the path of a program as a shell would find it; raise MachineError for none."""
    if (path := shutil.which(name, path=environment.get("PATH", os.defpath))) is not None:
        return path
    why = "no such program"
    if os.path.isdir(name):
        why = "it is a folder"
    elif os.path.dirname(name) and os.path.exists(name):
        why = "it may not be run (chmod +x makes it a program)"
    raise cannot_start(name, why)


def cannot_start(name: str, why: str | None) -> MachineError:
    """Return the error of a program that cannot be started."""
    return MachineError(f"{name!r} cannot be started: {why}; install it, or name another program")


def start_direct(
    arguments: Sequence[str], environment: Mapping[str, str], *, mask: set[int] | None = None
) -> DirectProcess:
    """Start a command with the streams of this process.

    ``mask``: the signals that it blocks, none by default. Raises MachineError if it cannot be
    started.
    """
    program = find_program(arguments[0], environment)
    try:
        try:
            pid = _spawn(program, arguments, environment, mask or set())
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
            # A script without a shebang: the shell runs it, as in execvp(3).
            pid = _spawn(_SHELL, [_SHELL, program, *arguments[1:]], environment, mask or set())
    except OSError as error:
        raise cannot_start(arguments[0], error.strerror) from None
    return DirectProcess(pid)


def _spawn(
    program: str, arguments: Sequence[str], environment: Mapping[str, str], mask: set[int]
) -> int:
    return os.posix_spawn(
        program, list(arguments), environment, setsigmask=mask, setsigdef=_DEFAULT_SIGNALS
    )
