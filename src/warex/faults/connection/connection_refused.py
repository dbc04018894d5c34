"""Nobody listens: the connection is refused before a byte is exchanged."""

from typing import ClassVar, Literal

from warex.effects import Effect, RefuseConnection
from warex.exchange import Exchange
from warex.faults.base import ConnectionFault, ConnectionPhase, FaultState
from warex.faults.words import describe_connection_tries
from warex.seeds import KeyedRng


class ConnectionRefused(ConnectionFault, frozen=True):
    """Refuse the connection, as a machine does on which nobody listens."""

    summary: ClassVar = "Refuse the connection, as if no server listened."
    point: ClassVar[ConnectionPhase] = "connect"
    needs_namespace: ClassVar = True

    kind: Literal["connection_refused"] = "connection_refused"

    def effects(
        self, exchange: Exchange, memory: FaultState, rng: KeyedRng
    ) -> tuple[tuple[Effect, ...], FaultState]:
        """Refuse."""
        return (RefuseConnection(),), memory

    def explain(self) -> str:
        """Return what the client meets, in words."""
        return describe_connection_tries(
            "refused at once (a TCP reset), as where nobody listens", self.hold
        )
