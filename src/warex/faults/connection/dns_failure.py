"""The name cannot be found: it does not exist, or the resolver fails or is silent."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import Field

from warex.effects import Answerless, Effect, Unresolved
from warex.exchange import Exchange
from warex.faults.base import ConnectionFault, Memory, Point
from warex.faults.words import attempts_meet
from warex.seeds import Luck

_SAID: Final[Mapping[Answerless, str]] = {
    "nxdomain": "told that the host's name does not exist (NXDOMAIN)",
    "servfail": "told that the host's name cannot be resolved now (SERVFAIL)",
    "timeout": "left without an answer when it asks for the host's name",
}

GIVES_UP_AFTER: Final = 2.0
"""Seconds: two tries of one each (``resolv.conf`` in a namespace). Chromium then asks the system to
resolve once more, and gives up after five."""


class DnsFailure(ConnectionFault, frozen=True):
    """Give the host's name no address.

    A client that has the address already does not ask, and so does not meet it.
    """

    summary: ClassVar = "Give the host's name no address."
    point: ClassVar[Point] = "name"
    needs_namespace: ClassVar = True

    kind: Literal["dns_failure"] = "dns_failure"
    code: Answerless = Field(
        default="nxdomain",
        description="The name does not exist, the resolver fails, or it does not answer.",
    )

    def effects(
        self, exchange: Exchange, memory: Memory, luck: Luck
    ) -> tuple[tuple[Effect, ...], Memory]:
        """Give no address."""
        return (Unresolved(self.code),), memory

    @property
    def lasts(self) -> float:
        """Seconds until a client stops waiting for a resolver that is silent."""
        return GIVES_UP_AFTER if self.code == "timeout" else 0.0

    def explain(self) -> str:
        """Return what the client meets, in words."""
        return attempts_meet(_SAID[self.code], self.lasts + self.hold)
