"""Classifies actions by their names, and finds actions without a vocabulary.

Agents use many names for the same actions: ``reload``, ``refresh_page``, ``browser_navigate``,
``page.goto(…)``, ``GoBack``. A benchmark's vocabulary takes precedence.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Literal

from pydantic import JsonValue

from warex.llm.actions.parser import Action, Vocabulary, actions_on_lines, parse_actions
from warex.llm.base import LlmAnswer, ToolCall
from warex.llm.body.lenient_json import as_dict

type ActionKind = Literal["reload", "goto", "back", "click", "type", "wait", "finish", "look"]

_NAMES: Mapping[ActionKind, str] = {
    "reload": "reload refresh retry",
    "goto": "goto navigate navigation visit open browse load google search",
    "back": "back goback navback forward goforward previous",
    "click": "click dblclick doubleclick tap press keypress keys key hotkey submit enter"
    " left_mouse_down left_mouse_up mouse_down mouse_up",
    "type": "fill type input select clear check uncheck upload insert set choose",
    "wait": "wait sleep noop pause",
    "finish": "done stop finish finished answer complete terminate exit infeasible"
    " send_msg_to_user",
    "look": "scroll hover screenshot snapshot extract focus read find evaluate switch close drag"
    " move zoom cursor cursor_position mouse_move nextchunk prevchunk",
}
_DOES = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_STRONGEST: tuple[ActionKind, ...] = (
    *("reload", "back", "wait", "finish", "goto", "type", "click", "look"),
)
"""The order of precedence for names with several parts: ``navigate_back``, ``wait_for_load``."""
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_WORD = re.compile(r"[A-Za-z_]\w{1,60}")
_RECEIVER = re.compile(r"(?m)^([ \t`>]*)(?:await[ \t]+)?(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_]\w*\()")
"""The text before the name in code: ``await page.``."""
_NEW_TAB = frozenset(("tab", "window"))
_BETWEEN_KEYS = re.compile(r"[+\s-]+")
_CONTROL = frozenset(
    ("ctrl", "control", "controlleft", "cmd", "command", "meta", "super", "controlormeta")
)
_SHIFT = frozenset(("shift", "shiftleft"))
_ALT = frozenset(("alt", "altleft", "option"))
_KEYS: Mapping[str, ActionKind] = {
    **dict.fromkeys(("f5", "refresh", "reload", "browserrefresh", "xf86reload"), "reload"),
    **dict.fromkeys(("browserback", "browserforward", "xf86back", "xf86forward"), "back"),
}
_WITH_CONTROL: Mapping[str, ActionKind] = {"r": "reload", "f5": "reload", "[": "back", "]": "back"}
_WITH_ALT: Mapping[str, ActionKind] = dict.fromkeys(
    ("left", "right", "arrowleft", "arrowright"), "back"
)
"""What a browser does for these keys, as Playwright, Selenium, xdotool and agents write them."""


def action_kind(name: str) -> ActionKind | None:
    """Return what an action with this name does, or None; ``look`` changes nothing at the site."""
    if name.lower() in _DOES:
        return _DOES[name.lower()]
    parts = [part.lower() for part in _PARTS.findall(name)]
    found = {_DOES[part] for part in parts if part in _DOES}
    if "go" in parts and not found:
        found = {"goto"}
    if "new" in parts and _NEW_TAB.intersection(parts):
        found.add("goto")
    return next((one for one in _STRONGEST if one in found), None)


def action_kind_with_arguments(name: str, arguments: JsonValue) -> ActionKind | None:
    """Return what an action does by its keys or button if these are known, else by its name."""
    by_name = action_kind(name)
    if by_name not in (None, "click"):
        return by_name
    if as_dict(arguments).get("button") in ("back", "forward"):
        return "back"
    return next(filter(None, map(_pressed, _keys(arguments))), by_name)


def _keys(arguments: JsonValue) -> Iterator[str]:
    """Yield each string among an action's arguments, and those of each list joined by ``+``."""
    values = list(arguments.values()) if isinstance(arguments, dict) else [arguments]
    for value in values:
        texts = [one for one in value if isinstance(one, str)] if isinstance(value, list) else value
        if isinstance(texts, str):
            yield texts
        elif isinstance(texts, list):
            yield "+".join(texts)
            yield from texts


def _pressed(keys: str) -> ActionKind | None:
    """Return what keys such as ``ctrl+r`` do, or None; Shift makes no difference."""
    bare = keys.lower().strip("<>{}'\" ").removeprefix("keys.")
    pressed = [re.sub(r"_[lr]$", "", key) for key in _BETWEEN_KEYS.split(bare)]
    held = set(pressed[:-1]) - _SHIFT
    if not held:
        return _KEYS.get(pressed[-1])
    if held <= _CONTROL:
        return _WITH_CONTROL.get(pressed[-1])
    return _WITH_ALT.get(pressed[-1]) if held <= _ALT else None


def guess_actions(
    text: str, tool_calls: Iterable[ToolCall], known: Collection[str] = ()
) -> tuple[Action, ...]:
    """Return the actions in a model's answer that ``action_kind`` can classify, in order.

    Names in ``known`` are skipped. Actions are found where ``parse_actions`` finds them, on any
    line, and as calls in code (``await page.goto("…")``). A bare name on a line is no action.
    """
    calls = tuple(tool_calls)
    plain = _RECEIVER.sub(r"\1", text)
    said = plain + "".join(f'\n"{call.name}" {call.arguments}' for call in calls)
    words = dict.fromkeys(_WORD.findall(said))
    names = tuple(name for name in words if name not in known and action_kind(name))
    answer = LlmAnswer(model="", text=plain, tool_calls=calls, complete=True)
    found = parse_actions(answer, Vocabulary(name="any", other=names))
    if not calls:
        lines = tuple(actions_on_lines(plain, frozenset(names)))
        found = lines if len(lines) > len(found) else found
    return tuple(action for action in found if action.arguments or _is_meant(action.name, said))


def _is_meant(name: str, said: str) -> bool:
    """Whether a name without arguments is called, quoted, or follows ``Action:``."""
    return bool(re.search(rf"\b{name}\(|\"{name}\"|(?i:action)[\W_]{{0,6}}{name}\b", said))
