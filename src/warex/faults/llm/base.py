"""The base class of faults of a model's API."""

from abc import abstractmethod
from typing import ClassVar, override

from pydantic import Field

from warex.effects import Effect, Reply
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, HeldFault, Seconds, Target
from warex.llm.base import SerializedAnswer
from warex.llm.exchange import LlmExchange, as_call
from warex.seeds import KeyedRng


class LlmFault(HeldFault, frozen=True):
    """A fault of a model's API; a rule with it matches only the agent's calls to its model.

    Answers are in the format of the API that was called.
    """

    target: ClassVar[Target] = "llm"

    delay: Seconds = Field(default=0.0, description="How long the call is held, in seconds.")

    @override
    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Return the delay, if there is one, and the effects on the call."""
        return (*self.held, *self.on_call(as_call(exchange), rng)), state

    @abstractmethod
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        """Return the effects on this call after the delay."""


def as_reply(written: SerializedAnswer) -> Reply:
    """Return a serialized answer as a reply."""
    return Reply(written.status, written.headers, written.body)
