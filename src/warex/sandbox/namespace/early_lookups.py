"""Name lookups before the proxy serves: their clients are sent to TCP, where they may wait.

Over UDP a client gives up after seconds. Over TCP its question stays in the listener's backlog
until the proxy answers it, with the rest of what it asked meanwhile.
"""

import select
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from warex.proxy.transparent.passed_sockets import PassedSockets
from warex.sandbox.job_control import signals_blocked

_HOLD_SECONDS: Final = 0.7
"""Seconds for which the proxy may still be the first to answer: some clients do not ask by TCP."""
_POLL_MS: Final = 20


class EarlyLookups:
    """Answers a namespace's lookups with "ask by TCP" until the proxy serves."""

    def __init__(self, passed: PassedSockets) -> None:
        self._udp = passed.dns_udp
        self._listeners = (*passed.tcp, *passed.dns_tcp)
        self._served = threading.Event()
        self._looked_up = False

    def served(self) -> None:
        """Stop: the proxy answers from here on."""
        self._served.set()

    def were_asked(self) -> bool:
        """Whether a command has looked up a name or connected before the proxy served it."""
        return self._looked_up or bool(_readable((*self._udp, *self._listeners), 0))

    def run(self) -> None:
        """Answer until the proxy serves."""
        while not self._served.is_set():
            if not _readable(self._udp, _POLL_MS):
                continue
            if not self._looked_up:
                self._looked_up = True
                if self._served.wait(_HOLD_SECONDS):
                    return
            for receiver in self._udp:
                _send_to_tcp(receiver)


@contextmanager
def answered_early(passed: PassedSockets) -> Iterator[EarlyLookups]:
    """Answer early lookups in a thread until the proxy serves or the block ends."""
    early = EarlyLookups(passed)
    thread = threading.Thread(target=early.run, name="early lookups", daemon=True)
    with signals_blocked():
        thread.start()
    try:
        yield early
    finally:
        early.served()
        thread.join()


def _readable(sockets: Sequence[socket.socket], timeout_ms: int) -> list[int]:
    poll = select.poll()
    for each in sockets:
        poll.register(each, select.POLLIN)
    return [handle for handle, _ in poll.poll(timeout_ms)]


def _send_to_tcp(receiver: socket.socket) -> None:
    """Answer all waiting questions with a truncated response (RFC 1035 §4.2.1)."""
    from warex.proxy.dns import messages  # It is slow to import, and rarely needed.

    with suppress(OSError):
        while True:
            message, asker = receiver.recvfrom(65535, socket.MSG_DONTWAIT)
            if (question := messages.parse_question(message)) is not None:
                receiver.sendto(messages.truncated_response(question), asker)
