"""Another page of the same site at this URL, as by a faulty router or cache."""

from typing import ClassVar, Literal, override

from warex.effects import OtherPage
from warex.exchange import Exchange, Resource
from warex.faults.base import EffectsAndState, Fault, FaultState
from warex.seeds import KeyedRng


class WrongPage(Fault, frozen=True):
    """Answer with another, earlier page of the same host."""

    category: ClassVar = "lie"
    gives_again: ClassVar = "page"
    summary: ClassVar = "Show another page of the same site under this URL."
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)

    kind: Literal["wrong_page"] = "wrong_page"
    stage: Literal["request"] = "request"

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Request another page, which the seed chooses."""
        return (OtherPage(rng.draw("page", exchange.request.url)),), state

    @override
    def outcome(self) -> str:
        return "answered with another page of the same site that was shown before"
