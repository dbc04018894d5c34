"""The lookup of the host's name fails."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal, override

from pydantic import Field

from warex.effects import RESOLVER_GIVES_UP_AFTER, DnsError, DnsErrorCode, Effect
from warex.faults.base import ConnectionFault, ConnectionPhase

_OUTCOMES: Final[Mapping[DnsErrorCode, str]] = {
    "nxdomain": "told that the host's name does not exist (NXDOMAIN)",
    "servfail": "told that the host's name cannot be resolved now (SERVFAIL)",
    "timeout": "left without an answer when it asks for the host's name",
}


class DnsFailure(ConnectionFault, frozen=True):
    """Fail the lookup of the host's name.

    It does not affect a client that has already cached the address.
    """

    summary: ClassVar = "Fail the lookup of the host's name."
    point: ClassVar[ConnectionPhase] = "name"
    needs_namespace: ClassVar = True

    kind: Literal["dns_failure"] = "dns_failure"
    code: DnsErrorCode = Field(
        default="nxdomain",
        description="The name does not exist, the resolver fails, or it does not answer.",
    )

    @override
    def effect(self) -> Effect:
        return DnsError(self.code)

    @property
    def gives_up_after_s(self) -> float:
        """Seconds until a client stops waiting for an unresponsive resolver."""
        return RESOLVER_GIVES_UP_AFTER if self.code == "timeout" else 0.0

    @override
    def outcome(self) -> str:
        return _OUTCOMES[self.code]
