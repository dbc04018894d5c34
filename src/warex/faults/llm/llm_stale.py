"""The model repeats its answer to an earlier step."""

from typing import ClassVar, Literal, override

from warex.effects import Effect
from warex.faults.llm.base import LlmFault, as_reply
from warex.llm import LlmAnswer, Usage, write_answer
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng


class LlmStale(LlmFault, frozen=True):
    """Answer a call with the model's answer to the step before; the first with an empty one."""

    summary: ClassVar = "Answer a call to a model with its answer to an earlier step."

    looks_healthy: ClassVar = True

    kind: Literal["llm_stale"] = "llm_stale"

    @override
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        nothing = LlmAnswer(call.llm_request.model, finish="stop", usage=Usage(0, 0), complete=True)
        return (as_reply(write_answer(call.llm_request, call.previous_answer or nothing)),)

    @override
    def outcome(self) -> str:
        return "answered with the model's answer to an earlier step"
