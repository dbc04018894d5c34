"""An exchange that carries calls to tools over MCP, as a scenario and a fault see it."""

from dataclasses import dataclass
from typing import Final, Literal

from warex.exchange import Exchange, Request
from warex.mcp.messages import McpRequest

type Transport = Literal["streamable_http", "sse"]
"""How answers come: to the request itself, or, before 2025-03-26, as events of another one."""

_EXAMPLE: Final = McpRequest(1, 1, "tools/call", {"name": "tool", "arguments": {}})


@dataclass(frozen=True, slots=True)
class McpExchange(Exchange):
    """A message to a server of tools, or several, as they arrive."""

    mcp_requests: tuple[McpRequest, ...] = (_EXAMPLE,)
    """What is asked; empty where a client only tells something, or ends its session."""
    transport: Transport = "streamable_http"


def as_mcp(exchange: Exchange) -> McpExchange:
    """Return the exchange as what it carries of MCP; any other as an example of a call."""
    if isinstance(exchange, McpExchange):
        return exchange
    url = "https://tools.example/mcp"
    return McpExchange(exchange.id, Request("POST", url), exchange.response)
