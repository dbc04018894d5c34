"""Shortens long prompts by the last elements of the page that they show."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from warex.exports.chat import message_texts
from warex.exports.prompt_page import element_starts, page_spans
from warex.exports.rows import ChatMessage

_CUT: Final = "[…]\n"
"""Stands for what was cut."""
_LINE: Final = re.compile(r"^(?=[^\n])", re.MULTILINE)
_WORD: Final = re.compile(r"(?<=\s)(?=\S)")


@dataclass(frozen=True, slots=True)
class FittedMessages:
    """Messages that are short enough."""

    messages: list[ChatMessage]
    cut: int
    """Number of elements that were cut; of lines or words where the page has no elements."""


def fit_messages(
    messages: Sequence[ChatMessage], largest: int, needed: Sequence[str] = ()
) -> FittedMessages | None:
    """Return messages with at most ``largest`` characters of prompt; the last one is the answer.

    Whole elements are cut from the end of the longest text's page, lines where it has no elements;
    headings, goal, history, system messages and answers stay. ``needed`` are texts of the answer's
    action such as an element's id. None if one of them would be cut away, or if all of the page
    is not enough.
    """
    *prompt, answer = messages
    copied = [_copy(message) for message in prompt]
    excess = sum(map(len, message_texts(copied))) - largest
    if excess <= 0:
        return FittedMessages([*copied, answer], 0)
    places = _places(copied)
    if not places:
        return None
    holder, key = max(places, key=lambda place: len(place[0][place[1]]))
    text: str = holder[key]
    cut = _cut(text, excess)
    if cut is None:
        return None
    holder[key], number = cut
    if any(_holds(text, word) and not _holds(holder[key], word) for word in needed):
        return None
    return FittedMessages([*copied, answer], number)


def _cut(text: str, excess: int) -> tuple[str, int] | None:
    """Return a text without the last elements of its page, and their number; None if too few."""
    units = _units(text)
    last = units[-1][1] if units else 0
    removed = 0
    for number, (start, end) in enumerate(reversed(units), 1):
        removed += end - start
        if removed - len(_CUT) >= excess:
            remaining = units[: len(units) - number]
            head = text[: units[0][0]] + "".join(text[one:other] for one, other in remaining)
            return head + _CUT + text[last:].removeprefix(_CUT), number
    return None


def _units(text: str) -> list[tuple[int, int]]:
    """Return the offsets of what can be cut: the page's elements, or else its lines, or words.

    They follow each other: an element reaches to the next one, the last to the end of its line.
    """
    spans = page_spans(text)
    by_span = [[start + at for at in element_starts(text[start:end])] for start, end in spans]
    starts = max(by_span, key=len)
    if not starts:
        start, end = max(spans, key=lambda span: span[1] - span[0])
        lines, words = (
            [it.start() for it in pattern.finditer(text, start, end) if it.start() > start]
            for pattern in (_LINE, _WORD)
        )
        starts = lines or words
    if not starts:
        return []
    line_end = text.find("\n", starts[-1]) + 1 or len(text)
    return list(zip(starts, [*starts[1:], line_end], strict=True))


def _holds(text: str, word: str) -> bool:
    """Whether a text has a word, not as a part of another."""
    return bool(word) and bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text))


def _copy(message: Mapping[str, Any]) -> ChatMessage:
    content = message.get("content")
    copied = [dict(part) for part in content] if isinstance(content, list) else content
    return {**message, "content": copied}


def _places(messages: Sequence[ChatMessage]) -> list[tuple[dict[str, Any], str]]:
    """Return the location of each text that may show a page: its object, and the key."""
    places: list[tuple[dict[str, Any], str]] = []
    for message in messages:
        content = message.get("content")
        if message.get("role") in ("system", "assistant"):
            continue
        if isinstance(content, str):
            places.append((message, "content"))
        elif isinstance(content, list):
            places += [(part, "text") for part in content if isinstance(part.get("text"), str)]
    return places
