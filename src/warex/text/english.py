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


def did_you_mean(word: str, words: Iterable[str], likeness: float = 0.6) -> str:
    """Return ``; did you mean '…'?`` for the most similar word, or "" below ``likeness`` (0-1)."""
    # Only a mistake needs it.
    from difflib import get_close_matches

    near = get_close_matches(word, list(words), n=1, cutoff=likeness)
    return f"; did you mean {near[0]!r}?" if near else ""


def count_noun(number: int, noun: str, plural: str | None = None) -> str:
    """Return ``1 trial``, ``0 trials``, ``1,200 trials``; pass an irregular ``plural``."""
    return f"{number:,} {of_number(number, noun, plural)}"


def of_number(number: float, noun: str, plural: str | None = None) -> str:
    """Return a noun for a number: ``trial`` for 1, otherwise ``plural`` or ``trials``."""
    return noun if number == 1 else plural or f"{noun}s"


def first_validation_error(error: "ValidationError") -> str:
    """Return pydantic's first error as "place: reason"."""
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" if place else first["msg"]
