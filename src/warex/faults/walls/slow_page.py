"""A page comes piece by piece, as over a bad line or from a server that works as it writes."""

from typing import ClassVar, Literal

from pydantic import Field

from warex.effects import Effect, Trickle
from warex.exchange import Exchange, Resource
from warex.faults.base import FaultState, HeldFault, Seconds
from warex.faults.words import describe_exchange
from warex.seeds import KeyedRng


class SlowPage(HeldFault, frozen=True):
    """Let the page's document through in sixteen pieces, with a pause before each but the first."""

    summary: ClassVar = "Let a page trickle in, piece by piece."
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)
    sizes: ClassVar = ("delay", "pause")

    stage: Literal["response"] = "response"
    kind: Literal["slow_page"] = "slow_page"
    delay: Seconds = Field(default=0.0, description="How long the first piece is held, in seconds.")
    pause: Seconds = Field(
        default=1.0, gt=0, description="How long each further piece is held, in seconds."
    )

    def effects(
        self, exchange: Exchange, memory: FaultState, rng: KeyedRng
    ) -> tuple[tuple[Effect, ...], FaultState]:
        """Hold the first piece, then trickle."""
        return (*self.held, Trickle(self.pause)), memory

    def explain(self) -> str:
        """Return what the browser meets, in words."""
        end = f"let through in sixteen pieces, {self.pause:g} s apart"
        return describe_exchange(self.stage, self.delay, end)
