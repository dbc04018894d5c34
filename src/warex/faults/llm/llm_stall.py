"""A model's stream falls silent."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, override

from pydantic import Field

from warex.effects import CutStream, Effect, StallStream
from warex.faults.base import Seconds
from warex.faults.llm.base import StreamFault
from warex.faults.silence import SilentFault
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng


def _usual_stall(values: Mapping[str, Any]) -> float | None:
    return None if values.get("then") == "never" else 60.0


class LlmStall(SilentFault, StreamFault, frozen=True):
    """Let a model's stream fall silent after its beginning, with the connection open.

    Clients that wait for each piece as long as for the first give up only by a limit for that.
    """

    summary: ClassVar = "Stop a model's stream in the middle, with the connection open."
    sizes: ClassVar = ("delay", "stall")

    kind: Literal["llm_stall"] = "llm_stall"
    stall: Seconds | None = Field(
        default_factory=_usual_stall,
        description="How long it is silent, in seconds; null with `then: never`. Left out: 60.",
    )

    @override
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        if self.end is None:
            return (StallStream(self.at, self.silence_s),)
        return (CutStream(self.at, self.end, self.silence_s),)

    @override
    def outcome(self) -> str:
        if self.stall is None:
            return f"let through {self.place} and then left silent for good"
        silence = f"left silent for {self.stall:g} s"
        return f"let through {self.place}, {silence}, and {self.follows}"
