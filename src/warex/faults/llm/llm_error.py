"""The model's API answers with an error."""

from typing import Annotated, ClassVar, Literal, override

from pydantic import Field

from warex.effects import Effect
from warex.faults.llm.base import LlmFault, as_reply
from warex.llm import refuse
from warex.llm.base import ApiErrorKind
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng


class LlmError(LlmFault, frozen=True):
    """Answer a call with the API's own error: status, headers, body.

    SDKs retry most of them by themselves; ``wait`` is the announced delay.
    """

    summary: ClassVar = "Answer a call to a model with its API's own error."

    kind: Literal["llm_error"] = "llm_error"
    error: ApiErrorKind = Field(default="rate_limited", description="What the call is refused for.")
    wait: Annotated[int, Field(ge=0, le=3600, strict=True)] = Field(
        default=5,
        description="Seconds that a client is told to wait, where the error is `rate_limited`.",
    )

    @override
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        return (as_reply(refuse(call.llm_request, self.error, self.wait)),)

    @override
    def outcome(self) -> str:
        retry = f", to be tried again in {self.wait} s" if self.error == "rate_limited" else ""
        return f"answered with its API's error {self.error.replace('_', ' ')!r}{retry}"
