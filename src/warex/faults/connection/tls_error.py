"""TLS fails: an untrusted certificate, or the connection ends before the certificate."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal, override

from pydantic import Field

from warex.effects import BadCertificate, CertificateDefect, Cut, Effect
from warex.faults.base import ConnectionFault, ConnectionPhase

_SHOWN: Final[Mapping[CertificateDefect | Literal["cut"], str]] = {
    "expired": "shown a certificate that has expired",
    "wrong_host": "shown a certificate of another host",
    "self_signed": "shown a certificate that signed itself",
    "unknown_ca": "shown a certificate of an unknown authority",
    "cut": "cut off when TLS begins, without a certificate",
}


class TlsError(ConnectionFault, frozen=True):
    """Let TLS fail.

    A client that ignores certificate errors is affected by ``cut`` only.
    """

    summary: ClassVar = "Make TLS fail: an untrusted certificate, or a cut handshake."
    point: ClassVar[ConnectionPhase] = "tls"

    kind: Literal["tls_error"] = "tls_error"
    how: CertificateDefect | Literal["cut"] = Field(
        default="expired", description="What is wrong with the certificate, or a cut before it."
    )

    @override
    def effect(self) -> Effect:
        return Cut("close") if self.how == "cut" else BadCertificate(self.how)

    @override
    def outcome(self) -> str:
        return _SHOWN[self.how]
