"""A tool is slow."""

from typing import ClassVar, Literal, override

from pydantic import Field

from warex.effects import EditToolResponse, Effect
from warex.faults.base import Seconds
from warex.faults.mcp.base import McpFault
from warex.mcp.exchange import McpExchange
from warex.seeds import KeyedRng


class McpSlow(McpFault, frozen=True):
    """Delay the answer to a tool call.

    A client may cancel the call before the server receives it.
    """

    summary: ClassVar = "Delay the answer to a call of a tool over MCP."

    kind: Literal["mcp_slow"] = "mcp_slow"
    stage: Literal["request"] = "request"
    delay: Seconds = Field(default=10.0, description="How late the answer is, in seconds.")

    @override
    def on_request(self, exchange: McpExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        if exchange.transport == "sse":
            # This transport accepts the message at once, however long the tool takes.
            return (EditToolResponse(None, self.delay),)
        return self.hold_effects or (EditToolResponse(None),)

    @property
    @override
    def keeps_answer(self) -> bool:
        return True

    @override
    def outcome(self) -> str:
        return "let through"
