"""A part of the answer comes, and no more: a partial page load (paper §1)."""

from typing import ClassVar, Literal, override

from pydantic import Field

from warex.effects import Truncate
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState
from warex.faults.transport.base import BodyFault
from warex.seeds import KeyedRng


class TruncatedBody(BodyFault, frozen=True):
    """Forward the first part of the site's answer, then end it in good order, or cut it."""

    summary: ClassVar = "Send only the first part of an answer."

    kind: Literal["truncated_body"] = "truncated_body"
    how: Literal["clean", "close", "reset"] = Field(
        default="close",
        description="In good order, as if that were all (lengths say so, and the body is no longer"
        " compressed); or the connection is closed, or reset.",
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Truncate the body."""
        at, unit = self.place
        return (Truncate(at, self.how, unit),), state

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "" if self.how == "clean" else "cuts an answer in its middle"

    @override
    def outcome(self) -> str:
        end = {
            "clean": "ended in good order",
            "close": "cut off (an orderly close)",
            "reset": "cut off (a TCP reset)",
        }
        return f"{end[self.how]} after {self.beginning}"
