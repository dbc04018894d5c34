"""MCP exchanges, for the faults of MCP servers."""

from warex.exchange import Request
from warex.mcp import McpRequest
from warex.mcp.exchange import McpExchange, Transport

CALL = McpRequest(7, 7, "tools/call", {"name": "look"})
LIST = McpRequest(8, 8, "tools/list")


def over(transport: Transport, *asked: McpRequest) -> McpExchange:
    """Return an exchange with these requests."""
    request = Request("POST", "https://tools.test/mcp")
    return McpExchange("x1", request, mcp_requests=asked or (CALL,), transport=transport)
