"""Changes JSON text in one place; all else stays as written, including numbers and escapes.

Parsing and serialising again would change bytes, and an LLM API or its prompt cache may notice.
"""

import json

from msgspec import Struct
from pydantic import JsonValue

from warex.text.lazy_pattern import lazy_re


def _number(text: str) -> int:
    """Skip a number, however long it is."""
    return 0


# Not strict: raw line breaks in strings are accepted.
_DECODER = json.JSONDecoder(strict=False, parse_int=_number, parse_float=_number)
_SPACE = lazy_re(r"[ \t\n\r]*")


class Span(Struct, frozen=True):
    """A value and its place in the text: from ``begin`` to before ``end``."""

    value: JsonValue
    """Every number in it is 0."""
    begin: int
    end: int


def root(text: str) -> Span:
    """Return the value of a JSON text. Raises ValueError if it is not JSON."""
    place = _value_at(text, 0)
    if _past_space(text, place.end) != len(text):
        raise ValueError("something follows the JSON value")
    return place


def member(text: str, parent: Span, name: str) -> Span | None:
    """Return an object's member, or None; of several with one name the last, as parsers do."""
    last = None
    at = _past_space(text, parent.begin + 1)
    while text[at] != "}":
        key = _value_at(text, at)
        value = _value_at(text, _past_space(text, key.end) + 1)
        if key.value == name:
            last = value
        at = _past_comma(text, value.end)
    return last


def items(text: str, parent: Span) -> list[Span]:
    """Return the items of an array."""
    spans: list[Span] = []
    at = _past_space(text, parent.begin + 1)
    while text[at] != "]":
        spans.append(_value_at(text, at))
        at = _past_comma(text, spans[-1].end)
    return spans


def insert_member(text: str, parent: Span, name: str, value: JsonValue) -> str:
    """Return the text with a member inserted at the beginning of an object."""
    comma = ", " if parent.value else ""
    at = parent.begin + 1
    return f"{text[:at]}{json.dumps(name)}: {json.dumps(value)}{comma}{text[at:]}"


def prepend_item(text: str, parent: Span, item: JsonValue) -> str:
    """Return the text with an item inserted at the beginning of an array."""
    comma = ", " if parent.value else ""
    at = parent.begin + 1
    return f"{text[:at]}{json.dumps(item)}{comma}{text[at:]}"


def append_item(text: str, parent: Span, item: JsonValue) -> str:
    """Return the text with an item appended to an array."""
    comma = ", " if parent.value else ""
    at = parent.end - 1
    return f"{text[:at]}{comma}{json.dumps(item)}{text[at:]}"


def append_to_string(text: str, string: Span, addition: str) -> str:
    """Return the text with an addition appended to a string."""
    at = string.end - 1
    return f"{text[:at]}{json.dumps(addition)[1:-1]}{text[at:]}"


def replace(text: str, place: Span, value: JsonValue) -> str:
    """Return the text with the value at a place replaced."""
    return f"{text[: place.begin]}{json.dumps(value)}{text[place.end :]}"


def _value_at(text: str, at: int) -> Span:
    begin = _past_space(text, at)
    value, end = _DECODER.raw_decode(text, begin)
    return Span(value, begin, end)


def _past_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _past_comma(text: str, at: int) -> int:
    at = _past_space(text, at)
    return _past_space(text, at + 1) if text[at] == "," else at
