"""Classifies a model's answer to a held-out step (paper, appendix G)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from warex.exports.chat import message_texts
from warex.exports.rows import ChatMessage, Row
from warex.llm.actions.base import Action
from warex.llm.actions.vocabulary import Vocabulary
from warex.training.evaluation.executed_actions import (
    acts_on_nothing,
    asks_again,
    ends,
    executed_action,
    gives_up,
    values_of,
    waits,
)

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
    r"|not able to|won't be able|lo siento|no puedo|je ne peux pas|désolée?|tut mir leid"
    r"|entschuldigung|kann (?:ich )?(?:das |dir |ihnen )?(?:leider )?nicht"
    r"|mi dispiace|non posso|desculpe|não posso|przepraszam|nie mogę|het spijt me|kan ik niet"
    r"|tyvärr|kan inte|desværre|dessverre|kan ikke|valitettavasti|en voi|bohužel|nemohu|sajnos"
    r"|nem tudo[km]|din păcate|nu pot|maalesef|yapamam|üzgünüm|xin lỗi|không thể|maaf"
    r"|tidak (?:bisa|dapat))\b"
    r"|申し訳|できません|抱歉|对不起|對不起|无法|無法|죄송|할 수 없|извините|к сожалению|не могу"
    r"|на жаль|вибачте|عذر|لا أستطيع|آسف|λυπάμαι|δεν μπορώ|מצטער|לא יכול|क्षमा करें"
    r"|माफ़|ขออภัย|ไม่สามารถ",
    re.IGNORECASE,
)
_PAGE_LINE: Final = re.compile(
    r"^\s*\[?\w{1,8}\]?\s+(?:RootWebArea|StaticText|link|button|heading|textbox|listitem|image|img"
    r"|generic|paragraph|navigation|banner|main|combobox|list|cell|row|status)\b"
    r"|^\s*<(?:!doctype|html|head|title|meta|body|header|nav|main|section|div|h[1-6]|table|t[rd]|[uo]l"
    r"|li|form|footer)\b",
    re.MULTILINE | re.IGNORECASE,
)
_PASTED: Final = 3
"""Lines of an accessibility tree or of HTML from which an answer counts as a pasted page."""


@dataclass(frozen=True, slots=True)
class ClassifiedAnswer:
    """An answer and its class."""

    label: AnswerClass
    action: str
    """In call syntax, ``click('9')``; empty without an action."""
    same_kind: bool
    """Whether the action has the name of the expected one."""


def classify(answer: ChatMessage, row: Row, vocabulary: Vocabulary) -> ClassifiedAnswer:
    """Return the class of an answer to a row's prompt, by what the agent carries out on it."""
    act = executed_action(answer, vocabulary)
    wanted = executed_action(row.answer, vocabulary)
    text = "\n".join(message_texts([answer])).strip()
    if act is None:
        return ClassifiedAnswer(_without_action(text, answer), "", same_kind=False)
    same_kind = wanted is not None and act.name == wanted.name
    label = _of_action(act, wanted, row, vocabulary, text)
    return ClassifiedAnswer(label, shown(act), same_kind)


def is_right(answer: ChatMessage, row: Row, vocabulary: Vocabulary) -> bool:
    """Whether an answer recovers from a failure, or is the expected one of a clean step."""
    wanted = "recovery" if row.kind == "failure" else "agreement"
    return classify(answer, row, vocabulary).label == wanted


def shown(action: Action) -> str:
    """Return an action in call syntax: ``goto('https://shop.example/')``."""
    arguments = action.arguments
    if isinstance(arguments, Mapping):
        return f"{action.name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    return f"{action.name}({', '.join(map(repr, arguments))})"


def _without_action(text: str, answer: ChatMessage) -> AnswerClass:
    if not text:
        return "other_action" if answer.get("tool_calls") else "empty"
    if len(_PAGE_LINE.findall(text)) >= _PASTED:
        return "hallucination"
    return "refusal" if _SORRY.search(text) else "text"


def _of_action(
    act: Action, wanted: Action | None, row: Row, vocabulary: Vocabulary, text: str
) -> AnswerClass:
    is_wanted = wanted is not None and (act.name, values_of(act)) == (
        wanted.name,
        values_of(wanted),
    )
    again = asks_again(act, row, vocabulary)
    if row.kind == "failure":
        if is_wanted or again:
            return "recovery"
    elif is_wanted:
        return "agreement"
    elif again:
        return "false_reload"
    if len(_PAGE_LINE.findall(text)) >= _PASTED or acts_on_nothing(act, row):
        return "hallucination"
    if gives_up(act, vocabulary):
        return "infeasible"
    if waits(act, vocabulary):
        return "noop"
    if ends(act, vocabulary):
        return "refusal" if _SORRY.search(" ".join(values_of(act))) else "message"
    return "other_action"
