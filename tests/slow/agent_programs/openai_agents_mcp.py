"""OpenAI's agents with Playwright's MCP server, over its standard streams. Argument: the task."""

import asyncio
import os
import sys

from agents import Agent, Runner, set_tracing_disabled
from agents.mcp import MCPServerStdio, MCPServerStdioParams

OPTIONS = ("--headless", "--isolated", "--no-sandbox", "--executable-path", os.environ["BROWSER"])


async def main() -> None:
    set_tracing_disabled(True)
    command = MCPServerStdioParams(
        command="npx", args=["--no-install", "@playwright/mcp", *OPTIONS]
    )
    async with MCPServerStdio(params=command, client_session_timeout_seconds=60) as server:
        agent = Agent(
            name="Shopper", instructions="Use it.", mcp_servers=[server], model="gpt-4o-mini"
        )
        print((await Runner.run(agent, sys.argv[1])).final_output)


asyncio.run(main())
