"""Nobody answers: the connection is tried until the client's system gives up."""

from typing import ClassVar, Final, Literal

from warex.effects import DropPackets, Effect
from warex.exchange import Exchange
from warex.faults.base import ConnectionFault, ConnectionPhase, FaultState
from warex.faults.words import describe_connection_tries
from warex.seeds import KeyedRng

GIVES_UP_AFTER: Final = 3.0
"""Seconds: one, and twice as long once more (``net.ipv4.tcp_syn_retries`` is 1 in a namespace)."""

ASKS_AGAIN_AFTER: Final = 1.1
"""Seconds within which it has asked once more: one, and what a busy machine may add."""


class ConnectionTimeout(ConnectionFault, frozen=True):
    """Leave the connection unanswered, as a machine that is switched off."""

    summary: ClassVar = "Leave the connection unanswered, until the client's system gives up."
    point: ClassVar[ConnectionPhase] = "connect"
    needs_namespace: ClassVar = True

    kind: Literal["connection_timeout"] = "connection_timeout"

    def effects(
        self, exchange: Exchange, memory: FaultState, rng: KeyedRng
    ) -> tuple[tuple[Effect, ...], FaultState]:
        """Drop the packets that ask for a connection."""
        return (DropPackets(),), memory

    @property
    def gives_up_after_s(self) -> float:
        """Seconds until the client's system gives up, in a namespace of WAREX's."""
        return GIVES_UP_AFTER

    @property
    def retries_for_s(self) -> float:
        """Seconds until the client's system has asked for the last time."""
        return ASKS_AGAIN_AFTER

    def explain(self) -> str:
        """Return what the client meets, in words."""
        end = (
            f"left unanswered until the client's system gives up, after {self.gives_up_after_s:g} s"
        )
        return describe_connection_tries(
            end, self.gives_up_after_s + self.hold - self.retries_for_s
        )
