"""A fault that refuses the visitor's country."""

from html import escape
from typing import Annotated, ClassVar, Literal, override

from pydantic import Field

from warex.effects import Reply
from warex.exchange import Exchange
from warex.faults import EffectsAndState, Fault, FaultState
from warex.seeds import KeyedRng

_REASONS = ("local law", "our licences", "the terms of our partners")


class GeoBlock(Fault, frozen=True):
    """Answer with 451 (RFC 7725) and a page that names the visitor's country."""

    summary: ClassVar = "Answer 451: not available in the visitor's country."

    kind: Literal["geo_block"] = "geo_block"
    country: Annotated[str, Field(min_length=1, max_length=60)] = Field(
        default="Norway", description="The country that the page names."
    )

    @override
    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        reason = rng.choice(_REASONS, "reason")
        page = (
            "<!doctype html><title>Not available</title><h1>Not available in your country</h1>"
            f"<p>Because of {reason}, {escape(exchange.request.host)} cannot be visited from"
            f" {escape(self.country)}.</p>"
        )
        return (Reply(451, {"content-type": "text/html; charset=utf-8"}, page.encode()),), state

    @override
    def outcome(self) -> str:
        return f"answered 451 with a page that names {self.country}"
