"""The base class of faults of a model's API."""

from abc import abstractmethod
from typing import Annotated, ClassVar, Final, Literal, Self, override

from pydantic import Field, model_validator

from warex.effects import Effect, Reply
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, HeldFault, Seconds, Target
from warex.llm.base import SerializedAnswer, StreamPoint
from warex.llm.exchange import LlmExchange, as_call
from warex.seeds import KeyedRng
from warex.text.english import count_noun

_AFTER_EVENTS: Final = 4
"""Events of a stream before a fault that names no place."""


class LlmFault(HeldFault, frozen=True):
    """A fault of a model's API; a rule with it matches only the agent's calls to its model.

    Answers are in the format of the API that was called.
    """

    target: ClassVar[Target] = "llm"

    delay: Seconds = Field(default=0.0, description="How long the call is held, in seconds.")

    @override
    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Return the delay, if there is one, and the effects on the call."""
        return (*self.hold_effects, *self.on_call(as_call(exchange), rng)), state

    @abstractmethod
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        """Return the effects on this call after the delay."""


class StreamFault(LlmFault, frozen=True):
    """A fault at a place within a model's streamed answer."""

    stage: Literal["response"] = "response"
    after_events: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = Field(
        default=None,
        description="After how many events: at least the first comes before it, and the last"
        " after. Left out, as `after_tokens`, it is 4.",
    )
    after_tokens: Annotated[int, Field(ge=1, le=1_000_000, strict=True)] | None = Field(
        default=None,
        description="After the event with which so many tokens have come, by estimate.",
    )

    @model_validator(mode="after")
    def _has_one_place(self) -> Self:
        if self.after_events is not None and self.after_tokens is not None:
            raise ValueError("after_events and after_tokens are two places; give one")
        return self

    @property
    def at(self) -> StreamPoint:
        """The place in the stream."""
        if self.after_tokens is not None:
            return StreamPoint(tokens=self.after_tokens)
        return StreamPoint(events=self.after_events or _AFTER_EVENTS)

    @property
    @override
    def needs_stream(self) -> bool:
        return True

    @property
    def place(self) -> str:
        """The place, in words."""
        if self.after_tokens is not None:
            return f"after {count_noun(self.after_tokens, 'token')}"
        return f"after {count_noun(self.after_events or _AFTER_EVENTS, 'event')}"


def as_reply(written: SerializedAnswer) -> Reply:
    """Return a serialized answer as a reply."""
    return Reply(written.status, written.headers, written.body)
