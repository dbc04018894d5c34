"""Reads JSON of uncertain shape: values of a wrong type become empty."""

from typing import Final, Literal

from pydantic import JsonValue
from pydantic_core import from_json

from warex.text.lazy_pattern import lazy_re

_MOST: Final = 10**12
_NEVER: Final = -(10**15)
_SURROGATES = lazy_re(
    rb"(\\[^u]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""Valid escapes (group 1), or half a surrogate pair."""
_HALF: Final = lazy_re(rb"\\u[dD][89a-fA-F]")
_MOST_VALUES: Final = 300_000
"""Objects, arrays and keys that are read, for which others wait some 50 ms."""
_FEW: Final = 512 * 1024
"""Bytes that do not have so many."""
TOO_MANY_VALUES: Final = f"its JSON has more than {_MOST_VALUES:,} objects, arrays and keys"


def parse_json(body: bytes, *, cut: bool = False) -> JsonValue:
    """Return the JSON in ``body``; with ``cut``, the part that is there.

    Half a surrogate pair, as agents in JavaScript send, becomes U+FFFD. Raises ValueError if it is
    not JSON, nested deeper than 200 levels, or has too many values: others would wait for it.
    """
    if has_too_many_values(body):
        raise ValueError(TOO_MANY_VALUES)
    partial: Literal["trailing-strings", "off"] = "trailing-strings" if cut else "off"
    try:
        value: JsonValue = from_json(body, allow_inf_nan=False, allow_partial=partial)
    except ValueError:
        if not _HALF.search(body):
            raise
        repaired = _SURROGATES.sub(lambda match: match[1] or rb"\ufffd", body)
        value = from_json(repaired, allow_inf_nan=False, allow_partial=partial)
    return value


def has_too_many_values(body: bytes) -> bool:
    """Whether JSON has more values than are read, at most; brackets in texts count, too."""
    if len(body) < _FEW:
        return False
    opened = body.count(b"{") + body.count(b"[")
    keys = body.count(b'":') - body.count(b'\\":')
    # Other values are read much faster.
    return opened + keys + body.count(b",") // 8 > _MOST_VALUES


def parse_object(body: bytes) -> dict[str, JsonValue]:
    """Return the JSON object in ``body``; empty if there is none."""
    try:
        return as_dict(parse_json(body))
    except ValueError:
        return {}


def parse_first_object(body: bytes) -> dict[str, JsonValue]:
    """Return the JSON object in ``body``, alone or the first of an array; empty for none."""
    try:
        sent = parse_json(body)
    except ValueError:
        return {}
    return as_dict(sent[0] if isinstance(sent, list) and sent else sent)


def as_dict(value: JsonValue) -> dict[str, JsonValue]:
    """Return an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: JsonValue) -> list[JsonValue]:
    """Return an array, or an empty one."""
    return value if isinstance(value, list) else []


def as_number(value: JsonValue) -> float | None:
    """Return a number, or None."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def as_text(value: JsonValue) -> str:
    """Return a string, or an empty one."""
    return value if isinstance(value, str) else ""


def as_tokens(value: JsonValue) -> int:
    """Return a number of tokens; 0 if missing.

    An impossible number becomes one so low that any sum with it is negative.
    """
    if value is None:
        return 0
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return _NEVER
    return value if 0 <= value <= _MOST else _NEVER


def as_count(value: JsonValue) -> int:
    """Return a positive integer up to 10^12, or 0."""
    return value if type(value) is int and 0 < value <= _MOST else 0
