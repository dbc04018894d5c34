"""After a delay, a page like a browser's connection error (paper §3.2)."""

from typing import ClassVar, Literal, override

from pydantic import Field

from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, ErrorStatus, FaultState, HeldFault, Seconds
from warex.faults.pages import BrowserPage, Incident, render
from warex.seeds import KeyedRng


class NetworkError(HeldFault, frozen=True):
    """Hold the answer, then replace it with a page worded as a browser's connection error.

    The connection stays open, so that drivers which raise on a closed one still see a page;
    ``connection_cut`` closes it.
    """

    summary: ClassVar = "Hold the answer, then show a browser's connection error in its place."

    kind: Literal["network_error"] = "network_error"
    delay: Seconds = Field(default=10.0, description="How long the answer is held, in seconds.")
    status: ErrorStatus = Field(default=504, description="The status the page comes with.")
    page: BrowserPage | None = Field(
        default=None, description="The family of error pages; left out, each host has its own."
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Answer after the delay."""
        incident = Incident.of(exchange.request, self.status, rng)
        page = render("browser", incident, self.page)
        return (*self.hold_effects, page.reply(self.status)), state

    @override
    def outcome(self) -> str:
        family = f"family {self.page}" if self.page else "a family chosen by seed"
        page = f"a page worded as a browser's own connection error ({family})"
        return f"answered {self.status} with {page}"
