"""The connection is tried without an answer until the client's system gives up."""

from typing import ClassVar, Final, Literal

from warex.effects import DropPackets
from warex.exchange import Exchange
from warex.faults.base import ConnectionFault, ConnectionPhase, EffectsAndState, FaultState
from warex.faults.words import describe_connection_tries
from warex.seeds import KeyedRng

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

    def effects(self, exchange: Exchange, memory: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Drop the SYN packets."""
        return (DropPackets(),), memory

    @property
    def gives_up_after_s(self) -> float:
        """Seconds until the client's system gives up, in namespace mode."""
        return GIVES_UP_AFTER

    @property
    def retries_for_s(self) -> float:
        """Seconds until the client's system has sent its last SYN."""
        return ASKS_AGAIN_AFTER

    def explain(self) -> str:
        """Return what the client meets, in words."""
        end = (
            f"left unanswered until the client's system gives up, after {self.gives_up_after_s:g} s"
        )
        return describe_connection_tries(
            end, self.gives_up_after_s + self.hold - self.retries_for_s
        )
