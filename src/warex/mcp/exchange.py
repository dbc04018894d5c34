"""An exchange with MCP messages, as scenarios and faults see it."""

from typing import Final, Literal

from warex.exchange import Exchange, Request, Server
from warex.mcp.messages import McpRequest

type Transport = Literal["streamable_http", "sse", "stdio"]
"""Answers come to the request itself or, before 2025-03-26, as events of another one; ``stdio`` has
no HTTP, and an answer is a line."""

STDIO: Final = "mcp+stdio"
"""The scheme of a server on standard input and output."""
_EXAMPLE: Final = McpRequest(1, 1, "tools/call", {"name": "tool", "arguments": {}})


class McpExchange(Exchange, frozen=True):
    """One or several messages to an MCP server."""

    server: Server = "mcp"
    mcp_requests: tuple[McpRequest, ...] = (_EXAMPLE,)
    """Its requests; empty if there are only notifications, or the client ends its session."""
    transport: Transport = "streamable_http"


def as_mcp(exchange: Exchange) -> McpExchange:
    """Return the exchange itself if it carries MCP, or else an example of a call."""
    if isinstance(exchange, McpExchange):
        return exchange
    url = "https://tools.example/mcp"
    return McpExchange(exchange.id, Request("POST", url), exchange.response)
