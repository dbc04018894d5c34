"""Tells the language of a text, by the same table as ``page_language.js`` does in a page."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, cast

from warex.rewriting.html_body.script_injection import language_table
from warex.text.lazy_pattern import lazy_re

_LEAST: Final = 4
"""Letters, or common words, below which no language is named."""
_CLEAR: Final = 1.5
"""How many times as often as any other language's words those of a text's language occur."""
_WORD: Final = lazy_re(r"[^\W\d_]+")


def language_of(text: str) -> str:
    """Return the language that a text is plainly in, as in HTML's ``lang``; empty for unknown."""
    letters = sum(map(str.isalpha, text))
    if letters < _LEAST:
        return ""
    for language, shape, share in _letters():
        if len(shape.findall(text)) >= share * letters:
            return language
    used = _WORD.findall(text.lower())
    counts = {language: sum(word in words for word in used) for language, words in _words().items()}
    first, second = sorted(counts, key=lambda language: -counts[language])[:2]
    is_clear = counts[first] >= _LEAST and counts[first] > _CLEAR * counts[second]
    return first if is_clear else ""


@cache
def _letters() -> tuple[tuple[str, re.Pattern[str], float], ...]:
    table = cast("list[tuple[str, str, float]]", language_table()["letters"])
    return tuple((language, re.compile(f"[{span}]"), share) for language, span, share in table)


@cache
def _words() -> Mapping[str, frozenset[str]]:
    table = cast("dict[str, str]", language_table()["words"])
    return {language: frozenset(words.split()) for language, words in table.items()}
