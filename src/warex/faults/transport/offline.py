"""No network: every connection ends without an answer, for a time."""

from typing import ClassVar, Literal, override

from pydantic import Field

from warex.effects import Cut
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, HeldFault, Seconds, number_in
from warex.seeds import KeyedRng


class Offline(HeldFault, frozen=True):
    """Reset what is under way, and all that is requested from a hit until the time is over."""

    summary: ClassVar = "Reset every connection for a time, as without a network."
    sizes: ClassVar = ("delay", "lasts")

    kind: Literal["offline"] = "offline"
    stage: Literal["request"] = "request"
    lasts: Seconds = Field(
        default=15.0, gt=0, description="Seconds from a hit until the network is there again."
    )
    delay: Seconds = Field(default=0.0, description="How long each request is held, in seconds.")

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Reset this exchange and the open ones; begin the time with the first."""
        until = number_in(state, "until")
        if exchange.at >= until:
            until = exchange.at + self.lasts
        return (*self.hold_effects, Cut("reset", ends_open=True)), {**state, "until": until}

    def still_applies(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether the time is not over."""
        return exchange.at < number_in(state, "until")

    @property
    @override
    def never_ends(self) -> str:
        """The first request after the time begins the next one."""
        return "as soon as the network is there it is gone again, and waiting never helps"

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "resets what is open"

    @override
    def outcome(self) -> str:
        return (
            "cut off without an answer (a TCP reset); so are all that is open and all else that"
            f" matches within {self.lasts:g} s"
        )
