# mypy: ignore-errors
"""An MCP server with the official Python SDK: ``server.py TRANSPORT PORT LOG``.

The transport is ``http``, ``json``, ``stateless``, ``sse`` or ``stdio``. Each call of a tool
becomes a line of the log.
"""

import json
import sys
from typing import Any

try:
    from mcp.server.mcpserver import Context, Image
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import Context, Image
    from mcp.server.fastmcp import FastMCP as Server
from mcp.server.transport_security import TransportSecuritySettings

transport, port, log = sys.argv[1:]
open_to_all = TransportSecuritySettings(enable_dns_rebinding_protection=False)
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6364f8cf"
    "500f0003860180"
    "5a347d6a0000000049454e44ae426082"
)


def note(tool: str, arguments: dict[str, Any], result: Any) -> Any:
    with open(log, "a") as file:
        file.write(json.dumps({"tool": tool, "arguments": arguments, "result": result}) + "\n")
    return result


def shout(text: str) -> str:
    """Say a text loudly."""
    return note("shout", {"text": text}, text.upper())


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return note("add", {"a": a, "b": b}, a + b)


def fail(reason: str) -> str:
    """Fail."""
    note("fail", {"reason": reason}, None)
    raise ValueError(reason)


def picture() -> Image:
    """Return a picture."""
    note("picture", {}, None)
    return Image(data=PIXEL, format="png")


async def work(steps: int, ctx: Context) -> str:
    """Report each step."""
    for step in range(steps):
        await ctx.report_progress(step, steps)
    return note("work", {"steps": steps}, f"{steps} done")


def run() -> None:
    kind = "sse" if transport == "sse" else "streamable-http"
    options = {"json_response": transport == "json", "stateless_http": transport == "stateless"}
    name = "tools of Python"
    if Server.__name__ == "FastMCP":
        server = Server(name, port=int(port), transport_security=open_to_all, **options)
        fields: dict[str, Any] = {}
    else:
        server = Server(name)
        fields = {"port": int(port), "transport_security": open_to_all}
        fields |= {} if transport == "sse" else options
    for tool in (shout, add, fail, picture, work):
        server.tool()(tool)
    if transport == "stdio":
        server.run("stdio")
        return
    server.run(kind, **fields)


run()
