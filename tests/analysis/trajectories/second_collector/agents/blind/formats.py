"""How further harnesses read their model's answers, as plain actions (see `formats`)."""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from tests.analysis.trajectories.second_collector.agents.formats import Action, browsergym
from tests.analysis.trajectories.second_collector.agents.model import Call, Reply

_LOOK: Action = {"do": "wait", "seconds": 0.1}


def _end(text: Any) -> Action:
    return {"do": "end", "text": str(text)}


def _broken(why: str) -> Action:
    return {"do": "broken", "why": why}


def named(reply: Reply) -> list[Action]:
    """Read tool calls of Agent-E, OpenHands, Stagehand and Chrome DevTools' MCP server."""
    if not reply.calls:
        return [_end(reply.text.replace("##TERMINATE TASK##", "").strip())]
    return [action for call in reply.calls for action in _called(call)]


def _called(call: Call) -> list[Action]:
    arguments = call.arguments
    if not isinstance(arguments, dict):
        return [_broken(f"the arguments of {call.name} are not JSON")]
    target = str(arguments.get("selector") or arguments.get("uid") or "")
    match call.name.rsplit("__", 1)[-1]:
        case "openurl" | "goto":
            return [{"do": "goto", "url": arguments["url"]}]
        case "navigate_page":
            kind = arguments.get("type", "url")
            return [{"do": "goto" if kind == "url" else kind, "url": arguments.get("url")}]
        case "new_page":
            return [{"do": "new_tab", "url": arguments["url"]}]
        case "click":
            return [{"do": "click", "target": target}]
        case "fill":
            return [{"do": "fill", "target": target, "text": arguments["value"]}]
        case "entertext":
            entry = arguments["entry"]
            return [{"do": "fill", "target": entry["query_selector"], "text": entry["text"]}]
        case "act":
            return [_act(arguments["action"])]
        case "press_key" | "press_key_combination":
            return [{"do": "press", "key": arguments.get("key") or arguments["key_combination"]}]
        case "evaluate_script":
            return [{"do": "js", "code": arguments["function"]}]
        case "navback":
            return [{"do": "back"}]
        case "wait":
            return [{"do": "wait", "seconds": arguments["timeMs"] / 1000}]
        case "wait_for":
            return [{"do": "wait", "seconds": 1.5}]
        case "browser":
            return browsergym(Reply(arguments["code"]))
        case "finish":
            return [_end(arguments["message"])]
        case "close":
            return [_end(arguments["reasoning"])]
        case "get_dom_with_content_type" | "take_snapshot" | "extract" | "think":
            return [_LOOK]
    return [_broken(f"Unknown tool {call.name}")]


def _act(words: str) -> Action:
    """Read an instruction, such as: type "a" into "b", or: click "c"."""
    quoted = re.findall(r'"([^"]+)"', words)
    if words.startswith("type"):
        return {"do": "fill", "target": f'[placeholder="{quoted[1]}"]', "text": quoted[0]}
    return {"do": "click", "target": f'text="{quoted[0]}"'}


def webvoyager(reply: Reply) -> list[Action]:
    """Read `Action: Click [3]` and the like."""
    match = re.search(r"Action:\s*(\w+)\s*;?\s*(?:\[([^\]]*)\])?;?\s*(.*)", reply.text, re.DOTALL)
    if not match:
        return [_broken("Format ERROR: Both 'Thought' and 'Action' should be included")]
    target, text = match[2] or "", match[3].strip()
    match match[1]:
        case "Click":
            return [{"do": "click", "target": target}]
        case "Type":
            fill = {"do": "fill", "target": target, "text": text}
            return [fill, {"do": "press", "key": "Enter"}]
        case "GoBack":
            return [{"do": "back"}]
        case "Wait":
            return [{"do": "wait", "seconds": 3}]
        case "Scroll":
            return [{"do": "scroll"}]
        case "Goto":
            return [{"do": "goto", "url": target}]
        case "ANSWER":
            return [_end(text or target)]
    return [_broken("no such action")]


def skyvern(reply: Reply) -> list[Action]:
    """Read Skyvern's JSON with `actions`."""
    match = re.search(r"\{.*\}", reply.text, re.DOTALL)
    try:
        document = json.loads(match[0] if match else "")
    except ValueError:
        return [_broken("the response is not JSON")]
    actions: list[Action] = []
    for one in document["actions"]:
        match one["action_type"]:
            case "CLICK":
                actions.append({"do": "click", "target": one["id"]})
            case "INPUT_TEXT":
                actions.append({"do": "fill", "target": one["id"], "text": one["text"]})
            case "GOTO_URL":
                actions.append({"do": "goto", "url": one["url"]})
            case "RELOAD_PAGE":
                actions.append({"do": "reload"})
            case "WAIT":
                actions.append({"do": "wait", "seconds": 2})
            case "COMPLETE" | "TERMINATE":
                actions.append(_end(one["reasoning"]))
            case _:
                actions.append(_LOOK)
    return actions


def taxy(reply: Reply) -> list[Action]:
    """Read `<Thought>…</Thought><Action>click(12)</Action>`; `finish()` and `fail()` end."""
    thought = re.search(r"<Thought>(.*?)</Thought>", reply.text, re.DOTALL)
    match = re.search(r"<Action>(\w+)\((.*)\)</Action>", reply.text, re.DOTALL)
    if not match:
        return [_broken("Invalid response: Action not found")]
    values = re.findall(r'"([^"]*)"|([\w-]+)', match[2])
    texts = [a or b for a, b in values]
    match match[1]:
        case "click":
            return [{"do": "click", "target": texts[0]}]
        case "setValue":
            return [{"do": "fill", "target": texts[0], "text": texts[1]}]
        case "navigate":
            return [{"do": "goto", "url": texts[0]}]
        case "wait":
            return [{"do": "wait", "seconds": 2}]
        case "finish" | "fail":
            return [_end(thought[1] if thought else match[1])]
    return [_broken("Invalid action")]


FURTHER: dict[str, Callable[[Reply], Iterable[Action]]] = {
    "named": named,
    "webvoyager": webvoyager,
    "skyvern": skyvern,
    "taxy": taxy,
}
