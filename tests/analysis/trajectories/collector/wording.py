"""Actions in the formats of real harnesses, with text around them."""

import json
import random  # noqa: TID251  (Of the collection, not of a trial.)
from dataclasses import dataclass
from typing import Any

from tests.analysis.trajectories.collector.policy import Decision
from tests.analysis.trajectories.collector.tasks import Action

WORDINGS = {
    "own": "own",
    "browsergym": "agentlab",
    "webarena": "webarena",
    "browser-use": "browser-use",
    "browser-use-tools": "browser-use",
    "webvoyager": "webvoyager",
    "mcp": None,
    "free": None,
}
"""The benchmark whose vocabulary belongs to each wording; None without one."""

_OUTER = {"own": "own", "free": "own", "browsergym": "browsergym"}

_TROUBLE = (
    *(
        "The page did not load.",
        "I see an error instead of the page.",
        "Something went wrong here.",
    ),
    *("This site can't be reached.", "Server error. Let me see.", "That failed."),
    *("It seems that the request failed, maybe it is temporary.", "The page is broken."),
    *("I get an error message, not what I expected.", "The content is missing."),
    *("Hmm, the connection seems to be down.", "My last action had no effect."),
)
_PLAIN = (
    *("Let me continue.", "Next step.", "I will go on with the task.", "Now I do this."),
    *("Looking at the page.", "The next action is clear.", "Proceeding."),
)
_GAVE_UP = (
    *("The site is down, I cannot do this.", "I could not complete the task: the page fails."),
    *("The website returns errors.", "It is not possible at the moment."),
)

_UNKNOWN = {"reload": ("refresh", "retry", "reload_page"), "goto": ("open_page", "visit", "open")}


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in the API's format."""

    content: str
    tool_calls: list[tuple[str, dict[str, Any]]]


def say(decision: Decision, wording: str, talk: str, rng: random.Random) -> Answer:
    """Return a decision's actions in a wording."""
    thought = _thought(decision.mood, talk, rng)
    actions = [a for a in decision.actions if a["do"] != "pause"]
    for action in actions:
        if action["do"] == "infeasible":
            action["text"] = rng.choice(_GAVE_UP)
    match wording:
        case "webarena":
            calls = [_bracketed(a, rng) for a in actions]
            return Answer(f"{thought}\n" + "\n".join(f"```{c}```" for c in calls), [])
        case "webvoyager":
            lines = [f"Action: {_voyager(a, rng)}" for a in actions]
            return Answer(f"Thought: {thought}\n" + "\n".join(lines), [])
        case "browser-use" | "browser-use-tools":
            output = {
                "evaluation_previous_goal": thought,
                "memory": "",
                "next_goal": rng.choice(_PLAIN) if thought else "",
                "action": [_keyed(a, rng) for a in actions],
            }
            if wording == "browser-use":
                return Answer(json.dumps(output), [])
            return Answer("", [("AgentOutput", output)])
        case "mcp":
            return _mcp(thought, actions)
    calls = [_called(a, _OUTER[wording], rng) for a in actions]
    if rng.random() < 0.5:
        return Answer(f"{thought}\n```\n" + "\n".join(calls) + "\n```", [])
    return Answer(f"{thought}\n" + "\n".join(calls), [])


def _thought(mood: str, talk: str, rng: random.Random) -> str:
    if talk == "silent":
        return ""
    if mood == "trouble" and (talk == "frank" or rng.random() < 0.25):
        return rng.choice(_TROUBLE)
    return rng.choice(_PLAIN)


def _unknown(action: Action, rng: random.Random) -> str | None:
    return rng.choice(_UNKNOWN[str(action["do"])]) if action.get("unknown") else None


def _called(a: Action, dialect: str, rng: random.Random) -> str:
    unknown = _unknown(a, rng)
    milliseconds = int(float(str(a.get("seconds", 1))) * 1000)
    match a["do"]:
        case "goto":
            return f"{unknown or 'goto'}('{a['url']}')"
        case "reload":
            if dialect == "browsergym" and not unknown and rng.random() < 0.6:
                return "keyboard_press('F5')"
            return f"{unknown or 'reload'}()"
        case "key":
            return f"keyboard_press('{a['key']}')"
        case "new_tab":
            return f"new_tab('{a['url']}')" if dialect == "own" else f"goto('{a['url']}')"
        case "click":
            return f"click('{a['id']}')"
        case "fill":
            return f"fill('{a['id']}', '{a['text']}')"
        case "wait":
            return f"noop({milliseconds})"
        case "done":
            return f"send_msg_to_user('{a['text']}')"
        case "infeasible":
            return f"report_infeasible('{a['text']}')"
        case "scroll":
            return "scroll(0, 200)"
    return f"go_{a['do']}()"


def _bracketed(a: Action, rng: random.Random) -> str:
    unknown = _unknown(a, rng)
    match a["do"]:
        case "goto" | "new_tab":
            return f"{unknown or 'goto'} [{a['url']}]"
        case "reload":
            return unknown or rng.choice(["press [F5]", "reload", "press [ctrl+r]"])
        case "key":
            return f"press [{a['key']}]"
        case "click":
            return f"click [{a['id']}]"
        case "fill":
            return f"type [{a['id']}] [{a['text']}] [0]"
        case "wait":
            return "none"
        case "done" | "infeasible":
            return f"stop [{a['text']}]"
        case "scroll":
            return "scroll [down]"
    return f"go_{a['do']}"


def _voyager(a: Action, rng: random.Random) -> str:
    match a["do"]:
        case "goto" | "new_tab":
            return f"{_unknown(a, rng) or 'Goto'}; {a['url']}"
        case "reload" | "key":
            return rng.choice(["Refresh", "Reload", "Press; F5"])
        case "click":
            return f"Click [{a['id']}]"
        case "fill":
            return f"Type [{a['id']}]; [{a['text']}]"
        case "wait":
            return "Wait"
        case "done" | "infeasible":
            return f"ANSWER; [{a['text']}]"
        case "scroll":
            return "Scroll [WINDOW]; [down]"
    return "GoBack" if a["do"] == "back" else "GoForward"


def _keyed(a: Action, rng: random.Random) -> dict[str, Any]:
    unknown = _unknown(a, rng)
    match a["do"]:
        case "goto" | "new_tab":
            return {unknown or "navigate": {"url": a["url"], "new_tab": a["do"] == "new_tab"}}
        case "reload":
            return {unknown or "send_keys": {} if unknown else {"keys": "F5"}}
        case "key":
            return {"send_keys": {"keys": a["key"]}}
        case "click":
            return {"click": {"index": a["id"]}}
        case "fill":
            return {"input": {"index": a["id"], "text": a["text"], "clear": True}}
        case "wait":
            return {"wait": {"seconds": a["seconds"]}}
        case "done" | "infeasible":
            return {"done": {"text": a["text"], "success": a["do"] == "done"}}
        case "scroll":
            return {"scroll": {"down": True, "pages": 1}}
    return {f"go_{a['do']}": {}}


def _mcp(thought: str, actions: list[Action]) -> Answer:
    calls: list[tuple[str, dict[str, Any]]] = []
    text = thought
    for a in actions:
        match a["do"]:
            case "goto":
                calls.append(("browser_navigate", {"url": a["url"]}))
            case "new_tab":
                calls.append(("browser_tabs", {"action": "new", "url": a["url"]}))
            case "reload" | "key":
                calls.append(("browser_press_key", {"key": a.get("key", "F5")}))
            case "click":
                calls.append(("browser_click", {"element": a["id"], "ref": f"e-{a['id']}"}))
            case "fill":
                typed = {"ref": f"e-{a['id']}", "text": a["text"]}
                calls.append(("browser_type", typed))
            case "wait":
                calls.append(("browser_wait_for", {"time": a["seconds"]}))
            case "done" | "infeasible":
                text = f"{thought} {a['text']}".strip()
            case "scroll":
                calls.append(("browser_snapshot", {}))
            case _:
                calls.append((f"browser_navigate_{a['do']}", {}))
    return Answer(text, calls)
