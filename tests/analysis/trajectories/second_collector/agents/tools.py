"""An agent that drives Playwright by single actions, in a format of `formats`.

Options: `format`, `api`, `tools`, `start` (a page opened before the first model call),
`reloads_by_itself` (Chromium reloads its error pages), `lingers` (seconds after the end),
`harness_retries` (the harness repeats a failed navigation itself), `turns`.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.analysis.trajectories.second_collector.agents.browser import Browser
from tests.analysis.trajectories.second_collector.agents.formats import FORMATS, Action
from tests.analysis.trajectories.second_collector.agents.model import Conversation, ModelFailed


def main(config: dict[str, Any]) -> int:
    api = config.get("api", "chat")
    talk = Conversation(api, config.get("system", "You are a web agent."), config.get("tools", []))
    read = FORMATS[config["format"]]
    with sync_playwright() as playwright:
        browser = Browser(playwright, reloads_by_itself=config.get("reloads_by_itself", False))
        error = ""
        if "start" in config:
            error = browser.do({"do": "goto", "url": config["start"]})
        talk.show(f"Task: {config['task']}\n{error}\n{browser.text()}")
        failures = 0
        for _ in range(config.get("turns", 12)):
            try:
                reply = talk.ask()
            except ModelFailed as failed:
                failures += 1
                if failures > config.get("forgives", 2):
                    print(f"the model failed: {failed}")
                    return 1
                time.sleep(1)
                continue
            actions = list(read(reply))
            shown = _act(browser, actions, config)
            if shown is None:
                break
            if reply.calls:
                for number, call in enumerate(reply.calls):
                    talk.result(call, shown if number == len(reply.calls) - 1 else "ok")
            else:
                talk.show(shown)
        time.sleep(config.get("lingers", 0))
        browser.close()
    return 0


def _act(browser: Browser, actions: list[Action], config: dict[str, Any]) -> str | None:
    """Execute the actions; return what the model is shown, None at the end."""
    error = ""
    for action in actions:
        if action["do"] == "end":
            print(action["text"])
            return None
        if action["do"] == "broken":
            return f"Error: {action['why']}"
        error = browser.do(action)
        if action["do"] in ("goto", "new_tab") and config.get("harness_retries") and error:
            time.sleep(0.5)
            error = browser.do(action | {"do": "goto"})
        if error.startswith("Error"):
            break
    return f"{error}\n{browser.text()}".strip()


if __name__ == "__main__":
    sys.exit(main(json.loads(Path(sys.argv[1]).read_text("utf-8"))))
