"""The base class of faults of MCP servers."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, override

from pydantic import Field, JsonValue

from warex.effects import EditToolResponse, Effect, PushToolEvent, Reply
from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, HeldFault, Seconds, Target
from warex.mcp.changes import ReplaceAnswer, answers_to
from warex.mcp.exchange import McpExchange, as_mcp
from warex.seeds import KeyedRng

_JSON: Final = {"content-type": "application/json"}


class McpFault(HeldFault, frozen=True):
    """A fault of an MCP server; a rule with it matches only the agent's requests to one."""

    target: ClassVar[Target] = "mcp"

    delay: Seconds = Field(default=0.0, description="How long the answer is held, in seconds.")

    @property
    @override
    def needs_own_proxy(self) -> str:
        return "may insert messages into a server's event stream"

    @override
    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Return the effects on the requests of an exchange."""
        return self.on_request(as_mcp(exchange), rng), state

    @abstractmethod
    def on_request(self, exchange: McpExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        """Return the effects, including the delay."""

    def answer(self, exchange: McpExchange, answer: Mapping[str, JsonValue]) -> tuple[Effect, ...]:
        """Return the effects that answer all requests of an exchange, at the fault's stage."""
        if self.stage == "response":
            return (EditToolResponse(ReplaceAnswer(answer), self.delay),)
        messages = answers_to(exchange.mcp_requests, lambda asked: answer)
        return self.instead(exchange, messages)

    def instead(self, exchange: McpExchange, messages: Sequence[bytes]) -> tuple[Effect, ...]:
        """Return the effects that send messages in place of the server, by its transport."""
        if exchange.transport == "sse":
            accepted = Reply(202, {"content-type": "text/plain"}, b"Accepted")
            return (*(PushToolEvent(message, self.delay) for message in messages), accepted)
        body = messages[0] if len(messages) == 1 else b"[" + b",".join(messages) + b"]"
        return (*self.hold_effects, Reply(200, _JSON, body))
