"""The texts of a goal that an action may write: quotations, names, numbers, times, dates."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Final

MOST: Final = 24
"""Texts of one goal."""
_MOST_CHARACTERS: Final = 4000
_SHORT: Final = 200
"""Characters of a text whose words are remembered."""
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_NUMBERS: Final = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_MONTH: Final = "|".join(it.title() for it in _MONTHS)
_WEEKDAY: Final = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
_KINDS: Final = {
    "quotation": r"(?<!\w)'(?:[^'\n]|(?<=\w)'(?=\w))+'(?!\w)|\"[^\"\n]+\"|“[^”\n]+”",
    "address": r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    "day": rf"(?i:(?:\b(?:{_WEEKDAY}),? )?\b\d{{1,2}} (?:{_MONTH}) \d{{4}}\b"
    rf"|\b(?:{_MONTH}) \d{{1,2}}, \d{{4}}\b)",
    "iso": r"\b\d{4}-\d\d-\d\d\b",
    "time": r"\b\d{1,2}:\d\d(?: ?[AaPp]\.?[Mm]\b)?|\b\d{1,2} ?[AaPp][Mm]\b",
    "code": r"\b(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Z][\w-]*[\w]\b",
    "file": r"\b[\w-]+\.(?:pdf|txt|png|jpg|csv|docx?|xlsx?)\b",
    "number": r"(?<![\w.])\d[\d.,:-]*\d\b|(?<![\w.])\d\b",
    "weekday": rf"\b(?:{_WEEKDAY})\b(?: \d{{1,2}}(?: (?:{_MONTH}))?)?",
    "name": r"(?<![.!?] )(?<!^)\b[A-Z][\w&-]*(?: (?:[A-Z][\w&-]*|\d+))*",
    "count": rf"(?i:\b(?:{'|'.join(_NUMBERS[1:])})\b)",
}
_TEXT: Final = re.compile(
    "|".join(f"(?P<{name}>{it})" for name, it in _KINDS.items()), re.MULTILINE
)
_QUOTATION: Final = re.compile(_KINDS["quotation"])
_REST: Final = re.compile(r"(?<=: )[^'\"“\n]+$")
_DAY: Final = re.compile(
    rf"(?i:(\d{{1,2}}) ({_MONTH}) (\d{{4}})|({_MONTH}) (\d{{1,2}}), (\d{{4}}))"
)
_WORD: Final = re.compile(r"[a-z]{2,}|\d+")
_LONGER: Final = re.compile(r"[^\W\d_]{4,}(?:-[^\W\d_]+)*")
_STEM: Final = 6
_STOP_WORD: Final = re.compile(
    r"a|an|and|any|are|as|at|be|but|by|can|do|does|for|from|has|have|how|in|into|is|it|"
    r"its|of|off|on|one|or|out|so|than|that|the|their|them|then|there|these|they|this|"
    r"those|to|up|was|were|what|when|where|which|who|will|with|you|your|not|no|only|all"
)
"""Matches words that say nothing about what a goal wants."""
_QUESTION: Final = re.compile(
    r"\?|\banswer with\b|^(?:what|where|which|who|when|how|at what|in which|tell|find out)\b", re.I
)


def asks(goal: str) -> bool:
    """Whether a goal asks for an answer."""
    text = _QUOTATION.sub("", goal[:_MOST_CHARACTERS])
    return _QUESTION.search(text) is not None


def goal_texts(goal: str) -> Mapping[str, str]:
    """Return what a goal may want written, in its order, with the kind of each text.

    A day stands in the forms in which fields want it. Only the first 4,000 characters of a goal
    are read.
    """
    return _kinds(goal[:_MOST_CHARACTERS])


def goal_words(goal: str) -> tuple[str, ...]:
    """Return the words of a goal that a search may look for."""
    longer = dict.fromkeys(_LONGER.findall(goal[:_MOST_CHARACTERS]))
    return tuple(it for it in longer if not _STOP_WORD.fullmatch(it.lower()))[:MOST]


def words(text: str) -> frozenset[str]:
    """Return a text's words in lower case, without stop words, cut to their first letters."""
    return _words(text) if len(text) <= _SHORT else _words.__wrapped__(text)


@lru_cache(maxsize=16384)
def _words(text: str) -> frozenset[str]:
    return frozenset(
        word.removesuffix("s")[:_STEM]
        for word in _WORD.findall(text.lower())
        if not _STOP_WORD.fullmatch(word)
    )


@lru_cache(maxsize=256)
def _kinds(goal: str) -> Mapping[str, str]:
    kinds: dict[str, str] = {}
    for text, kind in islice(_texts(goal.strip()), 4 * MOST):
        kinds.setdefault(text, kind)
    return MappingProxyType(dict(islice(kinds.items(), MOST)))


def _texts(goal: str) -> Iterator[tuple[str, str]]:
    """Yield each text of a goal with its kind."""
    for match in _TEXT.finditer(goal):
        kind, text = match.lastgroup or "", match[0].strip()
        if kind == "quotation":
            yield text[1:-1], "sentence" if len(text.split()) > 4 else "quotation"
        elif kind == "day":
            yield from ((it, "day") for it in _as_forms_write(text))
        elif kind == "count":
            yield str(_NUMBERS.index(text.lower())), "number"
        else:
            yield text, "day" if kind == "iso" else kind
    if rest := _REST.search(goal):
        yield rest[0], "sentence"


def _as_forms_write(day: str) -> Iterator[str]:
    match = _DAY.search(day)
    assert match is not None
    number, month, year = (match[1], match[2], match[3]) if match[1] else match.group(5, 4, 6)
    try:
        it = date(int(year), _MONTHS.index(month.lower()) + 1, int(number))
    except ValueError:
        return
    yield it.isoformat()
    yield it.strftime("%m/%d/%Y")
