"""Finds actions without a vocabulary: those whose names say what they do."""

import builtins
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from pydantic import JsonValue

from warex.extras import documentation
from warex.llm.actions.base import Action, Code, CodeCall, finds_element
from warex.llm.actions.code_blocks import (
    code_in_text,
    code_in_tool_call,
    command_in_tool_call,
    definitions_after,
    read_code,
    without_code,
)
from warex.llm.actions.name_heuristics import (
    ActionKind,
    action_kind,
    action_kind_with_arguments,
)
from warex.llm.actions.parser import actions_on_lines, parse_actions, without_thoughts
from warex.llm.actions.python_code import (
    NOTHING_DEFINED,
    Definitions,
    may_call,
    python_calls,
)
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.actions.written_calls import ACTION_LABELS, written_calls
from warex.llm.base import LlmAnswer, ToolCall
from warex.llm.body.lenient_json import as_dict, parse_json
from warex.text.lazy_pattern import lazy_re

_WORD = lazy_re(r"[A-Za-z_]\w{1,60}")
_RECEIVER = lazy_re(r"(?m)^([ \t`>]*)(?:await[ \t]+)?(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_]\w*\()")
"""The text before the name in code: ``await page.``."""
_PARTS = lazy_re(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_OF_BROWSERS: Final = lazy_re(
    r"page|browser|driver|webdriver|wd|tab|window|document|frame|locator|element|elem|el|button|btn"
    r"|link|agent|computer|session|client|https?|web|crawler|stagehand|keyboard|mouse|playwright"
    r"|chrome|chromium|firefox|context|bot|history|location|tools|toolkit|helium|selenium|requests"
    r"|httpx|aiohttp|urllib|patchright|pyautogui|splinter|mechanize|webbrowser|nodriver|pyppeteer"
    r"|camoufox|cffi|axios|xhr|cy|chromedp|taiko|selenide|cypress|capybara|watir|rod|testcafe"
)
"""Words in the names of what drives a browser or asks for pages, and of their modules."""
_DISTINCT: Final = lazy_re(
    r"goto|navigate(to)?|go(back|forward)|(reload|refresh)(page)?|click|dblclick|doubleclick"
    r"|rightclick|fill|press|sendkeys|tap|visit(page|webpage)?|openurl|(open|new)tab|selectoption|src|dispatchevent"
)
"""Names that nothing but a browser has."""
_OF_NETWORK: Final = frozenset(("urlopen", "urlretrieve", "sleep", "Sleep", "delay", "Delay"))
"""Functions of languages' own modules that ask for a page or wait."""
_DATA_FRAMES: Final = frozenset(("pandas", "polars"))
_SETTINGS: Final = lazy_re(
    r"(?:set|clear|implicitly)_?\w*(?:timeout|interval|viewport|size|headers?|cookies?|wait|driver)\w*",
    re.IGNORECASE,
)
_BUILTIN: Final = frozenset(dir(builtins)) - {"reload"}


WITHOUT_ACTIONS: Final = (
    "WAREX cannot distinguish a recovery that no action shows from what a page or a client does by"
    " itself: name the agent's actions (--vocabulary FILE,"
    f" {documentation('reference/llm#vocabulary')})"
)
"""What to do about an agent whose actions cannot be read."""


def guess_actions(
    text: str,
    tool_calls: Iterable[ToolCall],
    known: Collection[str] = (),
    defined: Definitions = NOTHING_DEFINED,
) -> tuple[Action, ...]:
    """Return the actions in a model's answer that ``action_kind`` can classify, in order.

    Names in ``known`` are skipped. Actions are found where ``parse_actions`` finds them, on any
    line, and as calls in code (``await page.goto("…")``). A bare name on a line is not an action.
    ``defined`` is what earlier answers have defined.
    """
    text = without_thoughts(text)
    calls = tuple(tool_calls) or written_calls(text)
    called = tuple(action for call in calls for action in _in_tool_call(call, known, defined))
    return called or _in_text(text, known, defined)


def code_of_answer(text: str, tool_calls: Iterable[ToolCall]) -> tuple[Code, ...]:
    """Return the code in a model's answer: in its tool calls, or else in its text."""
    text = without_thoughts(text)
    if calls := tuple(tool_calls) or written_calls(text):
        return tuple(code for call in calls if (code := code_in_tool_call(call)) is not None)
    return code_in_text(text) or (Code("python", text),)


def defined_by_answer(
    text: str, tool_calls: Iterable[ToolCall], defined: Definitions
) -> Definitions:
    """Return what is defined in the agent's interpreter after the code in a model's answer."""
    return definitions_after(code_of_answer(text, tool_calls), defined)


def kind_of_action(action: Action) -> ActionKind | None:
    """Return what an action does, by its name and arguments."""
    return action_kind_with_arguments(action.name, _json(action))


def recorded_calls(calls: Iterable[JsonValue]) -> tuple[ToolCall, ...]:
    """Return tool calls from a trace, without those that the API ran itself."""
    return tuple(
        ToolCall(str(one.get("id")), str(one.get("name")), str(one.get("arguments")))
        for one in calls
        if isinstance(one, dict) and not one.get("by_server")
    )


def _in_tool_call(
    call: ToolCall, known: Collection[str], defined: Definitions
) -> tuple[Action, ...]:
    code = code_in_tool_call(call)
    read = read_code((code,), defined) if code is not None else command_in_tool_call(call)
    return _selected(read or (), known) or _by_names("", (call,), known)


def _in_text(text: str, known: Collection[str], defined: Definitions) -> tuple[Action, ...]:
    if (read := read_code(code_in_text(text), defined)) is not None:
        return _selected(read, known) or _by_names(without_code(text), (), known)
    calls = python_calls(text, defined) if may_call(text) else ()
    as_code = _selected(calls or (), known)
    return as_code or _by_names(_under_action(text), (), known)


def _under_action(text: str) -> str:
    """Return an answer that is one action of computer use, ``{"type": "keypress", …}``, as such."""
    bare = text.strip()
    try:
        fields = as_dict(parse_json(bare.encode(errors="replace"))) if bare[:1] == "{" else {}
    except ValueError:
        return text
    is_action = "action" not in fields and "actions" not in fields
    typed = fields.get("type", fields.get("action_type"))
    return f'{{"action": {bare}}}' if is_action and isinstance(typed, str) else text


def _selected(calls: Iterable[CodeCall], known: Collection[str]) -> tuple[Action, ...]:
    """Return the actions among the calls in code."""
    actions: list[Action] = []
    for call in calls:
        action = call.as_action(call.full_name)
        kind = action_kind_with_arguments(action.name, _json(action))
        if call.is_command or kind == action_kind_with_arguments(call.name, _json(action)):
            action = call.as_action(call.name)
        # Of ``driver.navigate().refresh()``, the first call does nothing.
        is_look_up = (kind == "look" and (call.is_receiver or finds_element(call.name))) or (
            kind == "goto" and call.is_receiver and not call.arguments
        )
        is_known_kind = kind is not None or call.is_command
        if is_known_kind and not is_look_up and call.name not in known and _may_act(call):
            actions.append(action)
    return tuple(actions)


def _may_act(call: CodeCall) -> bool:
    """Whether a call may be of a browser, a tool or a client, and not of a library of data."""
    if call.is_command or call.name in _OF_NETWORK:
        return True
    if action_kind_with_arguments(call.full_name, list(call.arguments)) == "goto" and (
        call.module in _DATA_FRAMES
    ):
        return True
    if _SETTINGS.fullmatch(call.name):
        return False
    bare_name = call.name.replace("_", "").lower().removeprefix("must").removesuffix("async")
    if _DISTINCT.fullmatch(bare_name):
        return True
    if call.module in sys.stdlib_module_names and not _OF_BROWSERS.fullmatch(call.module):
        return False
    if not call.receiver and not call.module:
        return call.name not in _BUILTIN
    words = (part.lower() for part in _PARTS.findall(f"{call.receiver} {call.module}"))
    return any(map(_OF_BROWSERS.fullmatch, words))


def _json(action: Action) -> JsonValue:
    arguments = action.arguments
    return dict(arguments) if isinstance(arguments, Mapping) else list(arguments)


def _by_names(text: str, calls: tuple[ToolCall, ...], known: Collection[str]) -> tuple[Action, ...]:
    """Return the actions in tool calls or a text, without code."""
    plain = _RECEIVER.sub(r"\1", text)
    answer_text = plain + "".join(f'\n"{call.name}" {call.arguments}' for call in calls)
    words = dict.fromkeys(_WORD.findall(answer_text))
    names = tuple(name for name in words if name not in known and action_kind(name))
    answer = LlmAnswer(model="", text=plain, tool_calls=calls, complete=True)
    actions = parse_actions(answer, Vocabulary(name="any", other=names))
    if calls and not actions:
        names = tuple(it.name for it in calls if it.name not in known and _kind_of_call(it))
        actions = parse_actions(answer, Vocabulary(name="any", other=names))
    if not calls:
        lines = tuple(actions_on_lines(plain, frozenset(names)))
        actions = lines if len(lines) > len(actions) else actions
    return tuple(
        action for action in actions if action.arguments or _is_meant(action.name, answer_text)
    )


def _kind_of_call(call: ToolCall) -> ActionKind | None:
    try:
        arguments = parse_json(call.arguments.encode(errors="replace"))
    except ValueError:
        arguments = None
    return action_kind_with_arguments(call.name, as_dict(arguments))


def _is_meant(name: str, text: str) -> bool:
    """Whether a name without arguments is called, quoted, or follows ``Action:``."""
    return bool(
        re.search(
            rf"\b{name}\(|\"{name}\"|(?i:{ACTION_LABELS}|instruction)[\W_]{{0,6}}{name}\b", text
        )
    )
