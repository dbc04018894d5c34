"""The model does not answer."""

from typing import ClassVar, Literal, override

from pydantic import Field

from warex.effects import Cut, Effect
from warex.faults.base import Seconds
from warex.faults.llm.base import LlmFault
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng


class LlmTimeout(LlmFault, frozen=True):
    """Leave a call without an answer, and close the connection after the delay."""

    summary: ClassVar = "Leave a call to a model without an answer, and cut it off in the end."

    kind: Literal["llm_timeout"] = "llm_timeout"
    delay: Seconds = Field(
        default=600.0, description="After how many seconds the connection is closed."
    )

    @override
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        return (Cut("close"),)

    @override
    def outcome(self) -> str:
        return "cut off without an answer"
