"""TLS fails: an untrusted certificate, or the connection ends before the certificate."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import Field

from warex.effects import BadCertificate, CertificateDefect, Cut
from warex.exchange import Exchange
from warex.faults.base import ConnectionFault, ConnectionPhase, EffectsAndState, FaultState
from warex.faults.words import describe_connection_tries
from warex.seeds import KeyedRng

_SHOWN: Final[Mapping[CertificateDefect | Literal["cut"], str]] = {
    "expired": "shown a certificate that has expired",
    "wrong_host": "shown a certificate of another host",
    "self_signed": "shown a certificate that signed itself",
    "unknown_ca": "shown a certificate of an authority that nobody knows",
    "cut": "cut off when TLS begins, without a certificate",
}


class TlsError(ConnectionFault, frozen=True):
    """Let TLS fail.

    A client that ignores certificate errors is affected by ``cut`` only.
    """

    summary: ClassVar = "Let TLS fail: a certificate that cannot be trusted, or a cut."
    point: ClassVar[ConnectionPhase] = "tls"

    kind: Literal["tls_error"] = "tls_error"
    how: CertificateDefect | Literal["cut"] = Field(
        default="expired", description="What is wrong with the certificate, or a cut before it."
    )

    def effects(self, exchange: Exchange, memory: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Present the certificate, or cut."""
        return (Cut("close") if self.how == "cut" else BadCertificate(self.how),), memory

    def explain(self) -> str:
        """Return what the client meets, in words."""
        return describe_connection_tries(_SHOWN[self.how], self.hold)
