"""A pseudo-terminal: tests send keys to a program and read what it shows."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress


class Screen:
    """A program on its own terminal."""

    def __init__(self, handle: int, pid: int) -> None:
        self._handle, self.pid = handle, pid
        self._shown = b""
        self.all = b""

    def type(self, keys: str) -> None:
        """Send keys; `\\x03` is Ctrl-C, `\\x1a` Ctrl-Z, `\\x04` Ctrl-D."""
        os.write(self._handle, keys.encode())

    def wait_for(self, pattern: str, seconds: float = 30) -> "re.Match[bytes]":
        """Wait until a pattern is shown; return its match and discard the text up to its end."""
        end = time.monotonic() + seconds
        while (match := re.search(pattern.encode(), self._shown)) is None:
            left = end - time.monotonic()
            ready, _, _ = select.select([self._handle], [], [], max(0, left))
            assert ready, f"{pattern!r} was not shown, but {self.all!r}"
            try:
                data = os.read(self._handle, 65536)
            except OSError:  # The last program on it has ended (EIO).
                data = b""
            assert data, f"{pattern!r} was not shown before the end, but {self.all!r}"
            self._shown += data
            self.all += data
        self._shown = self._shown[match.end() :]
        return match

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the window."""
        fcntl.ioctl(self._handle, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def exit_code(self) -> int:
        """Read the rest of the output; return the program's exit code."""
        with suppress(OSError):
            while data := os.read(self._handle, 65536):
                self.all += data
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@contextmanager
def screen(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[Screen]:
    """Run a program on a terminal."""
    pid, handle = pty.fork()
    if pid == 0:
        os.execvpe(arguments[0], list(arguments), dict(environment))
    shown = Screen(handle, pid)
    try:
        yield shown
    finally:
        os.close(handle)
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
