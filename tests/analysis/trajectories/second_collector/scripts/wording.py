"""Put an action into the words of a harness's format."""

import json
from typing import Any

from tests.analysis.trajectories.second_collector.cases import Say, Words, tool

_NAMES: dict[str, dict[str, str]] = {
    "mcp": {
        **{"goto": "mcp__playwright__browser_navigate", "click": "mcp__playwright__browser_click"},
        **{
            "fill": "mcp__playwright__browser_type",
            "back": "mcp__playwright__browser_navigate_back",
        },
        **{"wait": "mcp__playwright__browser_wait_for", "js": "mcp__playwright__browser_evaluate"},
        **{
            "press": "mcp__playwright__browser_press_key",
            "new_tab": "mcp__playwright__browser_tabs",
        },
    },
    "openai": {
        **{"goto": "open_url", "click": "press_element", "fill": "type_text", "back": "go_back"},
        **{"reload": "refresh_page", "wait": "pause", "end": "finish", "js": "run_js"},
        **{"new_tab": "open_tab", "forward": "go_forward"},
    },
    "magentic": {
        **{"goto": "visit_url", "click": "click", "fill": "input_text", "back": "history_back"},
        **{"reload": "refresh_page", "wait": "sleep", "end": "stop_action"},
    },
    "react": {
        **{"goto": "open_page", "click": "click_element", "fill": "type_text", "back": "go_back"},
        **{"reload": "reload_page", "wait": "wait", "new_tab": "new_tab"},
    },
    "xml": {
        **{"goto": "browser_navigate", "click": "browser_click", "fill": "browser_type"},
        **{"reload": "browser_reload", "back": "browser_go_back", "wait": "browser_wait"},
        **{"new_tab": "browser_tab_new", "forward": "browser_forward"},
    },
    "json_text": {
        **{"goto": "browse_website", "click": "click_element", "fill": "input_text"},
        **{"reload": "reload", "back": "go_back", "wait": "wait", "end": "task_complete"},
    },
    "browsergym": {
        **{"goto": "goto", "click": "click", "fill": "fill", "back": "go_back"},
        **{"wait": "noop", "end": "send_msg_to_user", "give_up": "report_infeasible"},
        **{"new_tab": "new_tab", "forward": "go_forward", "press": "keyboard_press"},
    },
    "browser_use": {
        **{"goto": "go_to_url", "click": "click_element", "fill": "input_text", "back": "go_back"},
        **{"wait": "wait", "end": "done", "new_tab": "open_tab", "press": "send_keys"},
    },
    "webarena": {
        **{"goto": "goto", "click": "click", "fill": "type", "back": "go_back", "end": "stop"},
        **{"wait": "wait", "new_tab": "new_tab", "press": "press", "forward": "go_forward"},
    },
}
_ARGUMENTS = {
    "goto": ("url",),
    "new_tab": ("url",),
    "click": ("ref",),
    "fill": ("ref", "text"),
    "wait": ("time",),
    "press": ("key",),
    "js": ("function",),
    "end": ("message",),
    "give_up": ("message",),
}


def put(style: str, thought: str, do: str, *values: Any) -> Words:
    """Return an answer with one action; `end` and `give_up` end the task."""
    if do == "give_up" and "give_up" not in _NAMES.get(style, {}):
        do = "end"
        failed = True
    else:
        failed = do == "give_up"
    names = _NAMES.get(style, {})
    name = names.get(do, do)
    fields = dict(zip(_ARGUMENTS.get(do, ()), values, strict=False))
    text = str(values[0]) if values else ""
    match style:
        case "mcp":
            return Say(text) if do == "end" else tool(name, thought, **fields)
        case "openai":
            if do == "end":
                fields = {"status": "failure" if failed else "success", "message": text}
            return tool(name, thought, **fields)
        case "magentic":
            if do == "end":
                fields = {"answer": text}
            return tool(name, thought, **fields)
        case "react":
            if do == "end":
                return f"Thought: {thought}\nFinal Answer: {text}"
            shown = " | ".join(str(v) for v in values) or "None"
            return f"Thought: {thought}\nAction: {name}\nAction Input: {shown}"
        case "xml":
            if do == "end":
                return _completed(thought, text)
            inner = "".join(f'<parameter name="{k}">{v}</parameter>\n' for k, v in fields.items())
            called = f'<invoke name="{name}">\n{inner}</invoke>'
            return f"{thought}\n<function_calls>\n{called}\n</function_calls>"
        case "cline":
            return _cline(thought, do, text, values)
        case "json_text":
            body = {"thoughts": {"text": thought}, "command": {"name": name, "args": fields}}
            return f"```json\n{json.dumps(body, ensure_ascii=False, indent=1)}\n```"
        case "browsergym":
            shown = ", ".join(repr(v) for v in values)
            if do == "reload":
                name, shown = "keyboard_press", "'F5'"
            return f"<think>\n{thought}\n</think>\n<action>\n{name}({shown})\n</action>"
        case "browser_use":
            return json.dumps(
                {
                    "current_state": {"evaluation_previous_goal": thought, "memory": ""}
                    | {"next_goal": ""},
                    "action": [_browser_use(name, do, fields, text, failed)],
                },
                ensure_ascii=False,
            )
        case "webarena":
            shown = " ".join(f"[{v}]" for v in values)
            if do == "reload":
                name, shown = "press", "[F5]"
            message = f"{thought} In summary, the next action I will perform is"
            return f"{message} ```{name} {shown}```"
    return _seeact(thought, do, text, values)


def _completed(thought: str, text: str) -> str:
    result = f"<result>{text}</result>"
    return f"{thought}\n<attempt_completion>\n{result}\n</attempt_completion>"


def _browser_use(name: str, do: str, fields: dict[str, Any], text: str, failed: bool) -> Any:
    if do == "end":
        return {"done": {"text": text, "success": not failed}}
    if do == "reload":
        return {"refresh": {}}
    if do == "wait":
        return {"wait": {"seconds": fields["time"]}}
    return {name: fields}


def _cline(thought: str, do: str, text: str, values: tuple[Any, ...]) -> str:
    if do == "end":
        return _completed(thought, text)
    names = {"goto": "launch", "fill": "type"}
    parts = {"goto": ("url",), "click": ("ref",), "fill": ("ref", "text"), "wait": ("time",)}
    pairs = zip(parts.get(do, ()), values, strict=False)
    inner = "".join(f"<{k}>{v}</{k}>\n" for k, v in pairs)
    action = f"<action>{names.get(do, do)}</action>"
    return f"{thought}\n<browser_action>\n{action}\n{inner}</browser_action>"


def _seeact(thought: str, do: str, text: str, values: tuple[Any, ...]) -> str:
    element, value = "None", "None"
    match do:
        case "click":
            element = text
        case "fill":
            element, value = text, str(values[1])
        case "goto" | "end":
            value = text
    action = {"goto": "GOTO", "end": "TERMINATE", "back": "GO BACK", "fill": "TYPE"}
    kind = action.get(do, do.upper())
    return f"{thought}\nELEMENT: {element}\nACTION: {kind}\nVALUE: {value}"
