"""The agent of browser-use's documentation, run by browser-use's own Python.

Arguments: the model's vendor, the model, the browser, the task. It prints the history as JSON.
"""

import asyncio
import json
import os
import sys

from browser_use import Agent, BrowserProfile, ChatAnthropic, ChatGoogle

CHATS = {"anthropic": ChatAnthropic, "google": ChatGoogle}


async def main(vendor: str, model: str, browser: str, task: str) -> None:
    """Run browser-use on the task."""
    profile = BrowserProfile(
        headless=True, executable_path=browser, chromium_sandbox=os.geteuid() != 0
    )
    agent = Agent(task=task, llm=CHATS[vendor](model=model), browser_profile=profile)
    history = await agent.run(max_steps=8)
    answer = {
        "answer": history.final_result(),
        "actions": history.action_names(),
        "steps": history.number_of_steps(),
        "llm_calls": history.usage.entry_count,
        "output_tokens": history.usage.total_completion_tokens,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
