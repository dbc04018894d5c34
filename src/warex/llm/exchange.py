"""An exchange that is a call to a model, as a scenario and a fault see it."""

from dataclasses import dataclass
from typing import Final

from warex.exchange import Exchange, Request
from warex.llm.base import LlmAnswer, LlmRequest

_EXAMPLE: Final = LlmRequest(
    api="openai_chat", model="m", messages=[], tools=[], stream=False, body_digest=""
)


@dataclass(frozen=True, slots=True)
class LlmExchange(Exchange):
    """A call to a model, as it arrives."""

    llm_request: LlmRequest = _EXAMPLE
    step: int = 1
    """Which step of the agent it is, from 1; a repeated body stays in its step."""
    previous_answer: LlmAnswer | None = None
    """The last whole answer of the model to an earlier step of the task; None before there is
    one."""


def as_call(exchange: Exchange) -> LlmExchange:
    """Return the exchange as the call to a model that it is; any other as an example of one."""
    if isinstance(exchange, LlmExchange):
        return exchange
    url = "https://model.example/v1/chat/completions"
    return LlmExchange(exchange.id, Request("POST", url), exchange.response)
