"""Reading JSON that may lack the promised shape: wrong types read as nothing."""

import re
from typing import Literal

from pydantic import JsonValue
from pydantic_core import from_json

_SURROGATES = re.compile(
    rb"(\\[^u]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""Escapes that stand for themselves (group 1), or half a surrogate pair."""


def read_json(body: bytes, *, cut: bool = False) -> JsonValue:
    """Return the JSON in ``body``; with ``cut``, as much as there is of it.

    Half a surrogate pair becomes U+FFFD: agents that shorten page texts in JavaScript send them.

    Raises:
        ValueError: it is not JSON, or nested deeper than 200 levels.

    """
    partial: Literal["trailing-strings", "off"] = "trailing-strings" if cut else "off"
    try:
        value: JsonValue = from_json(body, allow_inf_nan=False, allow_partial=partial)
    except ValueError:
        mended = _SURROGATES.sub(lambda found: found[1] or rb"\ufffd", body)
        value = from_json(mended, allow_inf_nan=False, allow_partial=partial)
    return value


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


def as_count(value: JsonValue) -> int:
    """Return a number of things, or 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
