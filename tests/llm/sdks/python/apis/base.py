"""What every API of models has in common: what is to be said, and how that is asked for."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

type Body = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """A tool that the model calls."""

    id: str
    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True)
class Tokens:
    """What an answer came to, in the convention of no vendor: totals, and parts of them."""

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


@dataclass(frozen=True)
class Said:
    """What a model says."""

    text: str
    tokens: Tokens
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    finish: str = "stop"


@dataclass(frozen=True)
class Refused:
    """An error: its status, its body, and what its headers say."""

    status: int
    body: Any
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


class Api(ABC):
    """One API, as its vendor documents it. Nothing here is shared with what WAREX reads it by."""

    family: ClassVar[str]
    """WAREX's name of it."""
    path: ClassVar[re.Pattern[str]]
    stream_type: ClassVar[str] = "text/event-stream; charset=utf-8"

    def model(self, path: str, body: Body) -> str:
        return str(body.get("model", ""))

    def streams(self, path: str, body: Body) -> bool:
        return body.get("stream") is True

    def offered(self, body: Body) -> list[str]:
        """Return the names of the tools that the model may call."""
        return [it["function"]["name"] for it in body.get("tools") or []]

    def able(self, said: Said, body: Body) -> Said:
        """Return of an answer what this API can say."""
        return said

    @abstractmethod
    def whole(self, said: Said, body: Body, model: str) -> Any: ...

    @abstractmethod
    def events(self, said: Said, body: Body, model: str) -> Iterator[bytes]: ...

    @abstractmethod
    def refusal(self, why: str) -> Refused:
        """Return an error: ``busy``, ``long`` or ``overloaded``."""

    def breaks(self) -> tuple[bytes, str] | None:
        """Return an error in the middle of a stream, and what it says; None where there is none."""
        return None


def pieces(text: str, length: int = 9) -> list[str]:
    return [text[at : at + length] for at in range(0, len(text), length)]


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def sse(value: Any, event: str = "") -> bytes:
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {as_json(value)}\n\n".encode()
