"""The values of a JSON text and where each stands in it.

The text is read by Python's own decoder first, so that what is walked here is known to be JSON.
Sources: RFC 8259 (JSON), RFC 6901 (pointers).
"""

import json
import re
from dataclasses import dataclass, field
from typing import Final

from warex.llm import splice

_STRINGS: Final = json.JSONDecoder(strict=False)
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_WORD: Final = re.compile(r"[^ \t\n\r,\]}]*")
_GUARD: Final = ")]}'"
"""How some servers begin, so that no other site may run an answer as a script."""
_ESCAPE: Final = re.compile(r"~(?![01])")


@dataclass(slots=True, eq=False)
class Value:
    """A value, from ``begin`` to before ``end``."""

    step: str | int | None
    """The name or the index under which it stands in its parent; None for the whole."""
    parent: "Value | None"
    outer: int
    """Where its member begins, that is its name; of an item, the item."""
    begin: int
    end: int = -1
    children: list["Value"] = field(default_factory=list)

    def raw(self, text: str) -> str:
        """Return it as it is written."""
        return text[self.begin : self.end]

    @property
    def pointer(self) -> str:
        """Return the JSON pointer to it."""
        steps: list[str] = []
        at: Value | None = self
        while at is not None and at.step is not None:
            steps.append(str(at.step).replace("~", "~0").replace("/", "~1"))
            at = at.parent
        return "".join(f"/{step}" for step in reversed(steps))

    @property
    def name(self) -> str:
        """Return the name of the nearest member that it belongs to."""
        at: Value | None = self
        while at is not None and not isinstance(at.step, str):
            at = at.parent
        return str(at.step) if at is not None else ""

    def child(self, step: str) -> "Value | None":
        """Return what a step of a pointer leads to; of two members of one name the last."""
        found = None
        for each in self.children:
            if str(each.step) == step:
                found = each
        return found


def values(text: str) -> list[Value]:
    """Return all values of a JSON text, each before what it holds.

    Raises ValueError where it is none, RecursionError where it is nested too deeply.
    """
    start = text.index("\n") + 1 if text.startswith(_GUARD) and "\n" in text else 0
    place = splice.whole(text[start:])
    return _walked(text, start + place.begin)


def _walked(text: str, at: int) -> list[Value]:
    found: list[Value] = []
    inside: list[Value] = []
    while True:
        at = _past_space(text, at)
        if text[at] == ",":
            at += 1
            continue
        if text[at] in "]}":
            at += 1
            inside.pop().end = at
        else:
            value = _begun(text, at, inside[-1] if inside else None)
            found.append(value)
            if text[value.begin] in "[{":
                inside.append(value)
                at = value.begin + 1
                continue
            at = value.end
        if not inside:
            return found


def _begun(text: str, at: int, parent: Value | None) -> Value:
    """Return the value that begins here, its end known unless it holds others."""
    outer = at
    step: str | int | None = None
    if parent is not None and text[parent.begin] == "{":
        step, at = _STRINGS.raw_decode(text, at)
        at = _past_space(text, _past_space(text, at) + 1)
    elif parent is not None:
        step = len(parent.children)
    value = Value(step, parent, outer, at)
    if parent is not None:
        parent.children.append(value)
    if text[at] == '"':
        _, value.end = _STRINGS.raw_decode(text, at)
    elif text[at] not in "[{":
        word = _WORD.match(text, at)
        value.end = word.end() if word else at
    return value


def _past_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def steps_of(pointer: str) -> tuple[str, ...]:
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


def found_at(root: Value, pointer: str) -> Value | None:
    """Return what a pointer points to; None where there is nothing."""
    at: Value | None = root
    for step in steps_of(pointer):
        if at is None:
            return None
        at = at.child(step)
    return at


def decoded(raw: str) -> str:
    """Return what a value says: a string's text, anything else as it is written."""
    return str(json.loads(raw, strict=False)) if raw.startswith('"') else raw


def written(text: str) -> str:
    """Return a string as JSON, in ASCII, which is the same in every encoding of JSON."""
    return json.dumps(text)
