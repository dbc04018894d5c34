"""One event of a model's stream cannot be read."""

from typing import ClassVar, Literal, override

from warex.effects import BreakEvent, Effect
from warex.faults.llm.base import StreamFault
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng


class LlmBrokenEvent(StreamFault, frozen=True):
    """Break the JSON of one event of a model's stream; all others come as they are."""

    summary: ClassVar = "Break the JSON of one event in a model's stream that is whole otherwise."

    kind: Literal["llm_broken_event"] = "llm_broken_event"

    @override
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        return (BreakEvent(self.at),)

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "sees the beginning of an answer arrive before the rest of it is sent"

    @override
    def outcome(self) -> str:
        return f"let through with one event, {self.place}, whose JSON breaks off"
