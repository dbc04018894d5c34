"""Runs browser-use on one task, as its documentation shows; run by browser-use's own Python.

Its one argument is a JSON file: the task, the first page, the chat model, the browser, and other
arguments of ``Agent``. It writes browser-use's history of the run to ``result``.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from browser_use import Agent, BrowserProfile
from browser_use.llm import ChatAnthropic, ChatGoogle, ChatOpenAI

OUT_OF_STEPS = "Failed to complete task in maximum steps"


def _chat(api: str, model: str, base_url: str | None) -> Any:
    """Return browser-use's own chat model for an API."""
    if api == "google":
        options = None if base_url is None else {"base_url": base_url}
        return ChatGoogle(model=model, http_options=options)
    chat = {"openai": ChatOpenAI, "anthropic": ChatAnthropic}[api]
    return chat(model=model, base_url=base_url)


async def _work(config: dict[str, Any]) -> dict[str, Any]:
    profile = BrowserProfile(
        headless=True,
        executable_path=config["browser"],
        args=config["browser_arguments"],
        # Chromium's sandbox does not work for root.
        **({} if os.geteuid() else {"chromium_sandbox": False}),
    )
    agent = Agent(
        task=config["task"],
        llm=_chat(config["api"], config["model"], config["base_url"]),
        browser_profile=profile,
        initial_actions=[{"navigate": {"url": config["url"], "new_tab": False}}],
        **config["agent"],
    )
    history = await agent.run(max_steps=config["max_steps"])
    errors = [error for error in history.errors() if error]
    usage = history.usage
    return {
        "done": history.is_done(),
        "success": history.is_successful(),
        "judgement": history.judgement(),
        "answer": history.final_result() if history.is_done() else None,
        "out_of_steps": OUT_OF_STEPS in errors,
        "errors": errors,
        # The first page is loaded before the first step.
        "steps": sum(1 for one in history.history if one.metadata and one.metadata.step_number),
        "urls": [url for url in history.urls() if url],
        "actions": history.action_names(),
        "llm_calls": usage.entry_count if usage else 0,
        "input_tokens": usage.total_prompt_tokens if usage else 0,
        "output_tokens": usage.total_completion_tokens if usage else 0,
    }


if __name__ == "__main__":
    order = json.loads(Path(sys.argv[1]).read_bytes())
    result = asyncio.run(_work(order))
    Path(order["result"]).write_text(json.dumps(result, indent=1), encoding="utf-8")
