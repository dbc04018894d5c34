"""Which messages of a WebSocket, or events of a stream, a fault is about."""

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Final, Literal

from msgspec import Struct

from warex.rewriting.json_body.spans import parse_pointer
from warex.text.regex import Regex

type Sender = Literal["client", "server", "both"]
type Scalar = str | int | float | bool | None

_NOTHING: Final = object()
"""The value at a pointer that leads nowhere."""


class SeenMessage(Struct):
    """A message as a selection sees it."""

    content: bytes
    from_client: bool = False
    event: str = "message"
    """The type of a server-sent event."""
    operation: str = ""
    """The operation of a GraphQL message; empty for none."""
    _parsed: object = None

    @property
    def text(self) -> str:
        """The content as text."""
        return self.content.decode(errors="replace")

    @property
    def value(self) -> object:
        """The content as JSON; nothing for other content."""
        if self._parsed is None:
            try:
                self._parsed = json.loads(self.content)
            except (ValueError, RecursionError):
                self._parsed = _NOTHING
        return self._parsed


class MessageSelection(Struct, frozen=True, kw_only=True, dict=True):
    """Which messages of one channel are hit: those that fit, by their numbers among them."""

    sender: Sender = "server"
    text: str | None = None
    """A glob over the whole text."""
    text_regex: str | None = None
    """A regular expression, searched in the text."""
    members: Mapping[str, Scalar] = {}
    """Values at JSON pointers; a text is a glob."""
    event: str | None = None
    """A glob over the type of a server-sent event."""
    operation: str | None = None
    """A glob over the operation of a GraphQL message."""
    first: int | None = None
    nth: tuple[int, ...] | None = None
    every: int | None = None

    @cached_property
    def _regex(self) -> Regex | None:
        return None if self.text_regex is None else Regex(self.text_regex)

    def fits(self, message: SeenMessage) -> bool:
        """Whether a message is one of those that are counted."""
        if self.sender != "both" and (self.sender == "client") is not message.from_client:
            return False
        if self.event is not None and not fnmatchcase(message.event, self.event):
            return False
        if self.operation is not None and not fnmatchcase(message.operation, self.operation):
            return False
        if self.text is not None and not fnmatchcase(message.text, self.text):
            return False
        if self._regex is not None and not self._regex.matches(message.text):
            return False
        members = self.members.items()
        return all(_is_value(message.value, pointer, wanted) for pointer, wanted in members)

    def hits(self, ordinal: int) -> bool:
        """Whether a message is hit that is the n-th of those that fit."""
        if self.first is not None:
            return ordinal <= self.first
        if self.nth is not None:
            return ordinal in self.nth
        return self.every is None or ordinal % self.every == 0

    def is_over(self, ordinal: int) -> bool:
        """Whether none is hit after the n-th."""
        if self.first is not None:
            return ordinal >= self.first
        return self.nth is not None and ordinal >= max(self.nth)


def _is_value(value: object, pointer: str, wanted: Scalar) -> bool:
    actual = _value_at(value, pointer)
    if isinstance(wanted, str) and isinstance(actual, str):
        return fnmatchcase(actual, wanted)
    return (type(actual) is type(wanted) and actual == wanted) or _equal_numbers(actual, wanted)


def _equal_numbers(one: object, other: object) -> bool:
    numbers = [it for it in (one, other) if isinstance(it, int | float)]
    return len(numbers) == 2 and not any(isinstance(it, bool) for it in numbers) and one == other


def _value_at(value: Any, pointer: str) -> object:
    for step in parse_pointer(pointer):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return _NOTHING
    return value
