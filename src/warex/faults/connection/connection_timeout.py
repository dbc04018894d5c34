"""The connection is tried without an answer until the client's system gives up."""

from typing import ClassVar, Final, Literal, override

from warex.effects import DropPackets, Effect
from warex.faults.base import ConnectionFault, ConnectionPhase

GIVES_UP_AFTER: Final = 3.0
"""Seconds: one, and two after the retry (``net.ipv4.tcp_syn_retries`` is 1 in a namespace)."""

ASKS_AGAIN_AFTER: Final = 1.1
"""Seconds until the retry: one, and a margin for a busy machine."""


class ConnectionTimeout(ConnectionFault, frozen=True):
    """Leave the connection unanswered, as a machine that is switched off does."""

    summary: ClassVar = "Leave the connection unanswered, until the client's system gives up."
    point: ClassVar[ConnectionPhase] = "connect"
    needs_namespace: ClassVar = True

    kind: Literal["connection_timeout"] = "connection_timeout"

    @override
    def effect(self) -> Effect:
        return DropPackets()

    @property
    def gives_up_after_s(self) -> float:
        """Seconds until the client's system gives up, in namespace mode."""
        return GIVES_UP_AFTER

    @property
    def retries_for_s(self) -> float:
        """Seconds until the client's system has sent its last SYN."""
        return ASKS_AGAIN_AFTER

    @override
    def outcome(self) -> str:
        return f"left unanswered until the client's system gives up, after {GIVES_UP_AFTER:g} s"
