"""Reads words of a model in many languages: trouble, another try, failure, success.

``languages.toml`` has the words and their source.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any, Final, Literal

type Meaning = Literal["trouble", "denied", "retry", "failure", "but", "success"]

_PARTS: Final = {"~": r"\w*", "_": r"(?:[\w'\u2019-]{1,30},? ){0,6}"}
"""The rest of a word, and the words in between, as ``languages.toml`` writes them."""
_LANGUAGES: Final[Mapping[str, Mapping[str, Any]]] = tomllib.loads(
    resources.files(__name__).joinpath("languages.toml").read_text("utf-8")
)
_DURATIONS: Final = re.compile(
    r"\w\([ \t]*\d+[ \t]*\)|,[ \t]*\d+[ \t]*\)|\b\d+[ \t]?(?:ms|milliseconds?)\b"
    r"|(?:timeout|sleep|wait|delay|duration|interval|ms)\w{0,20}\\?[\"']?[ \t]*[:=][ \t]*\d+"
)
"""Numbers of code that count time, as in ``sleep(500)``: no status."""
_MOST: Final = 4_000
"""Characters that are read at the beginning and the end of a text."""
KNOWN_LANGUAGES: Final = tuple(_LANGUAGES)
"""By ISO 639-1."""


def _alternatives(language: Mapping[str, Any], meaning: Meaning) -> str:
    alternatives = "|".join(language.get(meaning, ("(?!)",)))
    for sign, pattern in _PARTS.items():
        alternatives = alternatives.replace(sign, pattern)
    return rf"\b(?:{alternatives})(?!\w)" if language["words"] else f"(?:{alternatives})"


@lru_cache
def _pattern(meaning: Meaning) -> re.Pattern[str]:
    every = (_alternatives(language, meaning) for language in _LANGUAGES.values())
    return re.compile("|".join(every))


def _prepared(text: str) -> str:
    """Return a text in lower case, without its middle if it is long.

    Patterns that ignore case are many times slower.
    """
    shortened = text if len(text) <= 2 * _MOST else f"{text[:_MOST]}\n{text[-_MOST:]}"
    return shortened.lower()


@lru_cache(maxsize=4096)
def trouble_in(text: str) -> frozenset[str]:
    """Return the words that describe something that does not work, in lower case."""
    trouble, prepared = _pattern("trouble"), _DURATIONS.sub(" ", _prepared(text))
    if not trouble.search(prepared):
        return frozenset()
    return frozenset(one[0] for one in trouble.finditer(_pattern("denied").sub(" ", prepared)))


def speaks_of_retrying(text: str) -> bool:
    """Whether a text speaks of doing something once more."""
    return bool(_pattern("retry").search(_prepared(text)))


def admits_failure(text: str) -> bool:
    """Whether an answer admits that something could not be done.

    What it says last, after *but*, counts if it claims something: ``it failed at first, but …``.
    """
    failure = _pattern("failure")
    prepared = _pattern("denied").sub(" ", _prepared(text))
    last = _pattern("but").split(prepared)[-1]
    if last != prepared and claims_done(last):
        return bool(failure.search(last))
    return bool(failure.search(prepared))


def claims_done(text: str) -> bool:
    """Whether an answer says in so many words that something was done."""
    return bool(_pattern("success").search(_prepared(text)))
