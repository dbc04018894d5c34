"""An error page or error data with status 200."""

from typing import ClassVar, Final, Literal, override

from pydantic import Field, JsonValue

from warex.exchange import Exchange, Request, resource_of
from warex.faults.base import EffectsAndState, ErrorStatus, Fault, FaultState
from warex.faults.lies.base import json_reply
from warex.faults.pages import Incident, ServerPage, render
from warex.faults.pages.reasons import reason
from warex.seeds import KeyedRng

_WORDS: Final = (
    "Something went wrong. Please try again later.",
    "The request could not be processed.",
    "An unexpected error occurred.",
    "Service temporarily unavailable.",
)


class SoftError(Fault, frozen=True):
    """Answer 200 with an error page, or with ``{"error": …}`` for a script."""

    category: ClassVar = "lie"
    summary: ClassVar = "Answer 200 with an error page, or with an error in JSON."

    shows_site: ClassVar = True

    kind: Literal["soft_error"] = "soft_error"
    status: ErrorStatus = Field(
        default=500, description="The status that the page speaks of; what it comes with is 200."
    )
    page: ServerPage | None = Field(
        default=None, description="The family of error pages; left out, each host has its own."
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Answer scripts with JSON and everything else with a page."""
        request = exchange.request
        if resource_of(request) == "xhr":
            return (json_reply(request, 200, self._error_body(request, rng)),), state
        incident = Incident.at(exchange, self.status, rng)
        page = render("server", incident, self.page)
        return (page.reply(200),), state

    def _error_body(self, request: Request, rng: KeyedRng) -> JsonValue:
        words = rng.choice(_WORDS, "words", request.url)
        code = reason(self.status).upper().replace(" ", "_")
        if "graphql" in request.parts.path.lower():
            return {"errors": [{"message": words, "extensions": {"code": code}}], "data": None}
        shapes: tuple[JsonValue, ...] = (
            {"error": words},
            {"error": {"code": code, "message": words}},
            {"success": False, "error": {"message": words}},
            {"status": "error", "message": words, "data": None},
        )
        # One API always uses the same shape.
        return rng.choice(shapes, "shape", request.parts.netloc)

    @override
    def outcome(self) -> str:
        family = f"family {self.page}" if self.page else "a family chosen by seed"
        return f"answered 200 with an error page ({family}), scripts with an error in JSON"
