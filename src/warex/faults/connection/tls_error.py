"""TLS fails: the certificate cannot be trusted, or the connection ends before there is one."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import Field

from warex.effects import Certificate, Cut, Distrust, Effect
from warex.exchange import Exchange
from warex.faults.base import ConnectionFault, Memory, Point
from warex.faults.words import attempts_meet
from warex.seeds import Luck

_SHOWN: Final[Mapping[Distrust | Literal["cut"], str]] = {
    "expired": "shown a certificate that has expired",
    "wrong_host": "shown a certificate of another host",
    "self_signed": "shown a certificate that signed itself",
    "unknown_ca": "shown a certificate of an authority that nobody knows",
    "cut": "cut off when TLS begins, without a certificate",
}


class TlsError(ConnectionFault, frozen=True):
    """Let TLS fail.

    A client that was told to ignore certificate errors connects all the same, and meets only
    ``cut``.
    """

    summary: ClassVar = "Let TLS fail: a certificate that cannot be trusted, or a cut."
    point: ClassVar[Point] = "tls"

    kind: Literal["tls_error"] = "tls_error"
    how: Distrust | Literal["cut"] = Field(
        default="expired", description="What is wrong with the certificate, or a cut before it."
    )

    def effects(
        self, exchange: Exchange, memory: Memory, luck: Luck
    ) -> tuple[tuple[Effect, ...], Memory]:
        """Show the certificate, or cut."""
        return (Cut("close") if self.how == "cut" else Certificate(self.how),), memory

    def explain(self) -> str:
        """Return what the client meets, in words."""
        return attempts_meet(_SHOWN[self.how], self.hold)
