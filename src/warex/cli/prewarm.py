"""What is begun for a command before its line is read: for `warex exec`, its forkserver.

Reading the command line takes a tenth of a second on the way to the first answer; meanwhile the
forkserver, in a process of its own, loads mitmproxy.
"""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warex.proxy.process.forkserver import Forkserver

_waiting: "list[Forkserver]" = []


@contextmanager
def prewarmed(given: Sequence[str]) -> Iterator[None]:
    """Begin what the command needs; at the end, end what it has not taken."""
    if given[:1] == ["exec"] and not {"-h", "--help"} & {*given[1:2]}:
        # Where no process can be started, the command finds that out again, and says so.
        with suppress(OSError):
            _waiting.append(_start_forkserver())
    try:
        yield
    finally:
        while _waiting:
            _waiting.pop().close()


def take_forkserver() -> "Forkserver":
    """Return the forkserver that was begun, or else one begun now; it is the caller's to close."""
    return _waiting.pop() if _waiting else _start_forkserver()


def _start_forkserver() -> "Forkserver":
    from warex.proxy.process.forkserver import Forkserver

    # Whoever started us and ignores the ends of children hands that down; ours are waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    made = Forkserver()
    made.ensure_started()
    return made
