"""The answer stops in its middle, and goes on late or never."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, override

from pydantic import Field

from warex.effects import Effect, Stall, Truncate
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, Seconds
from warex.faults.silence import SilentFault
from warex.faults.transport.base import BodyFault
from warex.seeds import KeyedRng


def _usual_stall(values: Mapping[str, Any]) -> float | None:
    return None if values.get("then") == "never" else 30.0


class StalledBody(SilentFault, BodyFault, frozen=True):
    """Fall silent in the middle of the site's answer, with the connection open."""

    summary: ClassVar = "Stop sending an answer in its middle."
    sizes: ClassVar = ("stall",)

    kind: Literal["stalled_body"] = "stalled_body"
    stall: Seconds | None = Field(
        default_factory=_usual_stall,
        description="How long it is silent, in seconds; null with `then: never`. Left out: 30.",
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Fall silent, then go on or end."""
        at, unit = self.place
        effect: Effect
        if self.end is None:
            effect = Stall(self.silence_s, at, unit)
        else:
            effect = Truncate(at, self.end, unit, self.silence_s)
        return (effect,), state

    @override
    def with_hold_at_most(self, seconds: float) -> Self:
        stall = seconds if self.stall is None else min(self.stall, seconds)
        then = "go_on" if self.then == "never" else self.then
        return self.model_copy(update={"stall": stall, "then": then})

    @override
    def responds_within(self, seconds: float) -> bool:
        return self.then == "go_on" and self.stall is not None and self.stall <= seconds

    @override
    def outcome(self) -> str:
        if self.stall is None:
            return f"left silent for good after {self.beginning}"
        return f"left silent for {self.stall:g} s after {self.beginning}, and {self.follows}"
