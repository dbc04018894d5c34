"""The common interface of the fake model APIs, and the content of their answers."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

type Body = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """A call of a tool by the model."""

    id: str
    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True)
class Tokens:
    """The token counts of an answer, as totals and parts of them."""

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


@dataclass(frozen=True)
class Reply:
    """The content of a model's answer."""

    text: str
    tokens: Tokens
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    finish: str = "stop"


@dataclass(frozen=True)
class Refused:
    """An error: its status, body, message and headers."""

    status: int
    body: Any
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


class Api(ABC):
    """One API, as its vendor documents it; shares no code with WAREX's reader."""

    family: ClassVar[str]
    """WAREX's name of the API."""
    path: ClassVar[re.Pattern[str]]
    stream_type: ClassVar[str] = "text/event-stream; charset=utf-8"

    def model(self, path: str, body: Body) -> str:
        return str(body.get("model", ""))

    def streams(self, path: str, body: Body) -> bool:
        return body.get("stream") is True

    def offered(self, body: Body) -> list[str]:
        """Return the names of the tools that the model may call."""
        return [it["function"]["name"] for it in body.get("tools") or []]

    def able(self, reply: Reply, body: Body) -> Reply:
        """Return the parts of an answer that this API can express."""
        return reply

    @abstractmethod
    def complete(self, reply: Reply, body: Body, model: str) -> Any: ...

    @abstractmethod
    def events(self, reply: Reply, body: Body, model: str) -> Iterator[bytes]: ...

    @abstractmethod
    def refusal(self, why: str) -> Refused:
        """Return an error: ``busy``, ``long`` or ``overloaded``."""

    def breaks(self) -> tuple[bytes, str] | None:
        """Return an error in the middle of a stream and its message; None if the API has none."""
        return None


def pieces(text: str, length: int = 9) -> list[str]:
    return [text[at : at + length] for at in range(0, len(text), length)]


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sse(value: Any, event: str = "") -> bytes:
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {as_json(value)}\n\n".encode()
