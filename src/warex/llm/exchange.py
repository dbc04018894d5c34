"""An exchange with an LLM call, as scenarios and faults see it."""

from typing import Final

from warex.exchange import Exchange, Request, Server
from warex.llm.base import LlmAnswer, LlmRequest

_EXAMPLE: Final = LlmRequest(
    api="openai_chat", model="m", messages=[], tools=[], stream=False, body_digest=""
)


class LlmExchange(Exchange, frozen=True):
    """A call to a model."""

    server: Server = "llm"
    llm_request: LlmRequest = _EXAMPLE
    step: int = 1
    """The agent's step, from 1; a repeated body stays in its step."""
    previous_answer: LlmAnswer | None = None
    """The model's last whole answer to an earlier step of the task, if any."""


def as_call(exchange: Exchange) -> LlmExchange:
    """Return an LLM exchange unchanged, any other as an example of one."""
    if isinstance(exchange, LlmExchange):
        return exchange
    url = "https://model.example/v1/chat/completions"
    return LlmExchange(exchange.id, Request("POST", url), exchange.response)
