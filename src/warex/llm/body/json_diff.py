"""The first difference of two JSON values, and their distance."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from operator import eq
from typing import Final

from pydantic import JsonValue

_BEFORE: Final = 30
"""Equal characters that are shown before the difference."""
_LONGEST: Final = 100
"""Characters of a value that are shown."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference of two values, in the order of the text."""

    path: str
    """``messages[2].content``."""
    recorded: str | None
    """The value as JSON, shortened around the difference; None if missing."""
    asked: str | None


class _Nothing:
    """A missing value."""


type _Side = JsonValue | _Nothing
type _Found = tuple[str, _Side, _Side]
_NOTHING: Final = _Nothing()


def first_difference(recorded: JsonValue, asked: JsonValue) -> Difference | None:
    """Return the first difference; None if equal, in any order of keys."""
    difference = next(_differences("", recorded, asked), None)
    if difference is None:
        return None
    path, one, other = difference
    if isinstance(one, str) and isinstance(other, str):
        same = sum(takewhile(bool, map(eq, one, other)))
        return Difference(path, _excerpt(one, same), _excerpt(other, same))
    return Difference(path, _shown(one), _shown(other))


def distance(one: JsonValue, other: JsonValue) -> int:
    """Return how many leaves must change to turn one value into the other."""
    return sum(max(_leaves(a), _leaves(b)) for _, a, b in _differences("", one, other))


def _differences(path: str, one: _Side, other: _Side) -> Iterator[_Found]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            at = f"{path}.{key}" if path else key
            yield from _differences(at, one.get(key, _NOTHING), other.get(key, _NOTHING))
    elif isinstance(one, list) and isinstance(other, list):
        for index in range(max(len(one), len(other))):
            left = one[index] if index < len(one) else _NOTHING
            right = other[index] if index < len(other) else _NOTHING
            yield from _differences(f"{path}[{index}]", left, right)
    elif type(one) is not type(other) or one != other:
        yield path, one, other


def _leaves(value: _Side) -> int:
    if isinstance(value, dict | list):
        return max(1, sum(map(_leaves, value.values() if isinstance(value, dict) else value)))
    return 0 if isinstance(value, _Nothing) else 1


def _excerpt(text: str, same: int) -> str:
    begin = max(0, same - _BEFORE)
    shown = text[begin : begin + _LONGEST]
    before = "…" if begin else ""
    after = "…" if begin + _LONGEST < len(text) else ""
    return json.dumps(f"{before}{shown}{after}", ensure_ascii=False)


def _shown(value: _Side) -> str | None:
    if isinstance(value, _Nothing):
        return None
    if isinstance(value, str):
        return _excerpt(value, 0)
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= _LONGEST else f"{written[:_LONGEST]}…"
