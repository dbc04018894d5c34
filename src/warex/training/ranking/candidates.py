"""The legal actions of a page, in the form in which an agent's answers ask for them.

The form is learnt from wanted answers: ``fill('7', 'Ada')`` becomes a template with a slot for the
element and one for a text of the goal. A page then has an action for each way to fill its slots.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product, takewhile
from typing import Annotated, Final, Literal

from pydantic import BaseModel, Field

from warex.exports.answers.thoughts import without_thought
from warex.exports.chat import message_texts
from warex.exports.prompt_page import PageElement, PromptPage
from warex.exports.rows import ChatMessage, Row
from warex.llm.actions.base import Action
from warex.llm.actions.parser import parse_actions
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.base import LlmAnswer
from warex.training.ranking.goal_texts import asks, goal_texts, goal_words, words

type Slot = Literal["element", "goal", "word", "text", "url"]

MOST: Final = 400
"""Actions of one page."""
_MOST_TEXTS: Final = 40
_SLOT: Final = re.compile(r"⟦(element|goal|word|text|url)⟧")
_TELLING: Final = 0.3
"""Of an answer that a page holds: its new words, each by the share of the texts that say it."""
_DONE: Final = "Done."
"""The answer at a task's end where its words are on no page."""


class ActionTemplate(BaseModel, frozen=True, extra="forbid"):
    """An answer with slots: ``fill('⟦element⟧', '⟦goal⟧')``."""

    action: Annotated[str, Field(min_length=1)]
    text: Annotated[str, Field(min_length=1)]
    roles: tuple[str, ...] = ()
    """Roles of the elements that it was used on; of the texts, if it has a slot for those."""
    vocabulary: str

    @property
    def slots(self) -> tuple[Slot, ...]:
        """Its slots, in order."""
        return tuple(_SLOT.findall(self.text))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A legal action of a page."""

    template: ActionTemplate
    text: str
    """The answer."""
    element: PageElement | None = None
    value: str = ""
    """What was put into the slot for a text."""


def wanted_action(
    row: Row, page: PromptPage, vocabulary: Vocabulary
) -> tuple[ActionTemplate, str] | None:
    """Return a row's wanted action as template and as text; None if its answer has none."""
    answer = without_thought(row.answer, vocabulary) or row.answer
    text = written(answer)
    action = first_action(text, vocabulary)
    if action is None:
        return None
    wanted, roles = text, list[str]()
    begin = text.find(action.name) + len(action.name)
    for value in values(action):
        slot, role, instead = _slot(value, row, page, action, vocabulary)
        if slot == "element" and roles and value in goal_texts(page.goal):
            slot, role = "goal", ""
        if slot is None:
            continue
        replacement = slot if slot == _DONE else f"⟦{slot}⟧"
        for spelling in (value, repr(value)[1:-1], json.dumps(value)[1:-1]):
            match = re.compile(rf"(?<!\w){re.escape(spelling)}(?!\w)").search(text, begin)
            if match:
                if instead != value:
                    wanted = wanted.replace(match[0], instead)
                text = text[: match.start()] + replacement + text[match.end() :]
                begin = match.start() + len(replacement)
                roles += [role] if role else []
                break
    for quoted in (f'("{_DONE}")', f"('{_DONE}')"):
        text, wanted = text.replace(quoted, f"('{_DONE}')"), wanted.replace(quoted, f"('{_DONE}')")
    template = ActionTemplate(
        action=action.name, text=text, roles=tuple(roles), vocabulary=row.vocabulary
    )
    return template, wanted


def merged(templates: Sequence[ActionTemplate]) -> tuple[ActionTemplate, ...]:
    """Return each template once, with the roles of all."""
    roles: dict[tuple[str, str, str], set[str]] = {}
    for it in templates:
        roles.setdefault((it.vocabulary, it.action, it.text), set()).update(it.roles)
    return tuple(
        ActionTemplate(action=action, text=text, roles=tuple(sorted(some)), vocabulary=vocabulary)
        for (vocabulary, action, text), some in roles.items()
    )


def forms(templates: Sequence[ActionTemplate]) -> tuple[ActionTemplate, ...]:
    """Return the forms of answers: those with a text of one page alone are left out.

    A form has the most slots of its action, or none; ``fill('⟦element⟧', 'Ada')`` is left out
    beside ``fill('⟦element⟧', '⟦goal⟧')``.
    """
    every = merged(templates)
    most: dict[tuple[str, str], int] = {}
    for it in every:
        key = it.vocabulary, it.action
        most[key] = max(most.get(key, 0), len(it.slots))
    return tuple(
        it for it in every if _DONE in it.text or len(it.slots) == most[it.vocabulary, it.action]
    )


def candidates(page: PromptPage, templates: Sequence[ActionTemplate]) -> list[Candidate]:
    """Return the page's legal actions."""
    by_text: dict[str, Candidate] = {}
    for template in templates:
        for candidate in _filled(template, page):
            by_text.setdefault(candidate.text, candidate)
            if len(by_text) >= MOST:
                return list(by_text.values())
    return list(by_text.values())


def written(answer: ChatMessage) -> str:
    """Return an answer as text; a tool call as Hermes writes it."""
    text = "\n".join(message_texts([answer])).strip()
    calls = [call.get("function") for call in answer.get("tool_calls") or ()]
    shown = [_hermes(call) for call in calls if isinstance(call, dict)]
    return "\n".join(filter(None, [text, *shown[:1]]))


def first_action(text: str, vocabulary: Vocabulary) -> Action | None:
    """Return the first action of an answer, or None."""
    return next(iter(parse_actions(LlmAnswer("", text=text, complete=True), vocabulary)), None)


def values(action: Action) -> list[str]:
    """Return an action's arguments as texts."""
    arguments = action.arguments
    argument_values = arguments.values() if isinstance(arguments, Mapping) else arguments
    return [
        str(value).strip() for value in argument_values if value is not None and str(value).strip()
    ]


def _hermes(call: Mapping[str, object]) -> str:
    raw = call.get("arguments")
    try:
        arguments = json.loads(raw) if isinstance(raw, str) else raw
    except ValueError:
        arguments = raw
    body = json.dumps({"name": call.get("name"), "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>{body}</tool_call>"


def _slot(
    value: str, row: Row, page: PromptPage, action: Action, vocabulary: Vocabulary
) -> tuple[Slot | Literal["Done."] | None, str, str]:
    """Return what a value stands for, the role of its element, and the value to write instead."""
    element = next((it for it in page.usable if it.id == value), None)
    if element is not None:
        return "element", element.role, value
    if value in (row.url, page.url):
        return "url", "", value
    if action.name in vocabulary.finish and action.name not in vocabulary.infeasible:
        shown = _answering(value, page) if asks(page.goal) else None
        return (_DONE, "", _DONE) if shown is None else ("text", shown[0].role, shown[1])
    if value in goal_texts(page.goal):
        return "goal", "", value
    if value in goal_words(page.goal):
        return "word", "", value
    shown_in = next((it for it in page.elements if value in _texts(it)), None)
    return (None, "", value) if shown_in is None else ("text", shown_in.role, value)


def _answering(answer: str, page: PromptPage) -> tuple[PageElement, str] | None:
    """Return the shortest text of a page that says what an answer adds to the goal."""
    texts = [(it, text) for it in page.elements for text in _texts(it)]
    exact = next((it for it in texts if it[1] == answer), None)
    if exact is not None:
        return exact
    new = words(answer) - words(page.goal)
    shared = [(it, text, new & words(text)) for it, text in texts]
    seen = Counter(word for _, _, both in shared for word in both)
    telling = [(sum(1 / seen[word] for word in both), it, text) for it, text, both in shared]
    most = max((it[0] for it in telling), default=0)
    if most < _TELLING:
        return None
    _, element, text = min((it for it in telling if it[0] >= most), key=lambda it: len(it[2]))
    return element, text


def _texts(element: PageElement) -> list[str]:
    """Return the texts that an element offers: its name, and what stands behind a colon."""
    name = element.name.strip()
    behind = name.partition(": ")[2].strip(" .")
    return [it for it in (name, behind) if it]


def _filled(template: ActionTemplate, page: PromptPage) -> Iterator[Candidate]:
    if "element" not in template.slots:
        yield from _written(template, page, None, page.elements)
        return
    for place, element in enumerate(page.elements):
        if element.id and element.role in template.roles:
            following = islice(page.elements, place + 1, place + 1 + _MOST_TEXTS)
            parts = list(takewhile(lambda it: not it.id, following))
            yield from _written(template, page, element, parts)


def _written(
    template: ActionTemplate,
    page: PromptPage,
    element: PageElement | None,
    shown: Sequence[PageElement],
) -> Iterator[Candidate]:
    """Yield a form with one element and each choice of texts.

    ``shown`` has the page's texts; of an element those behind it, which are a list's options.
    """
    options: list[list[tuple[str, PageElement | None]]] = []
    for slot in template.slots:
        if slot == "element":
            options.append([(element.id, element)] if element else [])
        elif slot == "goal":
            options.append([(it, None) for it in goal_texts(page.goal)])
        elif slot == "word":
            options.append([(it, None) for it in goal_words(page.goal)])
        elif slot == "url":
            options.append([(page.url, None)] if page.url else [])
        else:
            texts = [
                (text, it if element is None else None)
                for it in shown
                if it.role in template.roles
                for text in _texts(it)
            ]
            options.append(texts[:_MOST_TEXTS])
    for chosen in product(*options):
        remaining = iter(chosen)
        text = _SLOT.sub(lambda slot: _escaped(slot, next(remaining)[0]), template.text)  # noqa: B023
        shown_in = next((it for _, it in chosen if it is not None), None)
        value = next((it for it, of in chosen if of is None or of is not element), "")
        yield Candidate(template, text, shown_in, value)


def _escaped(slot: re.Match[str], value: str) -> str:
    """Return a value as it stands between the quotation marks around its slot."""
    before = slot.string[slot.start() - 1 : slot.start()]
    if before == '"':
        return json.dumps(value, ensure_ascii=False)[1:-1]
    return value.replace("\\", "\\\\").replace("'", "\\'") if before == "'" else value
