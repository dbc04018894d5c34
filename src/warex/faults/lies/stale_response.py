"""The site's first answer again, as from a stale cache."""

from typing import ClassVar, Literal, override

from warex.effects import ReplayFirst
from warex.exchange import Exchange, Resource
from warex.faults.base import EffectsAndState, Fault, FaultState
from warex.seeds import KeyedRng


class StaleResponse(Fault, frozen=True):
    """Answer a GET with the site's first answer to the same request."""

    category: ClassVar = "lie"
    gives_again: ClassVar = "answer"
    summary: ClassVar = "Answer with what the site answered to the same request before."
    default_resource: ClassVar[tuple[Resource, ...]] = ("document", "xhr")

    kind: Literal["stale_response"] = "stale_response"
    stage: Literal["request"] = "request"

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Repeat the first answer, if there is one."""
        return (ReplayFirst(),), state

    @override
    def outcome(self) -> str:
        return "answered with what the site answered when the same was first asked for"
