"""The answer stops in its middle, and goes on late or never."""

from collections.abc import Mapping
from math import inf
from typing import Any, ClassVar, Literal, Self, override

from pydantic import Field, model_validator

from warex.effects import Effect, Stall, Truncate
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, Seconds
from warex.faults.transport.base import BodyFault
from warex.seeds import KeyedRng


def _usual_stall(given: Mapping[str, Any]) -> float | None:
    return None if given.get("then") == "never" else 30.0


class StalledBody(BodyFault, frozen=True):
    """Fall silent in the middle of the site's answer, with the connection open."""

    summary: ClassVar = "Let an answer fall silent in its middle."
    sizes: ClassVar = ("stall",)

    kind: Literal["stalled_body"] = "stalled_body"
    then: Literal["go_on", "close", "reset", "never"] = Field(
        default="go_on",
        description="After the silence the rest comes, or the connection is closed, or reset; or it"
        " lasts until the client leaves or the trial ends.",
    )
    stall: Seconds | None = Field(
        default_factory=_usual_stall,
        description="How long it is silent, in seconds; null with `then: never`. Left out: 30.",
    )

    @model_validator(mode="after")
    def _ends_or_not(self) -> Self:
        if (self.then == "never") != (self.stall is None):
            given = "null" if self.stall is None else f"{self.stall:g}"
            raise ValueError(
                f"stall {given} and then: {self.then} do not go together; a silence that nothing"
                " follows (never) has no seconds (null), any other one has"
            )
        if self.stall == 0:
            raise ValueError("stall 0 is no silence; give seconds above 0")
        return self

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Fall silent, then go on or end."""
        at, unit = self.place
        effect: Effect
        if self.then == "go_on":
            assert self.stall is not None
            effect = Stall(self.stall, at, unit)
        else:
            how = "close" if self.then == "never" else self.then
            silence = inf if self.stall is None else self.stall
            effect = Truncate(at, how, unit, silence)
        return (effect,), state

    @property
    @override
    def is_endless(self) -> bool:
        return self.then == "never"

    @override
    def held_at_most(self, seconds: float) -> Self:
        stall = seconds if self.stall is None else min(self.stall, seconds)
        then = "go_on" if self.then == "never" else self.then
        return self.model_copy(update={"stall": stall, "then": then})

    @override
    def responds_within(self, seconds: float) -> bool:
        return self.then == "go_on" and self.stall is not None and self.stall <= seconds

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "stops an answer in its middle"

    @override
    def outcome(self) -> str:
        if self.stall is None:
            return f"left silent for good after {self.beginning}"
        after = {
            "go_on": "then goes on",
            "close": "then is cut off (an orderly close)",
            "reset": "then is cut off (a TCP reset)",
        }
        return f"left silent for {self.stall:g} s after {self.beginning}, and {after[self.then]}"
