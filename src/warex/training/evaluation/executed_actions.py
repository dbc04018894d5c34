"""The actions that an agent carries out on an answer, and what they do to the step's page."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urljoin

from pydantic import JsonValue

from warex.analysis.recovery.equivalence import same_page
from warex.exports.chat import message_texts
from warex.exports.rows import ChatMessage, Row
from warex.llm.actions.base import Action
from warex.llm.actions.code_blocks import code_in_tool_call
from warex.llm.actions.guess import guess_actions
from warex.llm.actions.name_heuristics import (
    ELEMENT_ARGUMENTS,
    ActionKind,
    action_kind,
    action_kind_with_arguments,
    key_combinations,
)
from warex.llm.actions.parser import listed_names, parse_actions, without_thoughts
from warex.llm.actions.reload_words import says_reload
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.actions.written_calls import written_calls
from warex.llm.base import LlmAnswer, ToolCall
from warex.llm.body.lenient_json import as_dict, as_list
from warex.training.evaluation.element_names import ELEMENT_ID, bare_id, element_names

_ELEMENT: Final = ELEMENT_ARGUMENTS | {"id"}
_COMMENTS: Final = frozenset(
    ("reasoning", "thought", "thoughts", "reason", "explanation", "rationale", "intention")
) | frozenset(("confidence", "confidence_float"))
"""Names of an argument by which an agent explains its action."""
_GIVES_UP: Final = re.compile(r"infeasible|give_?up|abort|terminate", re.IGNORECASE)
_LOOKS: Final = re.compile(r"screenshot|snapshot|extract|read", re.IGNORECASE)
_ASKS_OR_NOTES: Final = re.compile(
    r"(?:^|_)(?i:get|list|view|show|inspect|console|network|tabs|assert|verify|expect|think|todo|plan"
    r"|note|remember|memory)(?![a-z])"
)
"""Begins the name of a tool that asks or notes something: ``get_page_text``, ``todo_write``."""
_READS_VALUE: Final = re.compile(
    r"(?:\(\)\s*=>\s*)?(?:return\s+)?(?:document|window|location)[\w.]*;?"
)
"""A script that only reads something of the page: ``() => location.href``."""
_SUCCESS: Final = frozenset(("success", "done", "complete", "completed"))
_ADDRESS_BAR: Final = frozenset(("ctrl+l", "alt+d", "f6"))
_NEW_TAB: Final = frozenset(("ctrl+t", "ctrl+n"))
_ENTER: Final = frozenset(("enter", "return", "kp_enter", "numpadenter"))
_ADDRESS: Final = re.compile(r"(?:https?://)?[\w-]+(?:[.:][\w-]+)+(?:[/?#]\S*)?|https?://\S+")
_NOT_DONE: Final = re.compile(r"n/?a", re.IGNORECASE)
"""What a task's end says that cannot be done (WebArena)."""


def executed_action(answer: ChatMessage, vocabulary: Vocabulary) -> Action | None:
    """Return the first action that an agent carries out on an answer, waits aside; None without.

    Names that the vocabulary lacks are read where it has none of the answer's but waits.
    """
    calls = tuple(
        ToolCall(str(call.get("id") or ""), str(function.get("name")), _arguments(function))
        for call in map(as_dict, as_list(answer.get("tool_calls")))
        if isinstance(function := call.get("function"), dict)
    )
    text = "\n".join(message_texts([answer]))
    acts = parse_actions(LlmAnswer("", text=text, tool_calls=calls, complete=True), vocabulary)
    acts = _carried_out(it for act in acts for it in _in_its_code(act))
    acting = _acting(acts, vocabulary)
    if not acting and not (acts and vocabulary.first_only):
        any_name = _carried_out(_of_any_name(text, calls))
        acts, acting = acts or any_name, _acting(any_name, vocabulary)
    return _visit_by_keys(acting) or next(iter(acting or acts), None)


def _carried_out(acts: Iterable[Action]) -> tuple[Action, ...]:
    """Return the actions that no event has to call."""
    return tuple(it for it in acts if it.context != "event")


def _acting(acts: Iterable[Action], vocabulary: Vocabulary) -> list[Action]:
    """Return the actions that neither wait nor only look."""
    return [it for it in acts if not (waits(it, vocabulary) or _only_looks(it))]


def _visit_by_keys(acts: Sequence[Action]) -> Action | None:
    """Return the visit that actions begin with: Ctrl+L, then an address that is typed, and Enter.

    Enter without an address loads the page again.
    """
    if not acts or not _keys_of(acts[0]) & (_ADDRESS_BAR | _NEW_TAB):
        return None
    typed = _typed_address(acts[1]) if len(acts) > 1 else ""
    entered = acts[2 if typed else 1 :][:1]
    if not typed.endswith("\n") and not any(_keys_of(it) & _ENTER for it in entered):
        return None
    if typed:
        return Action("goto", (typed.strip(),))
    return Action("reload") if _keys_of(acts[0]) & _ADDRESS_BAR else None


def _typed_address(action: Action) -> str:
    """Return the address that an action types, and the end of the line if it types that."""
    arguments = action.arguments
    values = arguments.values() if isinstance(arguments, Mapping) else arguments
    texts = (str(value).replace("\\n", "\n") for value in values)
    is_typing = kind_of(action) == "type"
    return next((it for it in texts if is_typing and _ADDRESS.fullmatch(it.strip())), "")


def _keys_of(action: Action) -> frozenset[str]:
    """Return the keys that an action may press."""
    if kind_of(action) != "click":
        return frozenset()
    arguments = action.arguments
    return key_combinations(dict(arguments) if isinstance(arguments, Mapping) else [*arguments])


def _of_any_name(text: str, calls: Sequence[ToolCall]) -> tuple[Action, ...]:
    """Return the actions of an answer, also those with unknown names beside known ones."""
    calls = calls or written_calls(without_thoughts(text))
    known = [guess_actions("", (call,)) for call in calls]
    if any(known):
        return tuple(
            act
            for call, acts in zip(calls, known, strict=True)
            for act in acts or (() if code_in_tool_call(call) else (Action(call.name),))
        )
    listed = Vocabulary(name="listed", other=() if calls else tuple(listed_names(text)))
    if any(map(action_kind, listed.names)):
        return parse_actions(LlmAnswer("", text=text, complete=True), listed)
    return guess_actions(text, calls)


def _only_looks(action: Action) -> bool:
    """Whether an action reads the page and leaves it, its focus and its scrolling as they are."""
    kind = kind_of(action)
    if kind in (None, "type") and _ASKS_OR_NOTES.search(action.name):
        return True
    if kind != "look":
        return False
    read = any(map(_READS_VALUE.fullmatch, values_of(action)))
    return read or _LOOKS.search(action.name) is not None


def _in_its_code(action: Action) -> tuple[Action, ...]:
    """Return the actions of the code that an action runs (``evaluate(code='…')``), or itself."""
    if not isinstance(action.arguments, Mapping):
        return (action,)
    call = ToolCall("", action.name, json.dumps(dict(action.arguments)))
    code = code_in_tool_call(call)
    return (guess_actions("", (call,)) if code is not None else ()) or (action,)


def kind_of(action: Action) -> ActionKind | None:
    """Return what an action does, by its name and arguments."""
    arguments = action.arguments
    if isinstance(arguments, Mapping):
        acting = {name: it for name, it in arguments.items() if name.lower() not in _COMMENTS}
        return action_kind_with_arguments(action.name, acting)
    return action_kind_with_arguments(action.name, [*values_of(action)])


def waits(action: Action, vocabulary: Vocabulary) -> bool:
    """Whether an action only passes time."""
    return action.name in vocabulary.noop or (
        action.name not in vocabulary.names and kind_of(action) == "wait"
    )


def ends(action: Action, vocabulary: Vocabulary) -> bool:
    """Whether an action ends the task."""
    return action.name in vocabulary.finish or (
        action.name not in vocabulary.names and kind_of(action) == "finish"
    )


def gives_up(action: Action, vocabulary: Vocabulary) -> bool:
    """Whether an action ends the task as one that cannot be done."""
    if action.name in vocabulary.infeasible:
        return True
    arguments, values = action.arguments, values_of(action)
    by_name = arguments if isinstance(arguments, Mapping) else {}
    if by_name.get("taskComplete") is False:
        return True
    failed = by_name.get("success") is False
    nothing = bool(values) and _NOT_DONE.fullmatch(values[0]) is not None
    named = _GIVES_UP.search(action.name) and not _SUCCESS.intersection(map(str.lower, values))
    return ends(action, vocabulary) and bool(failed or nothing or named)


def asks_again(action: Action, row: Row, vocabulary: Vocabulary) -> bool:
    """Whether an action requests the page of the row's step, or the part that failed, again."""
    kind = kind_of(action)
    if action.name in vocabulary.retry or kind == "reload":
        return True
    if kind == "goto":
        return any(same_page(_absolute(value, row.url), row.url) for value in values_of(action))
    names = element_names(values_of(action), _page_of(row)) if kind == "click" else ()
    return any(map(says_reload, names))


def _absolute(address: str, page: str) -> str:
    """Return the URL to which an address leads from a page; a browser adds a missing scheme."""
    if address.startswith("/"):
        return urljoin(page, address)
    return address if "://" in address else f"//{address}"


def _page_of(row: Row) -> str:
    return "\n".join(message_texts(row.prompt))


def acts_on_nothing(action: Action, row: Row) -> bool:
    """Whether an action's element id is missing on the page that was shown."""
    ids = _element_ids(action) if kind_of(action) in ("click", "type") else []
    page = _page_of(row) if ids else ""
    return any(re.search(rf"(?<!\w){re.escape(id)}(?!\w)", page) is None for id in ids)


def values_of(action: Action) -> list[str]:
    """Return an action's arguments as texts, without what explains it if there are others.

    Named ones are in the order of their names.
    """
    arguments = action.arguments
    if isinstance(arguments, Mapping):
        named = sorted(arguments.items())
        acting = [it for name, it in named if name.lower() not in _COMMENTS]
        values: Sequence[object] = acting or [it for _, it in named]
    else:
        values = arguments
    return [str(value).strip() for value in values if value is not None]


def _arguments(function: Mapping[str, Any]) -> str:
    arguments: JsonValue = function.get("arguments")
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _element_ids(action: Action) -> list[str]:
    """Return the ids by which an action names its element; not a selector or a description."""
    arguments = action.arguments
    if isinstance(arguments, Mapping):
        named = {name: it for name, it in arguments.items() if name.lower() in _ELEMENT}
        values = [str(it).strip() for it in named.values()]
    else:
        values = values_of(action)[:1]
    return [it for it in map(bare_id, values) if ELEMENT_ID.fullmatch(it)]
