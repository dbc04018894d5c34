"""A server no longer has a tool."""

from fnmatch import fnmatchcase
from typing import Annotated, ClassVar, Literal, override

from pydantic import Field

from warex.effects import EditToolResponse, Effect
from warex.faults.mcp.base import McpFault
from warex.mcp.changes import INVALID_PARAMS, RemoveTools, answers_to, error
from warex.mcp.exchange import McpExchange
from warex.seeds import KeyedRng


class McpToolMissing(McpFault, frozen=True):
    """Remove tools from the server's list, and answer their calls with an error."""

    summary: ClassVar = "Take tools out of an MCP server's list, and answer calls: unknown tool."

    kind: Literal["mcp_tool_missing"] = "mcp_tool_missing"
    stage: Literal["request"] = "request"
    tool: Annotated[str, Field(min_length=1, max_length=200)] = Field(
        default="*", description="A glob over the names of the tools that are missing."
    )

    @property
    @override
    def tools(self) -> str:
        return self.tool

    @override
    def asks_tools(self, method: str, tool: str) -> bool:
        called = method == "tools/call" and fnmatchcase(tool, self.tool)
        return method == "tools/list" or called

    @override
    def on_request(self, exchange: McpExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        if not any(asked.method == "tools/call" for asked in exchange.mcp_requests):
            return (EditToolResponse(RemoveTools(self.tool), self.delay),)
        messages = answers_to(
            exchange.mcp_requests,
            lambda asked: error(INVALID_PARAMS, f"Unknown tool: {asked.tool}"),
        )
        return self.instead(exchange, messages)

    @override
    def outcome(self) -> str:
        which = "every tool" if self.tool == "*" else f"each tool that fits {self.tool!r}"
        return f"answered as if {which} were not there: gone from the list, unknown when called"
