"""The values of a JSON text and their places in it.

Python's decoder finds the end of each value: first of the whole, which checks the text, then of
the children on demand. Sources: RFC 8259 (JSON), RFC 6901 (pointers).
"""

import json
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from warex.text.lazy_pattern import lazy_re


class Number(str):
    """A number as it is written."""

    __slots__ = ()


type JsonData = str | float | list[JsonData] | dict[str, JsonData] | None
"""Decoded JSON; numbers are ``Number``, except NaN and the infinities."""

_DECODER: Final = json.JSONDecoder(strict=False, parse_int=Number, parse_float=Number)
_SKIPPER: Final = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)
"""Finds only the end of a value."""
_SPACE: Final = lazy_re(r"[ \t\n\r]*")
_GUARD: Final = ")]}'"
"""The prefix of some servers that prevents other sites from running a response as a script."""
_ESCAPE: Final = lazy_re(r"~(?![01])")


class JsonSpan(Struct, eq=False):
    """A value, from ``begin`` to before ``end``."""

    text: str
    """The whole text."""
    step: str | int | None
    """Its name or index in its parent; None for the root."""
    parent: "JsonSpan | None"
    outer: int
    """Where its member begins, with the name; for an item, where the item begins."""
    begin: int
    end: int
    _children: "list[JsonSpan] | None" = None
    data: JsonData = None
    """The decoded value; only for the root."""

    @property
    def children(self) -> "list[JsonSpan]":
        """Its members or items."""
        if self._children is None:
            self._children = list(_children_of(self)) if self.text[self.begin] in "[{" else []
        return self._children

    @property
    def raw(self) -> str:
        """Its source text."""
        return self.text[self.begin : self.end]

    @property
    def pointer(self) -> str:
        """The JSON pointer to it."""
        steps: list[str] = []
        at: JsonSpan | None = self
        while at is not None and at.step is not None:
            steps.append(escape_pointer_step(str(at.step)))
            at = at.parent
        return "".join(f"/{step}" for step in reversed(steps))

    def child(self, step: str) -> "JsonSpan | None":
        """Return the child at a step of a pointer; of two members with one name the last."""
        return next((each for each in reversed(self.children) if str(each.step) == step), None)


def parse_spans(text: str) -> JsonSpan:
    """Return the root of a JSON text.

    Raises ValueError if it is not JSON, RecursionError if it is nested too deeply.
    """
    start = text.index("\n") + 1 if text.startswith(_GUARD) and "\n" in text else 0
    begin = _past_space(text, start)
    data, end = _DECODER.raw_decode(text, begin)
    if _past_space(text, end) != len(text):
        raise ValueError("something follows the JSON value")
    return JsonSpan(text, None, None, begin, begin, end, data=data)


def _children_of(parent: JsonSpan) -> Iterator[JsonSpan]:
    text, at, count = parent.text, parent.begin + 1, 0
    while (at := _past_space(text, at)) < parent.end - 1:
        if text[at] == ",":
            at += 1
            continue
        outer = at
        name: str | int = count
        count += 1
        if text[parent.begin] == "{":
            name, at = _SKIPPER.raw_decode(text, at)
            at = _past_space(text, _past_space(text, at) + 1)
        _, end = _SKIPPER.raw_decode(text, at)
        yield JsonSpan(text, name, parent, outer, at, end)
        at = end


def _past_space(text: str, at: int) -> int:
    if at < len(text) and text[at] > " ":
        return at
    space = _SPACE.match(text, at)
    return space.end() if space else at


def escape_pointer_step(name: str) -> str:
    """Return a member's name escaped for a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def parse_pointer(pointer: str) -> tuple[str, ...]:
    """Return the steps of a JSON pointer. Raises ValueError if it is not one."""
    if pointer and not pointer.startswith("/"):
        raise ValueError(
            f"{pointer!r} is not a JSON pointer: it begins with '/', as in /items/0/price"
        )
    if _ESCAPE.search(pointer):
        raise ValueError(
            f"{pointer!r} is not a JSON pointer: '~' is written ~0, and '/' in a name ~1"
        )
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def span_at(root: JsonSpan, pointer: str) -> JsonSpan | None:
    """Return the value at a pointer; None if there is none."""
    at: JsonSpan | None = root
    for step in parse_pointer(pointer):
        at = at and at.child(step)
    return at


def decode_scalar(raw: str) -> str:
    """Return a string's text; any other value as it is written."""
    if not raw.startswith('"'):
        return raw
    return str(json.loads(raw, strict=False)) if "\\" in raw else raw[1:-1]
