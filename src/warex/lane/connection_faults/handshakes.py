"""TLS faults: invalid certificates, and connections closed at the ClientHello."""

from msgspec import Struct

from warex.effects import BadCertificate, Cut
from warex.engine.handler import AbortConnection, Connection, Handshake, Intercept
from warex.lane.connection_faults.tries import ConnectionTries
from warex.scenarios import PlannedInjection


class _FaultyHandshake(Struct, frozen=True):
    """A connection to which a fault is applied."""

    injection: PlannedInjection
    sends_certificate: bool


class HandshakeFaults:
    """Applies TLS faults to clients' connections."""

    def __init__(self, tries: ConnectionTries) -> None:
        self._tries = tries
        self._open: dict[int, _FaultyHandshake] = {}
        """By the number of the connection."""

    def plan(
        self, connection: Connection, host: str, port: int
    ) -> Intercept | AbortConnection | None:
        """Count a connection that begins TLS; return its plan if a fault is applied to it."""
        for injection in self._tries.plan("tls", host, port):
            for effect in injection.effects:
                if isinstance(effect, BadCertificate):
                    self._open[connection.number] = _FaultyHandshake(injection, True)
                    # A failed handshake does not need the site.
                    return Intercept(defect=effect.wrong, site_first=False)
                if isinstance(effect, Cut):
                    self._open[connection.number] = _FaultyHandshake(injection, False)
                    return AbortConnection(effect.how)
        return None

    def may_concern(self, host: str, port: int) -> bool:
        """Whether a rule is about the handshakes of a host."""
        return self._tries.may_concern("tls", host, port)

    def ended(self, connection: Connection, ended: Handshake) -> bool:
        """Note that a handshake has ended; return whether a fault was applied to it."""
        faulty = self._open.pop(connection.number, None)
        if faulty is None:
            return False
        met = connection.certificate_sent if faulty.sends_certificate else ended == "aborted"
        self._tries.settle(faulty.injection, delivered=met)
        return True
