"""Another page of the same site under this URL, as a router or a cache mixes them up."""

from typing import ClassVar, Literal

from warex.effects import Effect, OtherPage
from warex.exchange import Exchange, Resource
from warex.faults.base import Fault, FaultState
from warex.seeds import KeyedRng


class WrongPage(Fault, frozen=True):
    """Answer with another page of the same host that was shown before."""

    category: ClassVar = "lie"
    gives_again: ClassVar = "page"
    summary: ClassVar = "Show another page of the same site under this URL."
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)

    kind: Literal["wrong_page"] = "wrong_page"
    stage: Literal["request"] = "request"

    def effects(
        self, exchange: Exchange, memory: FaultState, rng: KeyedRng
    ) -> tuple[tuple[Effect, ...], FaultState]:
        """Ask the site for another page; the seed chooses which."""
        return (OtherPage(rng.draw("page", exchange.request.url)),), memory

    def explain(self) -> str:
        """Return what the browser meets, in words."""
        return "is answered with another page of the same site that was shown before"
