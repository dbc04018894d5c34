"""Stands between the caller and a command without being noticed: signals, stops, the terminal.

The command stays in WAREX's own process group, so the kernel sends it what is typed. What somebody
sends to WAREX alone is passed on; what the kernel sends to the whole group is not, or the command
would get it twice.
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
"""Those that stop a process are not among them: WAREX stops, and a terminal's reach both."""

_MAX_USER_SI_CODE = 0
"""Largest si_code of a signal that a process has sent (sigaction(2)); the kernel's are above."""
_SETTLE_SECONDS = 0.02
"""Seconds in which a command that was stopped together with us goes on together with us."""


@contextmanager
def signals_blocked() -> Iterator[set[int]]:
    """Hold signals back, so that threads started meanwhile never get one; yield what was held.

    Python gives a thread the mask of the one that starts it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED_SIGNALS)
    try:
        yield {int(number) for number in before}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def forward_signals(send: Callable[[int], None]) -> Iterator[None]:
    """Pass on what others send to this process; to be used where signals are held back."""
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
    """The terminal, if the caller gave us one and we are in its foreground."""

    handle: int | None
    group: int

    @classmethod
    def current(cls) -> Self:
        """Look for it among the standard streams."""
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
        # Asking from the background stops whoever does not ignore it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
        try:
            os.tcsetpgrp(self.handle, group)
        except OSError:
            pass  # The terminal or the group has gone.
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def restore_foreground(self) -> None:
        """Come to the foreground again where a shell inside has left nobody there."""
        holder = self.foreground_group()
        if holder is None or holder == self.group:
            return
        try:
            os.killpg(holder, 0)
        except ProcessLookupError:
            self.set_foreground(self.group)
        except OSError:
            pass  # It lives, and is somebody else's.


def stop_with_command(pid: int, terminal: Terminal) -> None:
    """Stop as the command has stopped, so that the shell that waits for us notices; then go on.

    A Ctrl-Z stops both of us anyhow; this is for a command that has stopped by itself.
    """
    for _ in range(2):
        if not is_stopped(pid):
            return
        # If we were stopped meanwhile, too, the second look comes after both have gone on.
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
    # By default, it does nothing where no shell could ever continue us.
    os.kill(os.getpid(), signal.SIGTSTP)
    if had_it:
        terminal.set_foreground(group)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def is_stopped(pid: int) -> bool:
    """Whether a process has been stopped, as far as this machine tells."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] == b"T"
