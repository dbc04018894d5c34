"""Classifies a model's answer to a held-out step (paper, appendix G)."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from pydantic import JsonValue

from warex.analysis.recovery.equivalence import same_page
from warex.exports.chat import message_texts
from warex.exports.rows import ChatMessage, Row
from warex.llm.actions.base import Action
from warex.llm.actions.name_heuristics import action_kind_with_arguments
from warex.llm.actions.parser import parse_actions
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.base import LlmAnswer, ToolCall

type AnswerClass = Literal[
    "recovery",
    "agreement",
    "false_reload",
    "infeasible",
    "noop",
    "refusal",
    "message",
    "other_action",
    "hallucination",
    "text",
    "empty",
]
"""``recovery``: requests the page again, or is the action that recovered. ``agreement``: on a clean
step, the expected action. ``false_reload``: on a clean step, an unexpected request of the page.
``infeasible``: gives the task up. ``refusal``: apologises or declines. ``message``: a message to
the user. ``hallucination``: pastes a page, or acts on an element that is not there. ``text``: words
without an action."""

CLASSES: Final[tuple[AnswerClass, ...]] = get_args(AnswerClass.__value__)
_SORRY: Final = re.compile(
    r"\b(?:sorry|apologi[sz]e|unable to|can(?:not|'t| not)|could(?: not|n't) (?:proceed|continue)"
    r"|not able to|won't be able)\b",
    re.IGNORECASE,
)
_TREE_LINE: Final = re.compile(
    r"^\s*\[?\w{1,8}\]?\s+(?:RootWebArea|StaticText|link|button|heading|textbox|listitem|image|img"
    r"|generic|paragraph|navigation|banner|main|combobox|list|cell|row|status)\b",
    re.MULTILINE,
)
_PASTED: Final = 3
"""Lines of an accessibility tree from which an answer counts as a pasted page."""
_ID: Final = re.compile(r"\d{1,6}|[a-z]{1,2}\d{1,6}")


@dataclass(frozen=True, slots=True)
class ClassifiedAnswer:
    """An answer and its class."""

    label: AnswerClass
    action: str
    """In call syntax, ``click('9')``; empty without an action."""
    same_kind: bool
    """Whether the action has the name of the expected one."""


def classify(answer: ChatMessage, row: Row, vocabulary: Vocabulary) -> ClassifiedAnswer:
    """Return the class of an answer to a row's prompt."""
    acts = _actions(answer, vocabulary)
    wanted = _actions(row.answer, vocabulary)
    text = "\n".join(message_texts([answer])).strip()
    if not acts:
        return ClassifiedAnswer(_without_action(text, answer), "", same_kind=False)
    act = acts[0]
    same_kind = bool(wanted) and act.name == wanted[0].name
    label = _of_action(acts, wanted, row, vocabulary, text)
    return ClassifiedAnswer(label, shown(act), same_kind)


def shown(action: Action) -> str:
    """Return an action in call syntax: ``goto('https://shop.example/')``."""
    given = action.arguments
    if isinstance(given, Mapping):
        return f"{action.name}({', '.join(f'{key}={value!r}' for key, value in given.items())})"
    return f"{action.name}({', '.join(map(repr, given))})"


def _actions(answer: ChatMessage, vocabulary: Vocabulary) -> tuple[Action, ...]:
    calls = tuple(
        ToolCall(str(call.get("id") or ""), str(function.get("name")), _written(function))
        for call in answer.get("tool_calls") or ()
        if isinstance(function := call.get("function"), dict)
    )
    text = "\n".join(message_texts([answer]))
    return parse_actions(LlmAnswer("", text=text, tool_calls=calls, complete=True), vocabulary)


def _written(function: Mapping[str, Any]) -> str:
    given = function.get("arguments")
    return given if isinstance(given, str) else json.dumps(given)


def _without_action(text: str, answer: ChatMessage) -> AnswerClass:
    if not text:
        return "other_action" if answer.get("tool_calls") else "empty"
    if len(_TREE_LINE.findall(text)) >= _PASTED:
        return "hallucination"
    return "refusal" if _SORRY.search(text) else "text"


def _of_action(
    acts: Sequence[Action], wanted: Sequence[Action], row: Row, vocabulary: Vocabulary, text: str
) -> AnswerClass:
    act = acts[0]
    is_wanted = any(act.name == it.name and _values(act) == _values(it) for it in wanted[:1])
    again = any(_asks_again(one, row, vocabulary) for one in acts)
    if row.kind == "failure":
        if is_wanted or again:
            return "recovery"
    elif is_wanted:
        return "agreement"
    elif again:
        return "false_reload"
    if len(_TREE_LINE.findall(text)) >= _PASTED or _acts_on_nothing(act, row):
        return "hallucination"
    if act.name in vocabulary.infeasible:
        return "infeasible"
    if act.name in vocabulary.noop:
        return "noop"
    if act.name in vocabulary.finish:
        return "refusal" if _SORRY.search(" ".join(_values(act))) else "message"
    return "other_action"


def _asks_again(act: Action, row: Row, vocabulary: Vocabulary) -> bool:
    """Whether an action requests the page of the row's step again."""
    if act.name in vocabulary.retry:
        return True
    given = act.arguments
    arguments: JsonValue = dict(given) if isinstance(given, Mapping) else [*_values(act)]
    does = action_kind_with_arguments(act.name, arguments)
    if does == "reload":
        return True
    leads = act.name in vocabulary.recover and does == "goto"
    return leads and any(same_page(value, row.url) for value in _values(act))


def _acts_on_nothing(act: Action, row: Row) -> bool:
    """Whether an action's element id is missing on the page that was shown."""
    values = _values(act)
    if (
        not values
        or not _ID.fullmatch(values[0])
        or action_kind_with_arguments(act.name, None) not in ("click", "type")
    ):
        return False
    page = "\n".join(message_texts(row.prompt))
    return re.search(rf"(?<!\w){re.escape(values[0])}(?!\w)", page) is None


def _values(act: Action) -> list[str]:
    given = act.arguments
    values = given.values() if isinstance(given, Mapping) else given
    return [str(value).strip() for value in values if value is not None]
