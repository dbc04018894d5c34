"""The site's first answer once more, as a cache would give it that was never told of a change."""

from typing import ClassVar, Literal

from warex.effects import Effect, ReplayFirst
from warex.exchange import Exchange, Resource
from warex.faults.base import Fault, FaultState
from warex.seeds import KeyedRng


class StaleResponse(Fault, frozen=True):
    """Answer a GET with what the site answered when the same was first asked for."""

    category: ClassVar = "lie"
    gives_again: ClassVar = "answer"
    summary: ClassVar = "Answer with what the site answered to the same request before."
    default_resource: ClassVar[tuple[Resource, ...]] = ("document", "xhr")

    kind: Literal["stale_response"] = "stale_response"
    stage: Literal["request"] = "request"

    def effects(
        self, exchange: Exchange, memory: FaultState, rng: KeyedRng
    ) -> tuple[tuple[Effect, ...], FaultState]:
        """Give the earlier answer, if there is one."""
        return (ReplayFirst(),), memory

    def explain(self) -> str:
        """Return what the browser meets, in words."""
        return "is answered with what the site answered when the same was first asked for"
