# mypy: ignore-errors
"""An MCP client with the official Python SDK: ``client.py TRANSPORT URL``.

For ``stdio`` the server's command stands in the URL's place, as JSON.

Standard input has the calls as JSON: a list of tools with their arguments; ``null`` as a tool
requests the list of tools. Standard output gets their results as JSON.
"""

import asyncio
import json
import sys
import time
from contextlib import AsyncExitStack
from typing import Any

import mcp
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client

try:
    from mcp.client.streamable_http import streamable_http_client
except ImportError:
    from mcp.client.streamable_http import streamablehttp_client as streamable_http_client

transport, url = sys.argv[1:]
TIMEOUT = 6
MODERN = hasattr(mcp, "Client")


def _result(result: Any) -> dict[str, Any]:
    content = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    blocks = [block.get("text", block.get("data", "")) for block in content["content"]]
    return {"failed": content.get("isError", False), "said": blocks}


async def session(stack: AsyncExitStack) -> Any:
    if transport == "modern":
        return await stack.enter_async_context(mcp.Client(url))
    if transport == "stdio":
        command, *arguments = json.loads(url)
        opened = stdio_client(StdioServerParameters(command=command, args=arguments))
    else:
        opened = sse_client(url) if transport == "sse" else streamable_http_client(url)
    if MODERN:
        return await stack.enter_async_context(mcp.Client(opened, mode="legacy"))
    read, write, *_ = await stack.enter_async_context(opened)
    made = await stack.enter_async_context(mcp.ClientSession(read, write))
    await made.initialize()
    return made


async def call(client: Any, tool: str | None, arguments: Any) -> dict[str, Any]:
    began = time.monotonic()
    try:
        async with asyncio.timeout(TIMEOUT):
            if tool is None:
                result = {"tools": sorted(it.name for it in (await client.list_tools()).tools)}
            else:
                result = _result(await client.call_tool(tool, arguments))
    except TimeoutError:
        result = {"waits": True}
    except Exception as error:  # noqa: BLE001 - whatever the SDK raises
        inner = getattr(error, "error", None)
        result = {"error": getattr(inner, "code", None), "words": str(error)}
    return {**result, "seconds": round(time.monotonic() - began, 2)}


results: list[dict[str, Any]] = []


async def run() -> None:
    async with AsyncExitStack() as stack:
        client = await session(stack)
        for tool, arguments in json.load(sys.stdin):
            results.append(await call(client, tool, arguments))


try:
    asyncio.run(run())
except BaseExceptionGroup as group:
    print(group, file=sys.stderr)
print(json.dumps(results))
