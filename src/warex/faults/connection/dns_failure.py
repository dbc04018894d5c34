"""The lookup of the host's name fails."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import Field

from warex.effects import DnsError, DnsErrorCode
from warex.exchange import Exchange
from warex.faults.base import ConnectionFault, ConnectionPhase, EffectsAndState, FaultState
from warex.faults.words import describe_connection_tries
from warex.seeds import KeyedRng

_SAID: Final[Mapping[DnsErrorCode, str]] = {
    "nxdomain": "told that the host's name does not exist (NXDOMAIN)",
    "servfail": "told that the host's name cannot be resolved now (SERVFAIL)",
    "timeout": "left without an answer when it asks for the host's name",
}

GIVES_UP_AFTER: Final = 2.0
"""Seconds: two tries of one each (``resolv.conf`` in a namespace). Chromium then has the system
resolve once more, and gives up after five."""


class DnsFailure(ConnectionFault, frozen=True):
    """Fail the lookup of the host's name.

    It does not affect a client that has already cached the address.
    """

    summary: ClassVar = "Give the host's name no address."
    point: ClassVar[ConnectionPhase] = "name"
    needs_namespace: ClassVar = True

    kind: Literal["dns_failure"] = "dns_failure"
    code: DnsErrorCode = Field(
        default="nxdomain",
        description="The name does not exist, the resolver fails, or it does not answer.",
    )

    def effects(self, exchange: Exchange, memory: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Fail the lookup."""
        return (DnsError(self.code),), memory

    @property
    def gives_up_after_s(self) -> float:
        """Seconds until a client stops waiting for an unresponsive resolver."""
        return GIVES_UP_AFTER if self.code == "timeout" else 0.0

    def explain(self) -> str:
        """Return what the client meets, in words."""
        return describe_connection_tries(_SAID[self.code], self.gives_up_after_s + self.hold)
