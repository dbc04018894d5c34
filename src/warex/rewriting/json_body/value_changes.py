"""Changes of a value in JSON to another plausible one.

Each change maps a value to replacements in the text; none if it does not apply.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal, localcontext
from typing import Final, Literal

from msgspec import Struct

from warex.rewriting.base import ValueChange
from warex.rewriting.json_body.spans import JsonSpan, decode_scalar
from warex.rewriting.json_body.value_kinds import AMOUNT, NUMBER, date_in
from warex.seeds import KeyedRng
from warex.text.lazy_pattern import lazy_re

type ValueChangeKind = Literal[
    "nulled",
    "other_type",
    "removed",
    "truncated",
    "off_by_one",
    "swapped",
    "other_unit",
    "emptied",
    "halved",
    "replaced",
]

_LONGEST_NUMBER: Final = 40
_UNITS: Final = {
    "$": "\u20ac", "\u20ac": "$", "\u00a3": "$", "\u00a5": "$", "\u20b9": "$",
    "USD": "EUR", "EUR": "USD", "GBP": "USD", "JPY": "USD", "INR": "USD",
    "CHF": "USD", "CAD": "USD", "AUD": "USD",
    "km": "mi", "mi": "km", "kg": "lb", "lb": "kg", "cm": "in", "in": "cm", "m": "ft", "ft": "m",
    "g": "oz", "oz": "g", "C": "F", "F": "C", "celsius": "fahrenheit", "fahrenheit": "celsius",
    "metric": "imperial", "imperial": "metric",
}  # fmt: skip
_UNIT: Final = lazy_re(
    r"(?<![A-Za-z])(?:USD|EUR|GBP|JPY|INR|CHF|CAD|AUD|celsius|fahrenheit|metric|imperial"
    r"|km|kg|cm|mi|lb|in|ft|oz|m|g|C|F)(?![A-Za-z])|[$\u20ac\u00a3\u00a5\u20b9]"
)
_SAYS_UNIT: Final = lazy_re(r"currency|unit", re.IGNORECASE)
_SAYS_COUNT: Final = lazy_re(r"total|count|length|size|hits|num|results", re.IGNORECASE)


class TextReplacement(Struct, frozen=True):
    """A replacement of a part of the text, and the changes that it makes."""

    begin: int
    end: int
    replacement: str
    changes: tuple[ValueChange, ...] = ()


def replacements(
    how: ValueChangeKind, value: JsonSpan, rng: KeyedRng, text: str = ""
) -> tuple[TextReplacement, ...]:
    """Return the replacements that change a value; none if the change does not apply.

    ``rng`` chooses the other record for ``swapped``; ``text`` is the value for ``replaced``.
    """
    if how == "replaced":
        return (_put(value, json.dumps(text)),)
    if how == "swapped":
        return _swapped(value, rng)
    if how == "removed":
        return _removed(value)
    if how in ("emptied", "halved"):
        return _shortened(value, every=2 if how == "halved" else 0)
    if how == "other_unit":
        value = _with_unit(value)
    put = _CHANGES[how](value.raw)
    return () if put is None or put == value.raw else (_put(value, put),)


def apply_replacements(text: str, made: Sequence[TextReplacement]) -> str:
    """Return the text with the sorted replacements applied."""
    out, at = [], 0
    for piece in made:
        out += [text[at : piece.begin], piece.replacement]
        at = piece.end
    return "".join((*out, text[at:]))


def _put(value: JsonSpan, put: str) -> TextReplacement:
    change = ValueChange(value.pointer, decode_scalar(value.raw), decode_scalar(put))
    return TextReplacement(value.begin, value.end, put, (change,))


def _removal(value: JsonSpan, begin: int, end: int) -> TextReplacement:
    change = ValueChange(value.pointer, decode_scalar(value.raw), None)
    return TextReplacement(begin, end, "", (change,))


def _other_type(raw: str) -> str | None:
    if raw == "null":
        return '""'
    if raw[0] in '"{[':
        return f"[{raw}]"
    return f'"{raw}"'


def _truncated(raw: str) -> str | None:
    """Return the first half of a string, or a number without the last digit before its point."""
    if raw.startswith('"'):
        text = decode_scalar(raw)
        return json.dumps(text[: len(text) // 2]) if len(text) > 1 else None
    integer, point, rest = raw.partition(".")
    if not NUMBER.fullmatch(raw) or len(integer.lstrip("-")) < 2:
        return None
    return f"{integer[:-1]}{point}{rest}"


def _off_by_one(raw: str) -> str | None:
    """Return the next number, the next day, or the other boolean."""
    if raw in ("true", "false"):
        return "false" if raw == "true" else "true"
    if NUMBER.fullmatch(raw):
        return _next_number(raw)
    if not raw.startswith('"'):
        return None
    text = decode_scalar(raw)
    if (day := date_in(text)) is not None:
        return json.dumps(f"{_next_day(day).isoformat()}{text[10:]}")
    amount = AMOUNT.search(text)
    if amount is None:
        return None
    put = next_amount(amount[0])
    return json.dumps(f"{text[: amount.start()]}{put}{text[amount.end() :]}")


def _next_number(raw: str) -> str | None:
    if len(raw) > _LONGEST_NUMBER:
        return None
    with localcontext(prec=2 * _LONGEST_NUMBER):
        return f"{Decimal(raw) + 1:f}"


def next_amount(amount: str) -> str:
    """Return an amount with the last digit before the decimal point raised by one; 9 becomes 8.

    The decimal point is a comma or point before the last one or two digits.
    """
    decimals = re.search(r"[.,][0-9]{1,2}$", amount)
    at = (decimals.start() if decimals else len(amount)) - 1
    digit = int(amount[at])
    return f"{amount[:at]}{digit + 1 if digit < 9 else 8}{amount[at + 1 :]}"


def _next_day(day: date) -> date:
    return day + timedelta(1) if day < date.max else day - timedelta(1)


def _other_unit(raw: str) -> str | None:
    if not raw.startswith('"'):
        return None
    text = decode_scalar(raw)
    unit = _UNIT.search(text)
    if unit is None:
        return None
    return json.dumps(f"{text[: unit.start()]}{_UNITS[unit[0]]}{text[unit.end() :]}")


def _with_unit(value: JsonSpan) -> JsonSpan:
    """Return the sibling with the unit of a number; without one, the value itself."""
    if value.raw.startswith('"') or value.parent is None:
        return value
    siblings = value.parent.children
    return next((each for each in siblings if _SAYS_UNIT.search(str(each.step))), value)


def _removed(value: JsonSpan) -> tuple[TextReplacement, ...]:
    parent = value.parent
    if parent is None:
        return ()
    at = next(place for place, each in enumerate(parent.children) if each is value)
    # One comma is removed with it.
    begin = parent.children[at - 1].end if at else value.outer
    end = value.end if at or len(parent.children) == 1 else parent.children[1].outer
    return (_removal(value, begin, end),)


def _swapped(value: JsonSpan, rng: KeyedRng) -> tuple[TextReplacement, ...]:
    """Exchange a value with the one of another record in the same list."""
    steps: list[str] = []
    at = value
    while at.parent is not None and not isinstance(at.step, int):
        steps.append(str(at.step))
        at = at.parent
    if at.parent is None:
        return ()
    others: list[JsonSpan] = []
    for record in at.parent.children:
        other: JsonSpan | None = record
        for step in reversed(steps):
            other = other and other.child(step)
        if other is not None and other.raw != value.raw:
            others.append(other)
    if not others:
        return ()
    other = rng.choice(others, "swapped", value.pointer)
    return _put(value, other.raw), _put(other, value.raw)


def _shortened(value: JsonSpan, every: int) -> tuple[TextReplacement, ...]:
    """Remove every n-th item of a list, or all if 0, and adjust the counts beside it."""
    items = value.children
    if value.text[value.begin] != "[" or not items:
        return ()
    removed = [at for at in range(len(items)) if not every or (at + 1) % every == 0]
    if not removed:
        return ()
    counts = _counts(value, len(items) - len(removed))
    # If the first item stays, each removed one has a comma before it.
    out = [_removal(items[at], items[at - 1].end, items[at].end) for at in removed]
    if len(removed) == len(items):
        changes = tuple(change for each in out for change in each.changes)
        return TextReplacement(value.begin, value.end, "[]", changes), *counts
    return *out, *counts


def _counts(value: JsonSpan, number: int) -> list[TextReplacement]:
    """Change the numbers beside a list that count its items."""
    return [
        _put(each, str(number))
        for each in (value.parent.children if value.parent is not None else ())
        if isinstance(each.step, str)
        and _SAYS_COUNT.search(each.step)
        and each.raw.isdecimal()
        and (not number or each.raw == str(len(value.children)))
        and each.raw != str(number)
    ]


_CHANGES: Final[Mapping[str, Callable[[str], str | None]]] = {
    "nulled": lambda raw: "null",
    "other_type": _other_type,
    "truncated": _truncated,
    "off_by_one": _off_by_one,
    "other_unit": _other_unit,
}
