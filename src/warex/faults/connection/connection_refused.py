"""Nobody listens: the connection is refused before a byte is exchanged."""

from typing import ClassVar, Literal

from warex.effects import Effect, Refuse
from warex.exchange import Exchange
from warex.faults.base import ConnectionFault, Memory, Point
from warex.faults.words import attempts_meet
from warex.seeds import Luck


class ConnectionRefused(ConnectionFault, frozen=True):
    """Refuse the connection, as a machine does on which nobody listens."""

    summary: ClassVar = "Refuse the connection, as if no server listened."
    point: ClassVar[Point] = "connect"
    needs_namespace: ClassVar = True

    kind: Literal["connection_refused"] = "connection_refused"

    def effects(
        self, exchange: Exchange, memory: Memory, luck: Luck
    ) -> tuple[tuple[Effect, ...], Memory]:
        """Refuse."""
        return (Refuse(),), memory

    def explain(self) -> str:
        """Return what the client meets, in words."""
        return attempts_meet("refused at once (a TCP reset), as where nobody listens", self.hold)
