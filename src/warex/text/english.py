"""English articles, plurals and suggestions for messages."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from warex.text.lazy_pattern import lazy_re

if TYPE_CHECKING:
    from pydantic import ValidationError

_SOUNDS_LIKE_A_VOWEL: Final = lazy_re(
    r"(?!(?:one\b|once|eu|u(?:ni[cfoqtvx]|s[aeiu]|rl|tf|dp|uid)))[aeiou]|ho(?:nest|nour|ur)|xhr",
    re.IGNORECASE,
)
LIKENESS: Final = 0.65
"""From which likeness (0-1, of difflib) a word may be a mistyped other one: less is a bad guess."""
_SPELLED_OUT: Final = lazy_re(r"[FHLMNRSX](?=[B-DF-HJ-NP-TV-Z\d])")
"""Letters whose names begin with a vowel, in words that are spelled out: HTML, not HAR."""


def with_article(noun: str) -> str:
    """Return the noun with its indefinite article, by how it sounds: *an image*, *a URL*."""
    vowel_sound = _SOUNDS_LIKE_A_VOWEL.match(noun) or _SPELLED_OUT.match(noun)
    return f"{'an' if vowel_sound else 'a'} {noun}"


def listing(words: Iterable[str], joint: str = "and") -> str:
    """Return ``a, b and c``; there must be at least one word."""
    *others, last = words
    return f"{', '.join(others)} {joint} {last}" if others else last


def nearest(word: str, words: Iterable[str], likeness: float = LIKENESS) -> str | None:
    """Return the most similar word, whatever its case; None below ``likeness`` (0-1)."""
    # Only a mistake needs it.
    from difflib import get_close_matches

    by_lower = {each.lower(): each for each in words}
    near = get_close_matches(word.lower(), by_lower, n=1, cutoff=likeness)
    return by_lower[near[0]] if near else None


def did_you_mean(word: str, words: Iterable[str], likeness: float = LIKENESS) -> str:
    """Return ``; did you mean '…'?`` for the nearest word, or "" if none is near enough."""
    near = nearest(word, words, likeness)
    return "" if near is None else f"; did you mean {near!r}?"


def count_noun(number: int, noun: str, plural: str | None = None) -> str:
    """Return ``1 trial``, ``0 trials``, ``1,200 trials``; pass an irregular ``plural``."""
    return f"{number:,} {of_number(number, noun, plural)}"


def of_number(number: float, noun: str, plural: str | None = None) -> str:
    """Return a noun for a number: ``trial`` for 1, otherwise ``plural`` or ``trials``."""
    return noun if number == 1 else plural or f"{noun}s"


def first_validation_error(error: "ValidationError") -> str:
    """Return pydantic's first error as "place: reason", or a sentence on another version."""
    errors = error.errors(include_url=False)
    for one in errors:
        if one["loc"] == ("schema_version",) and one["type"] == "literal_error":
            version, read = f"schema_version {one['input']!r:.40}", one["ctx"]["expected"]
            return f"another version of WAREX made it ({version}; this one reads {read})"
    first = errors[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]
