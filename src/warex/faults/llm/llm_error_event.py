"""A model's stream ends in an error of its API."""

from typing import ClassVar, Literal, override

from pydantic import Field

from warex.effects import Effect, EndStreamInError
from warex.faults.llm.base import StreamFault
from warex.llm.base import StreamErrorKind
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng


class LlmErrorEvent(StreamFault, frozen=True):
    """Let a model's stream begin with status 200, then end in the API's own event of an error.

    SDKs repeat calls that fail by their status; this one has none, and tokens were paid.
    """

    summary: ClassVar = "End a model's stream, after its beginning, in its API's own error event."

    kind: Literal["llm_error_event"] = "llm_error_event"
    error: StreamErrorKind = Field(default="overloaded", description="What the error is.")

    @override
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        return (EndStreamInError(self.at, self.error),)

    @override
    def outcome(self) -> str:
        error = self.error.replace("_", " ")
        return f"let through {self.place}, where its API's error {error!r} ends it"
