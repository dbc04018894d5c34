"""Job control between the caller and a command: signals, stops, the terminal.

The command shares WAREX's process group, so the kernel sends it the terminal's signals. Signals
that another process sends to WAREX are forwarded; the kernel's are not, or the command would get
them twice.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

FORWARDED_SIGNALS: Final = frozenset(
    {
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGINT,
        signal.SIGQUIT,
        signal.SIGUSR1,
        signal.SIGUSR2,
        signal.SIGWINCH,
        signal.SIGCONT,
    }
)
"""Stop signals are not included: WAREX itself stops, and a terminal's reach both."""

_MAX_USER_SI_CODE = 0
"""Largest si_code of a signal sent by a process (sigaction(2)); the kernel's are above."""
_SETTLE_SECONDS = 0.02
"""Seconds for a command that was stopped together with WAREX to continue."""


@contextmanager
def signals_blocked() -> Iterator[set[int]]:
    """Block the forwarded signals, also in threads started meanwhile; yield the previous mask."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED_SIGNALS)
    try:
        yield {int(number) for number in before}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def forward_signals(send: Callable[[int], None]) -> Iterator[None]:
    """Forward signals that other processes send to this one; use with ``signals_blocked``."""
    over = threading.Event()

    def listen() -> None:
        while True:
            got = signal.sigwaitinfo(FORWARDED_SIGNALS)
            if over.is_set():
                return
            if got.si_code <= _MAX_USER_SI_CODE:
                send(got.si_signo)

    thread = threading.Thread(target=listen, name="signals", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        if thread.ident is not None:
            signal.pthread_kill(thread.ident, signal.SIGCONT)
        thread.join()


@dataclass(frozen=True, slots=True)
class Terminal:
    """The controlling terminal, if WAREX is in its foreground."""

    handle: int | None
    group: int

    @classmethod
    def current(cls) -> Self:
        """Find it among the standard streams."""
        group = os.getpgrp()
        for handle in (0, 1, 2):
            with suppress(OSError):
                if os.tcgetpgrp(handle) == group:
                    return cls(handle, group)
        return cls(None, group)

    def foreground_group(self) -> int | None:
        """Return the process group in the foreground."""
        if self.handle is None:
            return None
        try:
            return os.tcgetpgrp(self.handle)
        except OSError:
            return None  # It was closed.

    def set_foreground(self, group: int) -> None:
        """Put a process group into the foreground."""
        if self.handle is None:
            return
        # tcsetpgrp from the background raises SIGTTOU.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            os.tcsetpgrp(self.handle, group)
        except OSError:
            pass  # The terminal or the group has gone.
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def restore_foreground(self) -> None:
        """Return to the foreground if its process group no longer exists."""
        holder = self.foreground_group()
        if holder is None or holder == self.group:
            return
        try:
            os.killpg(holder, 0)
        except ProcessLookupError:
            self.set_foreground(self.group)
        except OSError:
            pass  # The group exists and belongs to another user.


def stop_with_command(pid: int, terminal: Terminal) -> None:
    """Stop WAREX after a command has stopped by itself, so that the shell notices; then continue.

    A Ctrl-Z stops both in any case.
    """
    for _ in range(2):
        if not is_stopped(pid):
            return
        # If WAREX was stopped too, the second check runs after both have continued.
        time.sleep(_SETTLE_SECONDS)
    if not is_stopped(pid):
        return
    try:
        group = os.getpgid(pid)
    except ProcessLookupError:
        return
    had_it = group != terminal.group and terminal.foreground_group() == group
    if had_it:
        terminal.set_foreground(terminal.group)
    # The kernel ignores SIGTSTP in an orphaned process group.
    os.kill(os.getpid(), signal.SIGTSTP)
    if had_it:
        terminal.set_foreground(group)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def is_stopped(pid: int) -> bool:
    """Return whether a process is stopped; False without /proc."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] == b"T"
