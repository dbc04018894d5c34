"""The model's answer starts late and arrives slowly."""

from typing import ClassVar, Literal, Self, override

from pydantic import Field, model_validator

from warex.effects import Effect, Trickle
from warex.faults.base import Seconds
from warex.faults.llm.base import LlmFault
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng


class LlmSlow(LlmFault, frozen=True):
    """Forward the model's own answer late and in pieces: a stream's events, or sixteen parts."""

    summary: ClassVar = "Send a model's answer late and piece by piece."
    sizes: ClassVar = ("delay", "pause")

    kind: Literal["llm_slow"] = "llm_slow"
    stage: Literal["response"] = "response"
    delay: Seconds = Field(default=10.0, description="How late the first piece is, in seconds.")
    pause: Seconds = Field(default=0.0, description="Seconds between two pieces.")

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if not self.delay and not self.pause:
            raise ValueError("delay 0 and pause 0 do nothing; give one above 0")
        return self

    @override
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        return (Trickle(self.pause),) if self.pause else ()

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "sends an answer piece by piece" if self.pause else ""

    @override
    def outcome(self) -> str:
        pieces = f" piece by piece, {self.pause:g} s apart" if self.pause else " late"
        return f"let through{pieces}"
