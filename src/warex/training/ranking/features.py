"""Describes a legal action by words of the goal, its element, the page and the history."""

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import log
from typing import Final

from warex.exports.prompt_page import PageElement, PromptPage
from warex.training.ranking.candidates import Candidate
from warex.training.ranking.goal_texts import asks, goal_texts, words

_CALL: Final = re.compile(r"^[^\n(\[]*?(\w+)[ \t]*[(\[]", re.MULTILINE)
_ID: Final = re.compile(r"\[\w+\]")
_VALUE: Final = re.compile(r"value=['\"](.{1,400}?)['\"](?:,|$)")
_SHOWN_WORDS: Final = 60
_COUNTS: Final = (1, 2, 3, 5, 8, 13, 21, 34)
_FIELDS: Final = frozenset({"textbox", "searchbox", "combobox", "spinbutton", "input", "textarea"})
_WRITTEN: Final = frozenset({"quotation", "sentence", "address", "day", "time"})
_STATUS: Final = frozenset({"status", "alert"})
_MONEY: Final = re.compile(r"[€£$]\s?\d|\d\s?(?:€|£|\$)")
_CLOCK: Final = re.compile(r"\d:\d\d")
_BEFORE: Final = 24
"""Characters of the goal before a text that say what it is."""


class PageFeatures:
    """The features of a page's legal actions."""

    def __init__(self, page: PromptPage, buckets: int) -> None:
        self._page = page
        self._buckets = buckets
        self._goal = words(page.goal)
        self._asks = asks(page.goal)
        self._wanted = [text.lower() for text in goal_texts(page.goal)]
        self._kinds = {text.lower(): it for text, it in goal_texts(page.goal).items()}
        self._places = {id(it): at for at, it in enumerate(page.elements)}

    def of(self, candidate: Candidate) -> list[int]:
        """Return the buckets of an action's features."""
        names = dict.fromkeys(self._names(candidate))
        return sorted({zlib.crc32(name.encode()) % self._buckets for name in names})

    def _names(self, candidate: Candidate) -> Iterator[str]:
        form = candidate.template.text
        kind = f"{candidate.template.action} {'asks' if self._asks else 'orders'}"
        yield form
        signals = self._signals
        if candidate.element is None:
            signals = [*signals, *self._page_words]
        for signal in signals:
            yield f"{form}|{signal}"
        yield f"{form}|{self._phase}"
        yield f"{form}|done {_count(self._past[candidate.text])}"
        if candidate.element is not None:
            yield from self._of_element(candidate.element, form, kind)
        if candidate.value:
            if candidate.element is not None and "element" in candidate.template.slots:
                yield from self._of_field(candidate.value, candidate.element, form)
            else:
                yield from self._of_text(candidate, form)

    def _of_element(self, element: PageElement, form: str, kind: str) -> Iterator[str]:
        name_words = words(element.name)
        both = name_words & self._goal
        role = f"{form}|{element.role}"
        place = self._places.get(id(element), 0)
        rank = self._rank(element)
        new = both - self._headed
        yield role
        yield f"{role}|{self._phase}"
        yield f"{role}|shares {len(both)} of {_count(len(name_words))}"
        yield f"{form}|rank {rank}"
        yield f"{kind}|rank {rank}"
        yield f"{role}|rank {rank}|{self._phase}"
        yield f"{kind}|all {bool(name_words) and both == name_words} {bool(new)}"
        yield f"{form}|new {_count(len(new))}"
        yield f"{form}|quoted {self._quoted(element.name)} {bool(new)}"
        yield f"{form}|alike {_count(self._names_seen[element.name.lower()])}"
        yield f"{role}|{_VALUE.sub('value', element.state)}"
        yield f"{role}|after heading {place > self._main}"
        yield f"{role}|after heading {place > self._main} rank {rank}"
        yield f"{role}|{self._from_focus(place)}"
        yield f"{form}|{self._from_focus(place)}|{self._phase}"
        yield f"{role}|first {_count(place) if place < 3 else ''}"
        for word in name_words:
            yield f"{form}|name {word}"
            yield f"{role}|{self._phase}|name {word}"
            yield f"{self._verb} for {word}"

    def _of_field(self, value: str, field: PageElement, form: str) -> Iterator[str]:
        """What says that a text belongs into a field."""
        low = value.lower()
        kind = self._kinds.get(low, "word")
        label = words(field.name)
        role = f"{form}|{field.role}"
        empty = _VALUE.search(field.state) is None
        yield f"{role}|kind {kind}"
        yield f"{form}|in field {low in field.state.lower()}"
        yield f"{form}|empty {empty} used {low in self._used} kind {kind}"
        yield f"{form}|used {low in self._used}"
        is_next = bool(self._unused) and self._unused[0] == low
        yield f"{form}|next {is_next}"
        yield f"{form}|next {is_next}|{self._from_focus(self._places.get(id(field), 0))}"
        yield f"{form}|announced {bool(label & self._announced.get(low, frozenset()))}"
        yield f"{form}|shape {_shape(value) in self._shapes} {kind}"
        both = words(value) & self._goal
        in_goal = f"{low in self._page.goal.lower()} {_count(len(both))} of {len(words(value))}"
        yield f"{form}|in goal {in_goal}"
        for word in label:
            yield f"{form}|{kind} for {word}"

    def _of_text(self, candidate: Candidate, form: str) -> Iterator[str]:
        """What says that a text of the page is the answer."""
        value = candidate.value
        low = value.lower()
        value_words = words(value)
        new = value_words - self._goal
        yield f"{form}|in goal {low in self._page.goal.lower()}"
        yield f"{form}|new {_count(len(new))} shares {len(value_words & self._goal)}"
        yield f"{form}|length {_count(len(value) // 10)}"
        yield f"{form}|wanted {self._question}|{_kind_of(value)}"
        yield f"{form}|on page {_count(self._page.page.lower().count(low))}"
        if candidate.element is not None:
            place = self._places.get(id(candidate.element), 0)
            before = self._page.elements[place - 1].name if place else ""
            yield f"{form}|labelled {_count(len(words(before) & self._goal))}"
            yield f"{form}|part {value == candidate.element.name}"
        for word in value_words:
            yield f"{form}|says {word}"

    @cached_property
    def _phase(self) -> str:
        """How far the page and the history are with what the goal wants."""
        confirmed, opened = self._is_confirmed, self._is_opened
        return f"{self._asks} {confirmed} {opened} {self._is_form} {bool(self._unused)}"

    @cached_property
    def _is_confirmed(self) -> bool:
        """Whether a status stands on the page, after an action."""
        shown = any(it.role in _STATUS and it.name.strip() for it in self._page.elements)
        return shown and bool(self._actions)

    @cached_property
    def _is_opened(self) -> bool:
        return (
            any(self._names_of_goal & words(it) for it in self._heads)
            if self._names_of_goal
            else (any(len(self._goal & words(it)) > 1 for it in self._heads))
        )

    @cached_property
    def _names_of_goal(self) -> frozenset[str]:
        return words(" ".join(it for it in self._wanted if self._kinds[it] == "quotation"))

    @cached_property
    def _is_form(self) -> bool:
        return any(it.role == "textbox" and not _VALUE.search(it.state) for it in self._page.usable)

    @cached_property
    def _searches(self) -> bool:
        return re.search(r"\b(?:search|find|look)\b", self._page.goal.lower()) is not None

    @cached_property
    def _signals(self) -> list[str]:
        """What holds for the whole page."""
        page = self._page
        actions = self._actions
        again = 0
        for name in reversed(actions):
            if name != actions[-1]:
                break
            again += 1
        first = page.elements[0].role if page.elements else ""
        return [
            f"usable {_count(len(page.usable))}",
            f"lines {_count(len(page.elements))}",
            f"last {actions[-1] if actions else ''} {_count(again)}",
            f"steps {_count(len(actions))}",
            f"first {first}",
            f"asks {self._asks} steps {_count(len(actions))}",
            f"asks {self._asks} first {first}",
            f"left {_count(len(self._unused))}",
            f"told {self._is_confirmed}",
            f"opened {self._is_opened}",
            f"asks {self._asks} opened {self._is_opened}",
            f"asks {self._asks} told {self._is_confirmed}",
            f"told {self._is_confirmed} left {bool(self._unused)}",
            f"form {self._is_form} left {bool(self._unused)}",
            f"asks {self._asks}",
            f"search {self._searches} {_count(len(actions))}",
        ]

    @cached_property
    def _page_words(self) -> list[str]:
        page = self._page
        texts = [it.name for it in page.elements if not it.id] or [_ID.sub(" ", page.page)]
        shown = list(dict.fromkeys(re.findall(r"[a-z]{2,}|\d+", " ".join(texts).lower())))
        status = " ".join(it.name for it in page.elements if it.role in _STATUS)
        return [
            *(f"url {word}" for word in words(page.url)),
            *(f"page {word}" for word in shown[:_SHOWN_WORDS]),
            *(f"told {word}" for word in words(status)),
            *(f"offers {word}" for it in page.usable[:3] for word in words(it.name)),
        ]

    @cached_property
    def _actions(self) -> list[str]:
        return _CALL.findall(self._page.history)

    @cached_property
    def _past(self) -> Counter[str]:
        return Counter(line.strip() for line in self._page.history.splitlines())

    @cached_property
    def _names_seen(self) -> Counter[str]:
        return Counter(it.name.lower() for it in self._page.usable)

    @cached_property
    def _words_seen(self) -> Counter[str]:
        return Counter(word for it in self._page.usable for word in words(it.name))

    @cached_property
    def _main(self) -> int:
        """Where the last heading stands."""
        return max(
            (at for at, it in enumerate(self._page.elements) if it.role == "heading"), default=-1
        )

    @cached_property
    def _headed(self) -> frozenset[str]:
        """The words of the title and the headings."""
        return words(" ".join(self._heads))

    @cached_property
    def _heads(self) -> list[str]:
        names = [it.name for it in self._page.elements if it.role in ("heading", "dialog")]
        title = re.search(r"^Title: (.*)$", self._page.page, re.MULTILINE)
        return [*names, title[1] if title else ""]

    @cached_property
    def _used(self) -> frozenset[str]:
        """The texts of the goal that a field or an earlier action has."""
        fields = " ".join(it.state for it in self._page.usable).lower()
        fields_and_history = f"{fields} {self._page.history.lower()}"
        return frozenset(it for it in self._wanted if f"'{it}'" in fields_and_history)

    @cached_property
    def _unused(self) -> list[str]:
        days = any(self._kinds[it] == "day" for it in self._used)
        return [
            it
            for it in self._wanted
            if it not in self._used
            and self._kinds[it] in _WRITTEN
            and not (days and self._kinds[it] == "day")
        ]

    @cached_property
    def _scores(self) -> dict[int, float]:
        total = len(self._page.usable) + 1
        return {
            id(it): sum(log(total / self._words_seen[word]) for word in words(it.name) & self._goal)
            / (1 + 0.1 * len(words(it.name) - self._goal))
            for it in self._page.usable
        }

    @cached_property
    def _ranked(self) -> list[float]:
        return sorted({it for it in self._scores.values() if it > 0}, reverse=True)

    def _rank(self, element: PageElement) -> str:
        """Return how an element's name fits the goal among those of its page."""
        score = self._scores.get(id(element), 0.0)
        return str(min(self._ranked.index(score), 3)) if score > 0 else "none"

    @cached_property
    def _focus(self) -> int:
        return next((at for at, it in enumerate(self._page.elements) if "focused" in it.state), -1)

    def _from_focus(self, place: int) -> str:
        """Return where an element stands, counted from the one with the focus."""
        if self._focus < 0:
            return "no focus"
        if place <= self._focus:
            return "focus" if place == self._focus else "before focus"
        between = [it for it in self._page.elements[self._focus + 1 : place] if it.id]
        fields = sum(it.role in _FIELDS for it in between)
        return f"behind focus {min(len(between), 3)} fields {min(fields, 2)}"

    @cached_property
    def _announced(self) -> dict[str, frozenset[str]]:
        """The words of the goal before each of its texts."""
        goal = self._page.goal.lower()
        return {
            it: words(goal[max(0, goal.find(it) - _BEFORE) : goal.find(it)])
            for it in self._wanted
            if it in goal
        }

    @cached_property
    def _shapes(self) -> frozenset[str]:
        return frozenset(_shape(it) for it in re.findall(r"[\d/:.-]{4,}", self._page.page))

    @cached_property
    def _verb(self) -> str:
        first = re.match(r"\W*(\w+)", self._page.goal.lower())
        return first[1] if first else ""

    @cached_property
    def _question(self) -> str:
        goal = self._page.goal.lower()
        asked = re.search(r"how (?:many|much|long)|what time|at what|which|where|who|what", goal)
        money = bool(re.search(r"cost|price|total|fee|pay|how much", goal))
        return f"{asked[0] if asked else ''} {money}"

    def _quoted(self, name: str) -> bool:
        low = name.lower()
        return any(
            len(it) > 3 and it in low for it in self._wanted if self._kinds[it] == "quotation"
        )


def features(page: PromptPage, some: Sequence[Candidate], buckets: int) -> list[list[int]]:
    """Return the features of each action."""
    described = PageFeatures(page, buckets)
    return [described.of(candidate) for candidate in some]


def _kind_of(text: str) -> str:
    if _MONEY.search(text):
        return "money"
    if _CLOCK.search(text):
        return "clock"
    if re.search(r"[A-Z]{2,}[-\d]|\d[A-Z]", text):
        return "code"
    return "number" if re.search(r"\d", text) else "words"


def _shape(text: str) -> str:
    return re.sub(r"\d", "9", text)


def _count(number: int) -> str:
    """Return a number's range."""
    return next((str(most) for most in _COUNTS if number <= most), "more") if number else "0"
