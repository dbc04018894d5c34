"""A page redirects to itself until the browser gives up or the loop ends."""

from typing import Annotated, ClassVar, Final, Literal, override

from pydantic import Field

from warex.effects import Reply
from warex.exchange import Exchange, Resource
from warex.faults.base import EffectsAndState, Fault, FaultState, number_in
from warex.faults.walls.base import same_site_location
from warex.seeds import KeyedRng

_FOLLOWS_WITHIN: Final = 1.0
"""Seconds; a later request is a new one and does not follow the redirect."""


class RedirectLoop(Fault, frozen=True):
    """Redirect a request to its own URL by 307, so that a form is sent again.

    Chromium and Firefox give up after 20 redirects (Fetch standard, HTTP-redirect fetch, step 7).
    """

    summary: ClassVar = "Redirect a page to itself, until the browser gives up."
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)

    kind: Literal["redirect_loop"] = "redirect_loop"
    times: Annotated[int, Field(ge=1, le=1000, strict=True)] | None = Field(
        default=None,
        description="After how many redirects the page comes; null: as long as they are followed.",
    )

    @property
    @override
    def never_ends(self) -> str:
        """Without ``times``, the loop ends when the browser gives up, as intended."""
        if self.times is None:
            return ""
        return "after the last redirect the loop begins again, and the page never comes"

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Redirect to the same path and query."""
        count = number_in(state, "count") if self.still_applies(exchange, state) else 0
        loop: FaultState = {"url": exchange.request.url, "at": exchange.at, "count": count + 1}
        location = same_site_location(exchange.request)
        reply = Reply(307, {"location": location, "cache-control": "no-store"})
        return (reply,), {**state, **loop}

    def still_applies(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether this request follows the last redirect, and the loop is not over."""
        follows = (
            state.get("url") == exchange.request.url
            and 0 <= exchange.at - number_in(state, "at") < _FOLLOWS_WITHIN
        )
        return follows and (self.times is None or number_in(state, "count") < self.times)

    @override
    def outcome(self) -> str:
        often = "as long as it follows" if self.times is None else f"{self.times} times"
        return f"redirected (307) to itself, {often}"
