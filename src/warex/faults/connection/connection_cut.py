"""The connection ends without an answer."""

from typing import ClassVar, Literal, override

from pydantic import Field

from warex.effects import Cut
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, HeldFault, Seconds
from warex.seeds import KeyedRng


class ConnectionCut(HeldFault, frozen=True):
    """End the connection without an answer.

    The browser shows its own error page. Chromium silently repeats the request, also a POST, if a
    reused connection ends.
    """

    summary: ClassVar = "End the connection without an answer."

    kind: Literal["connection_cut"] = "connection_cut"
    how: Literal["close", "reset"] = Field(
        default="reset", description="An orderly close, or a TCP reset."
    )
    delay: Seconds = Field(default=0.0, description="How long the request is held, in seconds.")

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Cut, after the delay if there is one."""
        return (*self.held, Cut(self.how)), state

    @override
    def outcome(self) -> str:
        how = "a TCP reset" if self.how == "reset" else "an orderly close"
        return f"cut off without an answer ({how})"
