"""A page arrives in pieces, as over a slow line or from a server that streams it."""

from typing import ClassVar, Literal, override

from pydantic import Field

from warex.effects import Trickle
from warex.exchange import Exchange, Resource
from warex.faults.base import EffectsAndState, FaultState, HeldFault, Seconds
from warex.seeds import KeyedRng


class SlowPage(HeldFault, frozen=True):
    """Forward the document in sixteen pieces, with a pause before each except the first."""

    summary: ClassVar = "Send a page slowly, piece by piece."
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)
    sizes: ClassVar = ("delay", "pause")

    stage: Literal["response"] = "response"
    kind: Literal["slow_page"] = "slow_page"
    delay: Seconds = Field(default=0.0, description="How long the first piece is held, in seconds.")
    pause: Seconds = Field(
        default=1.0, gt=0, description="How long each further piece is held, in seconds."
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Hold the first piece, then send the others with pauses."""
        return (*self.hold_effects, Trickle(self.pause)), state

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "sends an answer piece by piece"

    @override
    def outcome(self) -> str:
        return f"let through in sixteen pieces, {self.pause:g} s apart"
