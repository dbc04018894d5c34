"""AutoGen's MultimodalWebSurfer, alone in a team. Argument: the task."""

import asyncio
import os
import sys

from autogen_agentchat.conditions import TextMentionTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.agents.web_surfer import MultimodalWebSurfer
from autogen_ext.models.openai import OpenAIChatCompletionClient
from playwright.async_api import async_playwright


async def main() -> None:
    client = OpenAIChatCompletionClient(model="gpt-4o-mini", api_key="sk-test")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=os.environ["BROWSER"], args=["--no-sandbox"]
        )
        surfer = MultimodalWebSurfer(
            "surfer",
            client,
            start_page="about:blank",
            playwright=playwright,
            context=await browser.new_context(),
        )
        team = RoundRobinGroupChat(
            [surfer], termination_condition=TextMentionTermination("euros"), max_turns=8
        )
        ended = await team.run(task=sys.argv[1])
        print(ended.messages[-1].content)
        await browser.close()
    await client.close()


asyncio.run(main())
