"""Changes JSON text in one place: all else stays as it was written, numbers and escapes included.

To parse and write anew would order, round and escape as Python likes, and a model's API, or its
cache of prompts, may tell the difference.
"""

import json
import re
from dataclasses import dataclass

from pydantic import JsonValue


def _number(text: str) -> int:
    """Read no number: what it is stays in the text, however long it is."""
    return 0


# Raw line breaks in texts are let be.
_DECODER = json.JSONDecoder(strict=False, parse_int=_number, parse_float=_number)
_SPACE = re.compile(r"[ \t\n\r]*")


@dataclass(frozen=True, slots=True)
class Span:
    """A value and where it stands in the text: from ``begin`` to before ``end``."""

    value: JsonValue
    """Every number in it is 0."""
    begin: int
    end: int


def root(text: str) -> Span:
    """Return the one value of a JSON text.

    Raises ValueError where it is none.
    """
    place = _at(text, 0)
    if _past_space(text, place.end) != len(text):
        raise ValueError("something follows the JSON value")
    return place


def member(text: str, parent: Span, name: str) -> Span | None:
    """Return an object's member; of several the last, as parsers do; None where it has none."""
    found = None
    at = _past_space(text, parent.begin + 1)
    while text[at] != "}":
        key = _at(text, at)
        value = _at(text, _past_space(text, key.end) + 1)
        if key.value == name:
            found = value
        at = _past_comma(text, value.end)
    return found


def items(text: str, parent: Span) -> list[Span]:
    """Return the items of an array."""
    found: list[Span] = []
    at = _past_space(text, parent.begin + 1)
    while text[at] != "]":
        found.append(_at(text, at))
        at = _past_comma(text, found[-1].end)
    return found


def insert_member(text: str, parent: Span, name: str, value: JsonValue) -> str:
    """Return the text with one more member at the beginning of an object."""
    comma = ", " if parent.value else ""
    at = parent.begin + 1
    return f"{text[:at]}{json.dumps(name)}: {json.dumps(value)}{comma}{text[at:]}"


def prepend_item(text: str, parent: Span, item: JsonValue) -> str:
    """Return the text with one more item at the beginning of an array."""
    comma = ", " if parent.value else ""
    at = parent.begin + 1
    return f"{text[:at]}{json.dumps(item)}{comma}{text[at:]}"


def append_item(text: str, parent: Span, item: JsonValue) -> str:
    """Return the text with one more item at the end of an array."""
    comma = ", " if parent.value else ""
    at = parent.end - 1
    return f"{text[:at]}{comma}{json.dumps(item)}{text[at:]}"


def append_to_string(text: str, string: Span, addition: str) -> str:
    """Return the text with an addition at the end of a string."""
    at = string.end - 1
    return f"{text[:at]}{json.dumps(addition)[1:-1]}{text[at:]}"


def replace(text: str, place: Span, value: JsonValue) -> str:
    """Return the text with another value in this place."""
    return f"{text[: place.begin]}{json.dumps(value)}{text[place.end :]}"


def _at(text: str, at: int) -> Span:
    begin = _past_space(text, at)
    value, end = _DECODER.raw_decode(text, begin)
    return Span(value, begin, end)


def _past_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _past_comma(text: str, at: int) -> int:
    at = _past_space(text, at)
    return _past_space(text, at + 1) if text[at] == "," else at
