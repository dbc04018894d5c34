"""A model's stream falls silent."""

from collections.abc import Mapping
from math import inf
from typing import Any, ClassVar, Literal, Self, override

from pydantic import Field, model_validator

from warex.effects import CutStream, Effect, StallStream
from warex.faults.base import Seconds
from warex.faults.llm.base import StreamFault
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng


def _usual_stall(given: Mapping[str, Any]) -> float | None:
    return None if given.get("then") == "never" else 60.0


class LlmStall(StreamFault, frozen=True):
    """Let a model's stream fall silent after its beginning, with the connection open.

    Clients that wait for each piece as long as for the first give up only by a limit for that.
    """

    summary: ClassVar = "Let a model's stream fall silent in the middle, with the connection open."
    sizes: ClassVar = ("delay", "stall")

    kind: Literal["llm_stall"] = "llm_stall"
    then: Literal["go_on", "close", "reset", "never"] = Field(
        default="go_on",
        description="After the silence the rest comes, or the connection is closed, or reset; or it"
        " lasts until the client leaves or the trial ends.",
    )
    stall: Seconds | None = Field(
        default_factory=_usual_stall,
        description="How long it is silent, in seconds; null with `then: never`. Left out: 60.",
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

    @override
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        if self.then == "go_on":
            assert self.stall is not None
            return (StallStream(self.at, self.stall),)
        how = "close" if self.then == "never" else self.then
        return (CutStream(self.at, how, inf if self.stall is None else self.stall),)

    @property
    @override
    def is_endless(self) -> bool:
        return self.then == "never"

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "stops an answer in its middle"

    @override
    def outcome(self) -> str:
        if self.stall is None:
            return f"let through {self.place} and then left silent for good"
        after = {
            "go_on": "then goes on",
            "close": "then is cut off (an orderly close)",
            "reset": "then is cut off (a TCP reset)",
        }
        silence = f"left silent for {self.stall:g} s"
        return f"let through {self.place}, {silence}, and {after[self.then]}"
