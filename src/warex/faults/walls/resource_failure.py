"""Styles, images or fonts fail, so that the page looks broken."""

from typing import ClassVar, Literal, override

from pydantic import Field

from warex.exchange import Exchange, Resource
from warex.faults.base import EffectsAndState, ErrorStatus, FaultState, HeldFault, Seconds
from warex.faults.pages import Incident, render
from warex.seeds import KeyedRng


class ResourceFailure(HeldFault, frozen=True):
    """Answer requests for a page's styles, images and fonts with an error."""

    summary: ClassVar = "Fail the styles, images and fonts of a page."
    default_resource: ClassVar[tuple[Resource, ...]] = ("stylesheet", "image", "font")

    kind: Literal["resource_failure"] = "resource_failure"
    status: ErrorStatus = Field(default=503, description="The error status.")
    delay: Seconds = Field(default=0.0, description="How long the answer is held, in seconds.")

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Answer with the status and a server's error page."""
        incident = Incident.of(exchange.request, self.status, rng)
        return (*self.hold_effects, render("server", incident).reply(self.status)), state

    @override
    def outcome(self) -> str:
        return f"answered {self.status} with a server's error page in its place"
