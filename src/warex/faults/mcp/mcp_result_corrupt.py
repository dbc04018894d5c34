"""A tool's result is damaged."""

from typing import ClassVar, Literal, override

from pydantic import Field

from warex.effects import EditToolResponse, Effect
from warex.faults.mcp.base import McpFault
from warex.mcp.changes import Corruption, CorruptResult
from warex.mcp.exchange import McpExchange
from warex.seeds import KeyedRng


class McpResultCorrupt(McpFault, frozen=True):
    """Let the tool run, and damage its result."""

    summary: ClassVar = "Damage the result of a call of a tool over MCP."

    kind: Literal["mcp_result_corrupt"] = "mcp_result_corrupt"
    stage: Literal["response"] = "response"
    how: Corruption = Field(
        default="truncated",
        description="The second half of each text missing, every third letter lost, no content at"
        " all, or JSON that breaks off.",
    )

    @override
    def on_request(self, exchange: McpExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        return (EditToolResponse(CorruptResult(self.how), self.delay),)

    @override
    def outcome(self) -> str:
        what = {
            "truncated": "the first half of each text",
            "garbled": "texts in which every third letter is lost",
            "empty": "a result without content",
            "invalid_json": "JSON that breaks off",
        }
        return f"answered with {what[self.how]}"
