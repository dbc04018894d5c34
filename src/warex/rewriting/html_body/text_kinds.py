"""Finds prices, dates, names and numbers in the text of a page, and replaces them.

The text is not decoded (``HtmlStream``): a character beyond ASCII is one to four characters here.
A number or name that touches one is not matched.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, Literal

from warex.rewriting.json_body.value_changes import next_amount
from warex.seeds import KeyedRng
from warex.text.regex import Regex

type TextKind = Literal["price", "date", "name", "number"]

_AMOUNT: Final = r"[0-9]+(?:[.,][0-9]+)*"
_SPACE: Final = r"(?:[ \xa0]|\xc2\xa0|&nbsp;)?"
_SIGNS: Final = "\u20ac\xa3\xa5\u20b9\u20a9\u20bd\u20ba\u20aa\u20ab\u20b4\u0e3f\u5186\u5143"
_CODES: Final = "USD|EUR|GBP|JPY|CHF|CAD|AUD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|INR|KRW|CNY|ILS|TRY"
_WRITTEN: Final = "|".join(re.escape(sign.encode().decode("latin-1")) for sign in _SIGNS)
"""Signs as the bytes of UTF-8."""
_CURRENCY: Final = (
    rf"(?:\$|&#36;|&dollar;|&euro;|&pound;|&yen;|{_CODES}|{_WRITTEN}|[{_SIGNS}]"
    r"|\bkr\b|z\u0142|z\xc5\x82|K\u010d|K\xc4\x8d)"
)
_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_ALONE: Final = r"(?<![\w.,&#/:$%\-\x80-\U0010ffff])"
_ENDS: Final = r"(?![\w/:%\-;\x80-\U0010ffff])"
_PATTERNS: Final[Mapping[TextKind, str]] = {
    "price": rf"{_CURRENCY}{_SPACE}(?P<a>{_AMOUNT})|{_ALONE}(?P<b>{_AMOUNT}){_SPACE}{_CURRENCY}",
    "date": (
        rf"{_ALONE}(?:(?P<y>[0-9]{{4}}-[0-9]{{2}}-)(?P<a>[0-9]{{2}})(?![0-9])"
        rf"|(?P<b>[0-9]{{1,2}})(?:st|nd|rd|th)?\.? {_MONTH}\b"
        rf"|{_MONTH}\.? (?P<c>[0-9]{{1,2}})(?![0-9])"
        r"|(?P<d>[0-9]{1,2})/(?P<e>[0-9]{1,2})/[0-9]{2,4}(?![0-9/]))"
    ),
    "name": r"(?<![\w\x80-\U0010ffff])(?:[A-Z][a-z]+ )+(?P<a>[A-Z][a-z]+)(?![\w\x80-\U0010ffff])",
    "number": rf"{_ALONE}(?P<a>{_AMOUNT}){_ENDS}",
}
_NAMES: Final = ("Miller", "Novak", "Tanaka", "Okafor", "Silva", "Larsen", "Haddad", "Moreau")
_MAY_HAVE: Final[Mapping[TextKind, str]] = {
    "price": rf"{_CURRENCY}{_SPACE}[0-9]|[0-9]{_SPACE}{_CURRENCY}",
    "date": rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]|{_MONTH}|[0-9]/[0-9]",
    "name": "[A-Z][a-z]+ [A-Z][a-z]",
    "number": "[0-9]",
}
"""Every value of a kind contains a match of these, which are fast to search."""


@cache
def _pattern(kind: TextKind) -> re.Pattern[str]:
    """Return the pattern of a kind; compiled late, since that takes long and is rarely needed."""
    return re.compile(_PATTERNS[kind])


@cache
def _quick(kind: TextKind) -> Regex:
    return Regex(_MAY_HAVE[kind])


def may_have(kind: TextKind, source: str) -> bool:
    """Whether a page's source may contain a value of a kind; False is certain."""
    return _quick(kind).matches(source)


def matches_of(kind: TextKind, text: str) -> list[re.Match[str]]:
    """Return the matches of a kind in a text."""
    return list(_pattern(kind).finditer(text))


def other(kind: TextKind, match: re.Match[str], rng: KeyedRng) -> str:
    """Return a match with its changed part; ``rng`` chooses a name."""
    start, end, put = replacement(kind, match, rng)
    return f"{match.string[match.start() : start]}{put}{match.string[end : match.end()]}"


def replacement(kind: TextKind, match: re.Match[str], rng: KeyedRng) -> tuple[int, int, str]:
    """Return where the part of a match that changes begins and ends, and what it becomes."""
    if kind == "date" and match["d"]:
        # Day and month may come in either order: a number above 12 is the day.
        group = "d" if int(match["d"]) > 12 else "e"
    else:
        group = next(
            name for name, group_text in match.groupdict().items() if group_text and name != "y"
        )
    return match.start(group), match.end(group), _changed(kind, match[group], rng)


def _changed(kind: TextKind, value: str, rng: KeyedRng) -> str:
    match kind:
        case "price" | "number":
            return next_amount(value)
        case "name":
            return rng.choice([each for each in _NAMES if each != value], "name", value)
        case "date":
            # The next day; for a 12, or from 28 on, the day before.
            day = int(value)
            return f"{day - 1 if day == 12 or day >= 28 else day + 1:0{len(value)}d}"
