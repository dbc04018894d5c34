"""Put an action into the words of a further harness; build scripts from such words."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.analysis.trajectories.second_collector.cases import (
    Rule,
    Say,
    Script,
    Step,
    Variant,
    Words,
    tool,
)
from tests.analysis.trajectories.second_collector.sites import Page, World

_BY_TOOLS: dict[str, dict[str, tuple[str, Callable[..., Mapping[str, Any]]]]] = {
    "agent_e": {
        "goto": ("openurl", lambda url: {"url": url, "timeout": 3}),
        "click": ("click", lambda e: {"selector": f"#{e}", "wait_before_execution": 0.0}),
        "fill": ("entertext", lambda e, t: {"entry": {"query_selector": f"#{e}", "text": t}}),
        "press": ("press_key_combination", lambda key: {"key_combination": key}),
        "look": ("get_dom_with_content_type", lambda: {"content_type": "text_only"}),
    },
    "stagehand": {
        "goto": ("goto", lambda url: {"reasoning": "", "url": url}),
        "click": ("act", lambda e: {"action": f'click the "{e}" button or link'}),
        "fill": ("act", lambda e, t: {"action": f'type "{t}" into the "{e}" field'}),
        "back": ("navback", lambda: {"reasoningText": "return"}),
        "wait": ("wait", lambda seconds: {"timeMs": 1000 * seconds}),
        "look": ("extract", lambda: {"instruction": "the main text"}),
    },
    "devtools": {
        "goto": ("navigate_page", lambda url: {"type": "url", "url": url}),
        "reload": ("navigate_page", lambda: {"type": "reload"}),
        "back": ("navigate_page", lambda: {"type": "back"}),
        "new_tab": ("new_page", lambda url: {"url": url}),
        "click": ("click", lambda e: {"uid": e}),
        "fill": ("fill", lambda e, t: {"uid": e, "value": t}),
        "js": ("evaluate_script", lambda code: {"function": code}),
        "wait": ("wait_for", lambda text: {"text": str(text), "timeout": 1500}),
        "press": ("press_key", lambda key: {"key": key}),
        "look": ("take_snapshot", dict),
    },
}
_PREFIX = {"devtools": "mcp__chrome-devtools__"}


def options(style: str, **more: Any) -> dict[str, Any]:
    """Return the options of `agents.blind.browser` for a style."""
    by_tools = _BY_TOOLS.get(style)
    if by_tools:
        names = [_PREFIX.get(style, "") + name for name, _ in by_tools.values()]
        names += ["close"] if style == "stagehand" else []
        return {"format": "named", "tools": [*dict.fromkeys(names)]} | more
    if style == "openhands":
        return {"format": "named", "tools": ["browser", "think", "finish"]} | more
    if style == "browser_use":
        return {"format": "browser_use", "tools": ["AgentOutput"]} | more
    return {"format": style} | more


def put(style: str, thought: str, do: str, *values: Any) -> Words:
    """Return an answer with one action; `end` and `fail` end the task."""
    failed = do == "fail"
    text = str(values[0]) if values else ""
    if style in _BY_TOOLS:
        if do in ("end", "fail"):
            if style == "stagehand":
                return tool("close", thought, reasoning=text, taskComplete=not failed)
            return Say(f"{text} ##TERMINATE TASK##" if style == "agent_e" else text)
        name, inputs = _BY_TOOLS[style][do]
        return tool(_PREFIX.get(style, "") + name, thought, **inputs(*values))
    match style:
        case "openhands":
            return _openhands(thought, do, values)
        case "browser_use":
            return _browser_use(thought, do, values)
        case "skyvern":
            return _skyvern(thought, do, values)
        case "webvoyager":
            target = f" [{text}]"
            action = {
                **{"click": "Click" + target, "back": "GoBack", "wait": "Wait"},
                **{"goto": "Goto" + target, "scroll": "Scroll [WINDOW]; down"},
                **{"end": f"ANSWER; {text}", "fail": f"ANSWER; {text}"},
            }
            if do == "fill":
                return f"Thought: {thought}\nAction: Type{target}; {values[1]}"
            return f"Thought: {thought}\nAction: {action[do]}"
        case "taxy":
            quoted = ", ".join(
                v if n == 0 and do != "goto" else f'"{v}"' for n, v in enumerate(values)
            )
            name = {"goto": "navigate", "fill": "setValue", "end": "finish"}.get(do, do)
            inner = "" if do in ("end", "fail") else quoted
            message = text if do in ("end", "fail") else thought
            return f"<Thought>{message}</Thought>\n<Action>{name}({inner})</Action>"
    raise ValueError(style)


def _openhands(thought: str, do: str, values: Sequence[Any]) -> Words:
    if do in ("end", "fail"):
        done = "false" if do == "fail" else "true"
        return tool("finish", thought, message=values[0], task_completed=done)
    names = {"back": "go_back", "wait": "noop", "reload": "goto"}
    shown = ", ".join(repr(v) for v in values)
    return tool("browser", thought, code=f"{names.get(do, do)}({shown})")


def _browser_use(thought: str, do: str, values: Sequence[Any]) -> Words:
    actions: dict[str, Any] = {
        "goto": lambda url: {"navigate": {"url": url, "new_tab": False}},
        "new_tab": lambda url: {"navigate": {"url": url, "new_tab": True}},
        "click": lambda e: {"click": {"index": e}},
        "fill": lambda e, t: {"input": {"index": e, "text": t, "clear": True}},
        "back": lambda: {"go_back": {}},
        "wait": lambda seconds: {"wait": {"seconds": seconds}},
        "scroll": lambda: {"scroll": {"down": True, "pages": 1.0}},
        "js": lambda code: {"evaluate": {"code": code}},
        "press": lambda keys: {"send_keys": {"keys": keys}},
        "end": lambda t: {"done": {"text": t, "success": True, "files_to_display": []}},
        "fail": lambda t: {"done": {"text": t, "success": False, "files_to_display": []}},
    }
    return tool(
        "AgentOutput",
        thinking=thought,
        evaluation_previous_goal=thought,
        memory="",
        next_goal="",
        action=[actions[do](*values)],
    )


def _skyvern(thought: str, do: str, values: Sequence[Any]) -> Words:
    kinds = {
        **{"goto": "GOTO_URL", "click": "CLICK", "fill": "INPUT_TEXT", "reload": "RELOAD_PAGE"},
        **{"wait": "WAIT", "end": "COMPLETE", "fail": "TERMINATE", "look": "NULL_ACTION"},
    }
    action: dict[str, Any] = {"reasoning": thought, "action_type": kinds[do], "id": None}
    match do:
        case "goto":
            action["url"] = values[0]
        case "click":
            action["id"] = values[0]
        case "fill":
            action |= {"id": values[0], "text": values[1]}
        case "end" | "fail":
            action["reasoning"] = values[0]
    body = {"user_goal_achieved": do == "end", "action_plan": thought, "actions": [action]}
    return json.dumps(body, ensure_ascii=False)


type Reaction = Sequence[Any] | str | Say
type Case = tuple[str, list[Rule], list[Reaction], Sequence[Any] | None]


def script(
    name: str,
    kinds: tuple[str, ...],
    style: str,
    hosts: Mapping[str, Page],
    task: str,
    steps: Sequence[tuple[str, Sequence[Any]]],
    give_up: Sequence[Any],
    solved: Callable[[World, str], bool],
    cases: Sequence[Case],
    **more: Any,
) -> Script:
    """Return the script of an agent of `agents.blind.browser`."""

    def reworded(words: Reaction) -> Words:
        return words if isinstance(words, (str, Say)) else put(style, *words)

    steps_: list[Step] = [(see, put(style, *words)) for see, words in steps]
    variants = [
        Variant(
            name_, rules, [reworded(r) for r in reactions], None if end is None else reworded(end)
        )
        for name_, rules, reactions, end in cases
    ]
    return Script(
        *(name, kinds, "blind.browser", options(style, **more), hosts, task),
        *(steps_, reworded(give_up), solved, variants),
    )
