"""The model refuses the request."""

from typing import Annotated, ClassVar, Final, Literal, override

from pydantic import Field

from warex.effects import Effect
from warex.faults.llm.base import LlmFault, as_reply
from warex.llm import LlmAnswer, Usage, write_answer
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng

_WORDS: Final = (
    "I'm sorry, but I can't assist with that request.",
    "I can't help with this. Is there something else I can do for you?",
    "I'm not able to continue with this task.",
)


class LlmRefusal(LlmFault, frozen=True):
    """Answer a call with a refusal, marked as one if the API has such a field."""

    summary: ClassVar = "Answer a call to a model with a refusal to help."

    kind: Literal["llm_refusal"] = "llm_refusal"
    text: Annotated[str, Field(min_length=1, max_length=10_000)] | None = Field(
        default=None, description="What the model says; left out, one of several usual sentences."
    )

    @override
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        text = self.text or rng.choice(_WORDS, call.step)
        asked, usage = call.llm_request, Usage(0, 0)
        answer = LlmAnswer(asked.model, text, finish="refusal", usage=usage, complete=True)
        return (as_reply(write_answer(asked, answer)),)

    @override
    def outcome(self) -> str:
        return "answered with a refusal"
