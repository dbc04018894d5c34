"""What pages in place of a site's own, and what is added to pages, say in the site's language."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

_DEFAULT: Final = "en"
_RIGHT_TO_LEFT: Final = frozenset(("ar", "he"))


@cache
def _additions() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    text = (files(__package__) / "additions.json").read_text(encoding="utf-8")
    return {
        key: {language: tuple(texts) for language, texts in by_language.items()}
        for key, by_language in json.loads(text).items()
    }


def in_languages(key: str, **english: str | None) -> Mapping[str, Mapping[str, str]]:
    """Return the texts of what is added to a page, by language and name.

    ``english`` has them in English, in the order of the table; one that is None is left out.
    """
    translations = {
        language: {
            name: text
            for name, text in zip(english, texts, strict=True)
            if english[name] is not None
        }
        for language, texts in _additions()[key].items()
    }
    return {
        "en": {name: text for name, text in english.items() if text is not None},
        **translations,
    }


def texts_in(texts: Mapping[str, Mapping[str, str]], language: str) -> Mapping[str, str]:
    """Return the texts in a language, English if there are none."""
    return texts.get(language, texts["en"])


@cache
def _wordings() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    text = (files(__package__) / "wording.json").read_text(encoding="utf-8")
    return {
        language: {key: tuple(options) for key, options in by_key.items()}
        for language, by_key in json.loads(text).items()
    }


def languages() -> tuple[str, ...]:
    """Return the languages that are spoken, as in HTML's ``lang``."""
    return tuple(_wordings())


def choose_language(*wanted: str) -> str:
    """Return the first of the wanted languages that is spoken, without its region; else English."""
    plain = (it.strip().partition(";")[0].partition("-")[0].lower() for it in wanted)
    return next((it for it in plain if it in _wordings()), _DEFAULT)


def options(language: str, key: str) -> tuple[str, ...]:
    """Return the ways to say something in a language that is spoken."""
    return _wordings()[language][key]


def direction(language: str) -> str:
    """Return the direction of a language's text, as in HTML's ``dir``."""
    return "rtl" if language in _RIGHT_TO_LEFT else "ltr"
