"""How harnesses read their model's answers: each format returns plain actions."""

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from tests.analysis.trajectories.second_collector.agents.model import Reply

type Action = dict[str, Any]
"""`do` names it: goto, click, fill, press, reload, back, wait, js, new_tab, end, broken…"""


def _end(text: Any = "") -> Action:
    return {"do": "end", "text": str(text)}


def _broken(why: str) -> Action:
    return {"do": "broken", "why": why}


def _named(name: str, value: Any) -> Action:
    """Return the action of a function-like call; names as in common tool sets."""
    if value is None:
        return _broken(f"the arguments of {name} are not JSON")
    value = value if isinstance(value, dict) else {}
    values = [v for v in value.values() if v is not None]
    first = values[0] if values else ""
    last = values[-1] if values else ""
    target = value.get("ref") or value.get("selector") or value.get("id") or first
    short = name.rsplit("__", 1)[-1].removeprefix("browser_").lower()
    match short:
        case "navigate" | "goto" | "open_url" | "visit_url" | "go_to_url" | "open_page":
            return {"do": "goto", "url": str(value.get("url", first))}
        case "browse_website" | "open" | "load" | "visit_page" | "launch" | "go":
            return {"do": "goto", "url": str(value.get("url", first))}
        case "navigate_back" | "go_back" | "history_back" | "back":
            return {"do": "back"}
        case "navigate_forward" | "go_forward" | "forward":
            return {"do": "forward"}
        case "reload" | "refresh" | "refresh_page" | "reload_page" | "reload_tab":
            return {"do": "reload"}
        case "click" | "press_element" | "click_element" | "click_text" | "tap":
            return {"do": "click", "target": str(target)}
        case "type" | "fill" | "type_text" | "input_text" | "input":
            return {"do": "fill", "target": str(target), "text": str(value.get("text", last))}
        case "press_key" | "keyboard_press" | "press" | "send_keys":
            return {"do": "press", "key": str(value.get("key") or value.get("keys") or first)}
        case "wait_for" | "wait" | "sleep" | "noop" | "pause":
            seconds = float(value.get("time") or value.get("seconds") or first or 1)
            return {"do": "wait", "seconds": seconds if seconds < 60 else seconds / 1000}
        case "evaluate" | "run_js" | "execute_script":
            return {"do": "js", "code": str(first)}
        case "tab_new" | "new_tab" | "open_tab" | "tabs":
            return {"do": "new_tab", "url": str(value.get("url", first))}
        case "close_tab" | "tab_close":
            return {"do": "close_tab"}
        case "scroll":
            return {"do": "scroll"}
        case "finish" | "done" | "final_answer" | "stop_action" | "task_complete" | "answer":
            text = value.get("message") or value.get("text") or value.get("answer") or first
            return _end(text)
        case "send_msg_to_user" | "report_infeasible" | "stop" | "attempt_completion":
            return _end(first)
    return _broken(f"there is no tool {name}")


def tools(reply: Reply) -> list[Action]:
    """Read tool calls; an answer without any ends the task."""
    if not reply.calls:
        return [_end(reply.text)] if reply.text else [_broken("an empty answer")]
    return [_named(call.name, call.arguments) for call in reply.calls]


def react(reply: Reply) -> list[Action]:
    """Read `Action: name` and `Action Input: text` (LangChain's ReAct)."""
    final = re.search(r"Final Answer:\s*(.*)", reply.text, re.DOTALL)
    if final:
        return [_end(final[1])]
    match = re.search(r"Action:\s*(\w+)\s*\nAction Input:\s*(.*)", reply.text)
    if not match:
        return [_broken("Invalid Format: Missing 'Action:' after 'Thought:'")]
    text = match[2].strip().strip('"')
    if match[1] in ("fill", "type_text"):
        target, _, value = text.partition("|")
        return [_named(match[1], {"target": target.strip(), "text": value.strip()})]
    return [_named(match[1], {"input": text} if text and text != "None" else {})]


def xml(reply: Reply) -> list[Action]:
    """Read `<invoke name=…><parameter name=…>`, and Cline's `<browser_action>`."""
    results = []
    for name, inner in re.findall(r'<invoke name="(\w+)">(.*?)</invoke>', reply.text, re.DOTALL):
        matches = re.findall(r'<parameter name="(\w+)">(.*?)</parameter>', inner, re.DOTALL)
        results.append(_named(name, dict(matches)))
    for inner in re.findall(r"<browser_action>(.*?)</browser_action>", reply.text, re.DOTALL):
        parts = dict(re.findall(r"<(\w+)>(.*?)</\1>", inner, re.DOTALL))
        results.append(_named(parts.pop("action"), parts))
    end = re.search(r"<attempt_completion>\s*<result>(.*?)</result>", reply.text, re.DOTALL)
    return [*results, *([_end(end[1])] if end else [])] or [_broken("no tool was used")]


def json_text(reply: Reply) -> list[Action]:
    """Read a JSON object in the text: AutoGPT's `command`, or a plain `tool` with `args`."""
    match = re.search(r"\{.*\}", reply.text, re.DOTALL)
    try:
        document = json.loads(match[0] if match else "")
    except ValueError:
        return [_broken("the answer is not JSON")]
    command = document.get("command") or document
    name = command.get("name") or command.get("tool") or command.get("action")
    return [_named(str(name), command.get("args") or command.get("input") or {})]


def browsergym(reply: Reply) -> list[Action]:
    """Read function calls in a code block, as in BrowserGym."""
    results = []
    for name, inner in re.findall(r"^\s*(\w+)\((.*)\)\s*$", reply.text, re.MULTILINE):
        values = re.findall(r"""'((?:[^'\\]|\\.)*)'|"([^"]*)"|(-?\d+)""", inner)
        texts = ["".join(v).replace("\\'", "'") for v in values]
        if name == "keyboard_press" and texts[0] in ("F5", "Control+R"):
            results.append({"do": "reload"})
        else:
            results.append(_named(name, {f"a{n}": t for n, t in enumerate(texts)}))
    return results or [_broken("no action in the answer")]


def browser_use(reply: Reply) -> list[Action]:
    """Read browser-use's JSON: a list of `{name: arguments}`."""
    source = reply.calls[0].arguments if reply.calls else None
    if source is None:
        match = re.search(r"\{.*\}", reply.text, re.DOTALL)
        try:
            source = json.loads(match[0] if match else "")
        except ValueError:
            return [_broken("could not parse the output")]
    return [_named(n, g) for one in source.get("action", []) for n, g in one.items()]


def webarena(reply: Reply) -> list[Action]:
    """Read ```` ```goto [url]``` ````."""
    match = re.search(r"```\s*(\w+)\s*((?:\[.*?\]\s*)*)```", reply.text, re.DOTALL)
    if not match:
        return [_broken("no action between ```")]
    values = re.findall(r"\[(.*?)\]", match[2], re.DOTALL)
    if match[1] == "press" and values[0].lower() in ("f5", "ctrl+r"):
        return [{"do": "reload"}]
    return [_named(match[1], {f"a{n}": v for n, v in enumerate(values[:2])})]


def seeact(reply: Reply) -> list[Action]:
    """Read SeeAct's ELEMENT, ACTION and VALUE."""
    parts = dict(re.findall(r"^(ELEMENT|ACTION|VALUE):\s*(.*)$", reply.text, re.MULTILINE))
    element, value = parts.get("ELEMENT", ""), parts.get("VALUE", "")
    match parts.get("ACTION", "").strip().upper():
        case "CLICK":
            return [{"do": "click", "target": element}]
        case "TYPE":
            return [{"do": "fill", "target": element, "text": value}]
        case "GOTO":
            return [{"do": "goto", "url": value}]
        case "GO BACK":
            return [{"do": "back"}]
        case "RELOAD":
            return [{"do": "reload"}]
        case "NONE" | "WAIT":
            return [{"do": "wait", "seconds": 2}]
        case "TERMINATE":
            return [_end(value)]
    return [_broken("the answer names no action")]


FORMATS: dict[str, Callable[[Reply], Iterable[Action]]] = {
    "tools": tools,
    "react": react,
    "xml": xml,
    "json_text": json_text,
    "browsergym": browsergym,
    "browser_use": browser_use,
    "webarena": webarena,
    "seeact": seeact,
}
