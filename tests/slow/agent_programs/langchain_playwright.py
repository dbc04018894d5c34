"""LangChain's agent with its toolkit for Playwright. Argument: the task."""

import asyncio
import os
import sys

from langchain.agents import create_agent
from langchain_community.agent_toolkits import PlayWrightBrowserToolkit
from playwright.async_api import async_playwright


async def main() -> None:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=os.environ["BROWSER"], args=["--no-sandbox"]
        )
        tools = PlayWrightBrowserToolkit.from_browser(async_browser=browser).get_tools()
        agent = create_agent("openai:gpt-4o-mini", tools)
        ended = await agent.ainvoke({"messages": [{"role": "user", "content": sys.argv[1]}]})
        print(ended["messages"][-1].content)
        await browser.close()


asyncio.run(main())
