"""The connection is refused with a TCP reset."""

from typing import ClassVar, Literal

from warex.effects import RefuseConnection
from warex.exchange import Exchange
from warex.faults.base import ConnectionFault, ConnectionPhase, EffectsAndState, FaultState
from warex.faults.words import describe_connection_tries
from warex.seeds import KeyedRng


class ConnectionRefused(ConnectionFault, frozen=True):
    """Refuse the connection, as a machine without a listener on the port does."""

    summary: ClassVar = "Refuse the connection, as if no server listened."
    point: ClassVar[ConnectionPhase] = "connect"
    needs_namespace: ClassVar = True

    kind: Literal["connection_refused"] = "connection_refused"

    def effects(self, exchange: Exchange, memory: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Refuse."""
        return (RefuseConnection(),), memory

    def explain(self) -> str:
        """Return what the client meets, in words."""
        return describe_connection_tries(
            "refused at once (a TCP reset), as where nobody listens", self.hold
        )
