"""Starts slow parts of a command before the command line is parsed: `warex exec`'s forkserver.

Parsing takes a tenth of a second, in which the forkserver's process loads the proxy.
"""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warex.proxy.process.forkserver import Forkserver

_waiting: "list[Forkserver]" = []


@contextmanager
def prewarmed(argv: Sequence[str], *, forks: bool = False) -> Iterator[None]:
    """Start what the command needs; at the end, close what it has not taken.

    ``forks``: whether it may start as a copy of this process (``Forkserver.fork``).
    """
    if argv[:1] == ["exec"] and not {"-h", "--help"} & {*argv[1:2]}:
        # If no process can be started, the command fails again and reports it.
        with suppress(OSError):
            _waiting.append(_start_forkserver(forks=forks))
    try:
        yield
    finally:
        while _waiting:
            _waiting.pop().close()


def take_forkserver() -> "Forkserver":
    """Return the started forkserver, or a new one; the caller closes it."""
    return _waiting.pop() if _waiting else _start_forkserver()


def _start_forkserver(*, forks: bool = False) -> "Forkserver":
    from warex.proxy.process.forkserver import Forkserver

    # A parent that ignores SIGCHLD passes that on, but child processes are waited for here.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    made = Forkserver()
    if forks:
        made.fork()
    else:
        made.ensure_started()
    return made
