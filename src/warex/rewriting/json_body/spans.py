"""The values of a JSON text and where each stands in it.

Python's own decoder finds where each value ends: of the whole first, so that it is known to be
JSON, then of what a value holds, where that is asked for. Sources: RFC 8259
(JSON), RFC 6901 (pointers).
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


class Number(str):
    """A number as it is written, however long."""

    __slots__ = ()


type JsonData = str | float | list[JsonData] | dict[str, JsonData] | None
"""What a JSON text says; numbers are ``Number``, but for NaN and the infinities."""

_DECODER: Final = json.JSONDecoder(strict=False, parse_int=Number, parse_float=Number)
_SKIPPER: Final = json.JSONDecoder(strict=False, parse_int=str, parse_float=str)
"""For where a value ends alone."""
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_GUARD: Final = ")]}'"
"""How some servers begin, so that no other site may run an answer as a script."""
_ESCAPE: Final = re.compile(r"~(?![01])")


@dataclass(slots=True, eq=False)
class JsonSpan:
    """A value, from ``begin`` to before ``end``."""

    text: str
    """The whole text that it stands in."""
    step: str | int | None
    """The name or the index under which it stands in its parent; None for the whole."""
    parent: "JsonSpan | None"
    outer: int
    """Where its member begins, that is its name; of an item, the item."""
    begin: int
    end: int
    _children: "list[JsonSpan] | None" = None
    data: JsonData = None
    """What it says; of the whole alone."""

    @property
    def children(self) -> "list[JsonSpan]":
        """Return what it holds: its members or its items."""
        if self._children is None:
            held = self.text[self.begin] in "[{"
            self._children = list(_held_by(self)) if held else []
        return self._children

    @property
    def raw(self) -> str:
        """Return it as it is written."""
        return self.text[self.begin : self.end]

    @property
    def pointer(self) -> str:
        """Return the JSON pointer to it."""
        steps: list[str] = []
        at: JsonSpan | None = self
        while at is not None and at.step is not None:
            steps.append(escape_pointer_step(str(at.step)))
            at = at.parent
        return "".join(f"/{step}" for step in reversed(steps))

    def child(self, step: str) -> "JsonSpan | None":
        """Return what a step of a pointer leads to; of two members of one name the last."""
        found = None
        for each in self.children:
            if str(each.step) == step:
                found = each
        return found


def parse_spans(text: str) -> JsonSpan:
    """Return the value that a JSON text is.

    Raises ValueError where it is none, RecursionError where it is nested too deeply.
    """
    start = text.index("\n") + 1 if text.startswith(_GUARD) and "\n" in text else 0
    begin = _past_space(text, start)
    said, end = _DECODER.raw_decode(text, begin)
    if _past_space(text, end) != len(text):
        raise ValueError("something follows the JSON value")
    return JsonSpan(text, None, None, begin, begin, end, data=said)


def _held_by(parent: JsonSpan) -> Iterator[JsonSpan]:
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
    """Return a member's name as a JSON pointer has it."""
    return name.replace("~", "~0").replace("/", "~1")


def parse_pointer(pointer: str) -> tuple[str, ...]:
    """Return the steps of a JSON pointer.

    Raises ValueError where it is none.
    """
    if pointer and not pointer.startswith("/"):
        raise ValueError(
            f"{pointer!r} is no JSON pointer: it begins with '/', as in /items/0/price"
        )
    if _ESCAPE.search(pointer):
        raise ValueError(f"{pointer!r} is no JSON pointer: '~' is written ~0, and '/' in a name ~1")
    return tuple(
        step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:] if pointer
    )


def span_at(root: JsonSpan, pointer: str) -> JsonSpan | None:
    """Return what a pointer points to; None where there is nothing."""
    at: JsonSpan | None = root
    for step in parse_pointer(pointer):
        if at is None:
            return None
        at = at.child(step)
    return at


def decode_scalar(raw: str) -> str:
    """Return what a value says: a string's text, anything else as it is written."""
    if not raw.startswith('"'):
        return raw
    return str(json.loads(raw, strict=False)) if "\\" in raw else raw[1:-1]


def encode_string(text: str) -> str:
    """Return a string as JSON, in ASCII, which is the same in every encoding of JSON."""
    return json.dumps(text)
