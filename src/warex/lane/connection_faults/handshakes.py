"""TLS faults: invalid certificates, connections closed at the ClientHello, HTTP/2 refused."""

from msgspec import Struct

from warex.effects import BadCertificate, Cut, RefuseHttp2
from warex.engine.handler import AbortConnection, Connection, Handshake, Intercept
from warex.lane.connection_faults.tries import ConnectionTries
from warex.scenarios import PlannedInjection
from warex.traces import MissReason


class _FaultyHandshake(Struct, frozen=True):
    """A connection whose handshake a fault ends, or may end."""

    injection: PlannedInjection
    sends_certificate: bool


class _Downgrade(Struct, frozen=True):
    """A connection for which HTTP/2 is refused."""

    injection: PlannedInjection
    is_offered: bool
    """Whether its client offers HTTP/2."""


class HandshakeFaults:
    """Applies TLS faults to clients' connections."""

    def __init__(self, tries: ConnectionTries) -> None:
        self._tries = tries
        self._open: dict[int, _FaultyHandshake] = {}
        """Planned connections by their numbers."""
        self._downgraded: dict[int, _Downgrade] = {}

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
                if isinstance(effect, RefuseHttp2):
                    hello = connection.hello
                    is_offered = hello is not None and b"h2" in hello.alpn
                    self._downgraded[connection.number] = _Downgrade(injection, is_offered)
                if isinstance(effect, Cut):
                    self._open[connection.number] = _FaultyHandshake(injection, False)
                    return AbortConnection(effect.how)
        return None

    def allows_http2(self, connection: Connection) -> bool:
        """Whether a planned connection may speak HTTP/2."""
        return connection.number not in self._downgraded

    def may_concern(self, host: str, port: int) -> bool:
        """Whether a rule is about the handshakes of a host."""
        return self._tries.may_concern("tls", host, port)

    def ended(self, connection: Connection, ended: Handshake) -> bool:
        """Note that a handshake has ended; return whether a fault ended it, or may have."""
        downgrade = self._downgraded.pop(connection.number, None)
        if downgrade is not None:
            self._settle_downgrade(downgrade, ended)
        faulty = self._open.pop(connection.number, None)
        if faulty is None:
            return False
        delivered = connection.certificate_sent if faulty.sends_certificate else ended == "aborted"
        self._tries.settle(faulty.injection, delivered=delivered)
        return True

    def _settle_downgrade(self, downgrade: _Downgrade, ended: Handshake) -> None:
        is_open = ended == "established"
        reason: MissReason = "nothing_to_rewrite" if is_open else "client_gone"
        self._tries.settle(
            downgrade.injection, delivered=is_open and downgrade.is_offered, reason=reason
        )
