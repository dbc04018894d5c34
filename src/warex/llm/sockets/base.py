"""What the messages of one WebSocket to a model say."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct
from pydantic import JsonValue

from warex.llm.base import LlmRequest

_MOST_ITEMS: Final = 1000
"""Items of a conversation that are kept until the model is asked."""


class SocketRequest(Struct, frozen=True):
    """A request in a client's message, or one that a server makes of what it has heard."""

    stream: str
    """The id of the stream that also carries the events of its answer; empty if unknown."""
    request: LlmRequest | None
    """None if nothing is generated (``generate: false``), or if it cannot be read."""
    is_call: bool
    """Whether it calls the model, readable or not."""


class SocketEvent(Struct, frozen=True):
    """An event in a server's message."""

    stream: str
    is_end: bool
    """Whether it ends the answer."""
    status: int = 200
    """The HTTP status of an error, if it has one."""
    content: bytes = b""
    """What is read of the answer: a server-sent event of the API that reads it."""
    begins: SocketRequest | None = None
    """Of an answer that the client has not asked for, such as to what it has said."""
    opens: bool = False
    """Whether its stream is that of the answer that is asked for and has none."""


class SocketApi(Protocol):
    """Reads the messages of one WebSocket; raises nothing."""

    def request(self, message: bytes) -> SocketRequest | None:
        """Read a client's message; None if it starts no answer."""

    def event(self, message: bytes) -> SocketEvent | None:
        """Read a server's message; None if it is no part of an answer."""


class Conversation:
    """What a client has said since the model was asked last."""

    def __init__(self, api: str, model: str) -> None:
        self.api, self.model = api, model
        self.system: JsonValue = None
        self.tools: list[JsonValue] = []
        self.session: str | None = None
        """The id of the session, which the API puts before ``messages``."""
        self._items: list[JsonValue] = []
        self._asked = 0

    def add(self, items: Sequence[JsonValue]) -> None:
        """Add what the client has said."""
        self._items += items[: _MOST_ITEMS - len(self._items)]

    def ask(self, more: Mapping[str, JsonValue] | None = None) -> LlmRequest:
        """Return the request for an answer to what was said; ``more`` belongs to it alone."""
        items, self._items = self._items, []
        self._asked += 1
        system: list[JsonValue] = []
        if self.system:
            system = [{"role": "system", "content": self.system}]
        # Each call is a step of its own: there is no client that repeats one.
        asked = json.dumps([self.session, self._asked, items, more], default=str)
        return LlmRequest(
            api=self.api,
            model=self.model,
            messages=[*system, *items],
            tools=self.tools,
            stream=True,
            body_digest=hashlib.sha256(asked.encode(errors="replace")).hexdigest(),
            continues=self.session,
        )


def server_sent(event: JsonValue) -> bytes:
    """Return an object as a server-sent event."""
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def without_media(value: JsonValue, keys: Sequence[str]) -> JsonValue:
    """Return a value in which long texts under some keys are only described."""
    if isinstance(value, list):
        return [without_media(it, keys) for it in value]
    if not isinstance(value, dict):
        return value
    return {
        key: f"<{len(it):,} characters>"
        if key in keys and isinstance(it, str) and len(it) > 100
        else without_media(it, keys)
        for key, it in value.items()
    }
