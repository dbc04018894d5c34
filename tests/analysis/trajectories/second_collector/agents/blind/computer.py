"""Computer use in the forms of Gemini (function calls) and UI-TARS (text)."""

import json
import re
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Page

from tests.analysis.trajectories.second_collector.agents.computer import Screen, desktop, goto
from tests.analysis.trajectories.second_collector.agents.model import (
    Call,
    Conversation,
    ModelFailed,
    Reply,
)

_TOOLS = [
    *("open_web_browser", "navigate", "click_at", "type_text_at", "key_combination", "go_back"),
    *("go_forward", "wait_5_seconds", "scroll_document"),
]


def _gemini(page: Page, screen: Screen, call: Call) -> None:
    inputs: dict[str, Any] = call.arguments or {}
    match call.name:
        case "navigate":
            goto(page, inputs["url"])
        case "go_back" | "go_forward":
            try:
                (page.go_back if call.name == "go_back" else page.go_forward)(timeout=9000)
            except Error as error:
                print(error)
        case "click_at":
            screen.act({"action": "left_click", "coordinate": [inputs["x"], inputs["y"]]})
        case "type_text_at":
            screen.act({"action": "left_click", "coordinate": [inputs["x"], inputs["y"]]})
            end = "\n" if inputs.get("press_enter", True) else ""
            screen.act({"action": "type", "text": f"{inputs['text']}{end}"})
        case "key_combination":
            keys = inputs["keys"].replace("control", "ctrl").replace("left", "Left")
            screen.act({"action": "key", "text": keys})
        case "wait_5_seconds":
            screen.act({"action": "wait", "duration": 3})


def _tars(screen: Screen, text: str) -> str | None:
    """Execute a UI-TARS action; return the text of `finished`."""
    match = re.search(r"Action:\s*(\w+)\((.*)\)", text, re.DOTALL)
    if not match:
        return text
    matches: dict[str, str] = dict(re.findall(r"(\w+)='((?:[^'\\]|\\.)*)'", match[2]))
    match match[1]:
        case "click" | "left_double":
            place = [int(n) for n in re.findall(r"\d+", matches["start_box"])]
            screen.act({"action": "left_click", "coordinate": place})
        case "hotkey":
            keys = matches["key"].replace("f5", "F5").replace("left", "Left").replace(" ", "+")
            screen.act({"action": "key", "text": keys})
        case "type":
            screen.act({"action": "type", "text": matches["content"].replace("\\n", "\n")})
        case "wait":
            screen.act({"action": "wait", "duration": 2})
        case "finished" | "call_user":
            return matches.get("content", text)
    return None


def main(config: dict[str, Any]) -> int:
    gemini = config["format"] == "gemini"
    talk = Conversation("chat", "You use a computer.", _TOOLS if gemini else [])
    with desktop(config) as (page, screen):
        talk.screen = screen.look()[0]
        talk.show(f"Task: {config['task']}")
        for _ in range(config.get("turns", 14)):
            try:
                reply: Reply = talk.ask()
            except ModelFailed as failed:
                print(f"the model failed: {failed}")
                break
            if not reply.calls:
                end = reply.text if gemini else _tars(screen, reply.text)
                if end is not None:
                    print(end)
                    break
                talk.screen = screen.look()[0]
                talk.show("The screenshot after the action.")
            for call in reply.calls:
                _gemini(page, screen, call)
                talk.screen = screen.look()[0]
                talk.result(call, json.dumps({"url": page.url}))
    return 0


if __name__ == "__main__":
    sys.exit(main(json.loads(Path(sys.argv[1]).read_text("utf-8"))))
