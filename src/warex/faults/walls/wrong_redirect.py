"""The site redirects to another of its pages."""

from typing import Annotated, ClassVar, Literal, override

from pydantic import Field

from warex.effects import Reply
from warex.exchange import Exchange, Resource
from warex.faults.base import EffectsAndState, Fault, FaultState
from warex.seeds import KeyedRng

_OF_ITSELF = "/404"
"""The target for the wrong page itself, since a redirect to itself would loop."""


class WrongRedirect(Fault, frozen=True):
    """Redirect to another page of the same site."""

    summary: ClassVar = "Redirect to another page of the site, such as its start page."
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)

    kind: Literal["wrong_redirect"] = "wrong_redirect"
    to: Annotated[str, Field(max_length=1000, pattern=r"^/([!-.0-\[\]-~][!-~]*)?$")] = Field(
        default="/", description="The path of the page to which it leads; begins with one /."
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Redirect by 302, which turns a POST into a GET."""
        path = exchange.request.parts.path or "/"
        to = _OF_ITSELF if path == self.to.partition("?")[0] else self.to
        headers = {"location": to, "cache-control": "no-store"}
        return (Reply(302, headers),), state

    @override
    def outcome(self) -> str:
        return f"redirected (302) to {self.to}"
