"""The connection is refused with a TCP reset."""

from typing import ClassVar, Literal, override

from warex.effects import Effect, RefuseConnection
from warex.faults.base import ConnectionFault, ConnectionPhase


class ConnectionRefused(ConnectionFault, frozen=True):
    """Refuse the connection, as a machine without a listener on the port does."""

    summary: ClassVar = "Refuse the connection, as if no server listened."
    point: ClassVar[ConnectionPhase] = "connect"
    needs_namespace: ClassVar = True

    kind: Literal["connection_refused"] = "connection_refused"

    @override
    def effect(self) -> Effect:
        return RefuseConnection()

    @override
    def outcome(self) -> str:
        return "refused at once (a TCP reset), as where nobody listens"
