"""Classifies JSON values by their shape and their name.

It works on decoded values, since a response may have 100,000: only the chosen one is located in
the text.
"""

import re
from collections.abc import Callable
from datetime import date
from typing import Final, Literal

from warex.rewriting.json_body.spans import JsonData, Number, escape_pointer_step
from warex.text.lazy_pattern import lazy_re

type ValueKind = Literal["price", "date", "name", "number", "text", "user_text", "flag", "list"]

NUMBER: Final = lazy_re(r"-?[0-9]+(?:\.[0-9]+)?")
AMOUNT: Final = lazy_re(r"[0-9]+(?:[.,][0-9]+)*")
_DATE: Final = lazy_re(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_CURRENCY: Final = lazy_re(r"[$\u20ac\u00a3\u00a5\u20b9]|\b(?:USD|EUR|GBP|JPY|INR|CHF|CAD|AUD)\b")
_SAYS_PRICE: Final = lazy_re(r"price|cost|amount|fee|fare|balance", re.IGNORECASE)
_SAYS_NAME: Final = lazy_re(r"name|title|label|subject|author", re.IGNORECASE)
_SAYS_USER_TEXT: Final = lazy_re(
    r"review|comment|message|description|body|content|text|reply|feedback|note|bio|caption|summary",
    re.IGNORECASE,
)
_SAYS_ID: Final = lazy_re(r"^id$|_id$|[a-z]I[dD]$|uuid|timestamp|version", re.IGNORECASE)
_HOLDERS: Final = frozenset((dict, list))

type _Test = Callable[[JsonData], bool]


def find_pointers(kind: ValueKind, data: JsonData, pointer: str, most: int) -> list[str]:
    """Return the pointers to the values of a kind within a value, the outermost first.

    ``pointer`` is the value's own; about ``most`` values are checked. Items have the name of the
    member with their list. Of two members with one name the last counts.
    """
    tests: dict[str, _Test] = {}

    def of_name(name: str) -> _Test:
        if (test := tests.get(name)) is None:
            test = tests[name] = _test(kind, name)
        return test

    pointers = [pointer] if of_name("")(data) else []
    waiting = [(pointer, "", data)]
    for above, named, value in waiting:
        if isinstance(value, dict):
            most -= len(value)
            for key, child in value.items():
                if of_name(key)(child):
                    pointers.append(f"{above}/{escape_pointer_step(key)}")
                if type(child) in _HOLDERS:
                    waiting.append((f"{above}/{escape_pointer_step(key)}", key, child))
        elif isinstance(value, list):
            most -= len(value)
            fits = of_name(named)
            for index, child in enumerate(value):
                if fits(child):
                    pointers.append(f"{above}/{index}")
                if type(child) in _HOLDERS:
                    waiting.append((f"{above}/{index}", named, child))
        if most <= 0:
            break
    return pointers


def _test(kind: ValueKind, name: str) -> _Test:
    """Return the test whether a value with this name is of the kind."""
    match kind:
        case "list":
            return lambda value: isinstance(value, list)
        case "flag":
            return lambda value: isinstance(value, bool)
        case "text":
            return _is_text
        case "date":
            return _is_date
        case "number":
            return _is_number if not _SAYS_ID.search(name) else _never
        case "name":
            return _is_text if _SAYS_NAME.search(name) else _never
        case "user_text":
            return _is_text if _SAYS_USER_TEXT.search(name) else _never
        case "price":
            if _SAYS_PRICE.search(name):
                return _has_amount
            return _is_sum if "total" in name.lower() else _has_currency


def _never(value: JsonData) -> bool:
    return False


def _is_text(value: JsonData) -> bool:
    return type(value) is str and value != ""


def _is_date(value: JsonData) -> bool:
    return type(value) is str and date_in(value) is not None


def _is_number(value: JsonData) -> bool:
    return type(value) is Number and NUMBER.fullmatch(value) is not None


def _has_amount(value: JsonData) -> bool:
    """Whether it is a number, or a string with one."""
    return AMOUNT.search(value) is not None if type(value) is str else _is_number(value)


def _is_sum(value: JsonData) -> bool:
    """Whether a total is an amount of money: without decimals it counts things."""
    return _has_currency(value) or (isinstance(value, str) and "." in value and _has_amount(value))


def _has_currency(value: JsonData) -> bool:
    return type(value) is str and _CURRENCY.search(value) is not None and _has_amount(value)


def date_in(text: str) -> date | None:
    """Return the date at the beginning of a string (ISO 8601)."""
    match = _DATE.match(text)
    try:
        return date.fromisoformat(match[0]) if match else None
    except ValueError:
        return None
