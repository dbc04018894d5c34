"""The model's answer is empty."""

from typing import ClassVar, Literal, override

from warex.effects import Effect
from warex.faults.llm.base import LlmFault, as_reply
from warex.llm import LlmAnswer, Usage, write_answer
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng


class LlmEmpty(LlmFault, frozen=True):
    """Answer a call with a well-formed message without text and tool calls."""

    summary: ClassVar = "Answer a call to a model with neither text nor a tool call."

    kind: Literal["llm_empty"] = "llm_empty"

    @override
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        answer = LlmAnswer(call.llm_request.model, finish="stop", usage=Usage(0, 0), complete=True)
        return (as_reply(write_answer(call.llm_request, answer)),)

    @override
    def outcome(self) -> str:
        return "answered with neither text nor a tool call"
