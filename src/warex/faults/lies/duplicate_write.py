"""A write is sent to the site twice, as by a proxy that retries too early."""

from typing import ClassVar, Literal, override

from warex.effects import DuplicateRequest
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, Fault, FaultState
from warex.seeds import KeyedRng


class DuplicateWrite(Fault, frozen=True):
    """Send a request to the site twice; the client gets the second answer."""

    category: ClassVar = "lie"
    summary: ClassVar = "Send a write to the site twice."

    kind: Literal["duplicate_write"] = "duplicate_write"
    stage: Literal["request"] = "request"

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Send a copy before the request itself."""
        return (DuplicateRequest(),), state

    @override
    def outcome(self) -> str:
        return "sent to the site twice, and answered as the second was"
