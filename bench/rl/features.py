"""Describes a legal action by words of the goal, its element, the page and the history.

They are fewer than the ranker's, with which a policy unlearnt one of the tasks (seed 1, rates 1 and
2).
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from warex.exports.prompt_page import PromptPage
from warex.training.ranking.candidates import Candidate

_WORD: Final = re.compile(r"[a-z]{2,}|\d+")
_CALL: Final = re.compile(r"^[^\n(\[]*?(\w+)[ \t]*[(\[]", re.MULTILINE)
_ID: Final = re.compile(r"\[\w+\]")
_QUOTED: Final = re.compile(r"(?<!\w)'([^'\n]+)'(?!\w)|\"([^\"\n]+)\"|“([^”\n]+)”")
_NUMBER: Final = re.compile(r"(?<![\w.])\d[\d.,:-]*\d|(?<![\w.])\d")
_SHOWN_WORDS: Final = 60
_COUNTS: Final = (1, 2, 3, 5, 8, 13, 21, 34)


class PageFeatures:
    """The features of a page's legal actions."""

    def __init__(self, page: PromptPage, buckets: int) -> None:
        self._page = page
        self._buckets = buckets
        self._goal = words(page.goal)
        self._wanted = [text.lower() for text in quotations_and_numbers(page.goal)]

    def of(self, candidate: Candidate) -> list[int]:
        """Return the buckets of an action's features."""
        names = dict.fromkeys(self._names(candidate))
        return sorted({zlib.crc32(name.encode()) % self._buckets for name in names})

    def _names(self, candidate: Candidate) -> Iterator[str]:
        action = candidate.template.text
        yield action
        for signal in self._signals:
            yield f"{action}|{signal}"
        yield f"{action}|done {_count(self._past[candidate.text])}"
        if candidate.element is not None:
            yield from self._of_element(candidate, action)

    def _of_element(self, candidate: Candidate, action: str) -> Iterator[str]:
        element = candidate.element
        if element is None:
            return
        name = element.name.lower()
        name_words = words(name)
        kind = f"{action}|{element.role}"
        both = name_words & self._goal
        yield kind
        yield f"{kind}|{element.state}"
        yield f"{kind}|shares {_count(len(both))} of {_count(len(name_words))}"
        yield f"shares {len(both)} of {len(name_words)}"
        yield f"{kind}|quoted {name in self._wanted}"
        yield f"in goal {name in self._page.goal.lower()}"
        yield f"{kind}|state wanted {any(it in element.state.lower() for it in self._wanted)}"
        yield f"{kind}|alike {_count(self._names_seen[name])}"
        for word in both:
            yield f"shares rare {_count(self._words_seen[word])}"
        for word in name_words:
            yield f"{action}|name {word}"

    @cached_property
    def _signals(self) -> list[str]:
        """What holds for the whole page."""
        page = self._page
        actions = _CALL.findall(page.history)
        again = 0
        for name in reversed(actions):
            if name != actions[-1]:
                break
            again += 1
        texts = [it.name for it in page.elements if not it.id] or [_ID.sub(" ", page.page)]
        shown = list(dict.fromkeys(_WORD.findall(" ".join(texts).lower())))
        usable = page.usable
        return [
            f"usable {_count(len(usable))}",
            f"lines {_count(len(page.elements))}",
            f"last {actions[-1] if actions else ''} {_count(again)}",
            f"steps {_count(len(actions))}",
            f"first {page.elements[0].role if page.elements else ''}",
            *(f"url {word}" for word in words(page.url)),
            *(f"page {word}" for word in shown[:_SHOWN_WORDS]),
            *(f"offers {word}" for it in usable[:3] for word in words(it.name)),
        ]

    @cached_property
    def _past(self) -> Counter[str]:
        return Counter(line.strip() for line in self._page.history.splitlines())

    @cached_property
    def _names_seen(self) -> Counter[str]:
        return Counter(it.name.lower() for it in self._page.usable)

    @cached_property
    def _words_seen(self) -> Counter[str]:
        return Counter(word for it in self._page.usable for word in words(it.name))


def words(text: str) -> set[str]:
    """Return a text's words in lower case, without the plural's s."""
    return {word.rstrip("s") or word for word in _WORD.findall(text.lower())}


def quotations_and_numbers(goal: str) -> list[str]:
    """Return what a goal quotes, and its numbers."""
    quoted = ["".join(filter(None, it.groups())) for it in _QUOTED.finditer(goal)]
    return list(dict.fromkeys([*quoted, *_NUMBER.findall(goal)]))


def features(page: PromptPage, some: Sequence[Candidate], buckets: int) -> list[list[int]]:
    """Return the features of each action."""
    described = PageFeatures(page, buckets)
    return [described.of(candidate) for candidate in some]


def _count(number: int) -> str:
    """Return a number's range."""
    return next((str(most) for most in _COUNTS if number <= most), "more") if number else "0"
