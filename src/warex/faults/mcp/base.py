"""What the faults of servers of tools (MCP) have in common."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, override

from pydantic import Field, JsonValue

from warex.effects import Amend, Delay, Effect, Reply, Say
from warex.exchange import Exchange
from warex.faults.base import Fault, Memory, Seconds
from warex.faults.words import what_happens
from warex.mcp.changes import Replaced, answers_to
from warex.mcp.exchange import McpExchange, as_mcp
from warex.seeds import Luck

_JSON: Final = {"content-type": "application/json"}


class McpFault(Fault, frozen=True):
    """A fault of a server of tools: a rule with it is about the agent's requests to one alone."""

    sizes: ClassVar[tuple[str, ...]] = ("delay",)

    delay: Seconds = Field(default=0.0, description="How long the answer is held, in seconds.")

    def is_about(self, method: str, tool: str) -> bool:
        """Whether it is about a request, where the rule's match names no method."""
        return method == "tools/call"

    @override
    def effects(
        self, exchange: Exchange, memory: Memory, luck: Luck
    ) -> tuple[tuple[Effect, ...], Memory]:
        """Return what is done to what an exchange asks."""
        return self.on_request(as_mcp(exchange), luck), memory

    @abstractmethod
    def on_request(self, exchange: McpExchange, luck: Luck) -> tuple[Effect, ...]:
        """Return what the proxy should do, the wait included."""

    def answer(self, exchange: McpExchange, answer: Mapping[str, JsonValue]) -> tuple[Effect, ...]:
        """Return what gives all requests of an exchange an answer, at the fault's stage."""
        if self.stage == "response":
            return (Amend(Replaced(answer), self.delay),)
        messages = answers_to(exchange.asked, lambda asked: answer)
        return instead(exchange, messages, self.delay)

    @property
    @abstractmethod
    def ending(self) -> str:
        """How ``explain`` ends: ``answered with …``."""

    @override
    def explain(self) -> str:
        """Return what the client meets, in words."""
        return what_happens(self.stage, self.delay, self.ending, by="the server")


def instead(exchange: McpExchange, messages: Sequence[bytes], delay: float) -> tuple[Effect, ...]:
    """Return what gives messages in the server's place, the way that its transport gives them."""
    if exchange.transport == "sse":
        accepted = Reply(202, {"content-type": "text/plain"}, b"Accepted")
        return (*(Say(message, delay) for message in messages), accepted)
    body = messages[0] if len(messages) == 1 else b"[" + b",".join(messages) + b"]"
    return (*held(delay), Reply(200, _JSON, body))


def held(delay: float) -> tuple[Effect, ...]:
    """Return what holds an exchange, if there is a wait."""
    return (Delay(delay),) if delay else ()
