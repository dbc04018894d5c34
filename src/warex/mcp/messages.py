"""The messages of JSON-RPC 2.0 that MCP consists of, single or in a batch."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue

from warex.llm.body.lenient_json import as_dict, as_list, as_text, parse_json

type Key = str | float
"""What pairs an answer with its request: a text is never a number."""

LONGEST: Final = 64 * 1024 * 1024
"""Bytes of a message that is read."""
_MOST: Final = 1000
"""Messages of a batch that are read."""
_CALL: Final = "tools/call"


@dataclass(frozen=True, slots=True)
class McpRequest:
    """What a client asks its server."""

    id: JsonValue
    key: Key | None
    """None where the id is of a kind that no answer can be found by."""
    method: str
    params: dict[str, JsonValue] = field(default_factory=dict)

    @property
    def tool(self) -> str:
        """The tool that is called; empty where none is."""
        return as_text(self.params.get("name")) if self.method == _CALL else ""

    @property
    def arguments(self) -> JsonValue:
        """What a tool is called with; of another method, all its parameters."""
        return self.params.get("arguments") if self.method == _CALL else self.params or None


@dataclass(frozen=True, slots=True)
class McpAnswer:
    """What a server answers to one request."""

    key: Key | None
    """None where the server could not tell what was asked."""
    result: JsonValue = None
    error: str | None = None
    """Why there is no usable result, in the server's words; None if there is one."""
    code: int | None = None
    """JSON-RPC's code of the error; None where the tool itself says that it failed."""


def read_messages(body: bytes) -> list[dict[str, JsonValue]]:
    """Return the messages in a body; none where it holds anything else. Nothing is raised."""
    if len(body) > LONGEST or body.lstrip()[:1] not in (b"{", b"["):
        return []
    try:
        said = parse_json(body)
    except ValueError:
        return []
    found = [as_dict(it) for it in (said if isinstance(said, list) else [said])[:_MOST]]
    return [it for it in found if it.get("jsonrpc") == "2.0"]


def requests(messages: Iterable[dict[str, JsonValue]]) -> Iterator[McpRequest]:
    """Yield what is asked; what has no id is told, not asked."""
    for message in messages:
        if isinstance(method := message.get("method"), str) and "id" in message:
            said = message["id"]
            yield McpRequest(said, _key(said), method, as_dict(message.get("params")))


def answers(messages: Iterable[dict[str, JsonValue]]) -> Iterator[McpAnswer]:
    """Yield what is answered."""
    for message in messages:
        if "method" in message:
            continue
        if "error" in message:
            said = as_dict(message["error"])
            code = said.get("code")
            text = as_text(said.get("message")) or "an error without a message"
            yield McpAnswer(
                _key(message.get("id")),
                error=text,
                code=code if isinstance(code, int) and not isinstance(code, bool) else 0,
            )
        elif "result" in message:
            result = message["result"]
            yield McpAnswer(_key(message.get("id")), result, _failure(as_dict(result)))


def cancelled(messages: Iterable[dict[str, JsonValue]]) -> Iterator[tuple[Key, str]]:
    """Yield what a client does not wait for any longer, and why."""
    for message in messages:
        if message.get("method") == "notifications/cancelled":
            params = as_dict(message.get("params"))
            if (key := _key(params.get("requestId"))) is not None:
                yield key, as_text(params.get("reason"))


def _failure(result: dict[str, JsonValue]) -> str | None:
    """Return what a tool says of its own failure; None where it has none."""
    if result.get("isError") is not True:
        return None
    parts = (as_dict(part) for part in as_list(result.get("content")))
    texts = (as_text(part.get("text")) for part in parts)
    return next((text for text in texts if text), "the tool says that it failed")


def _key(said: JsonValue) -> Key | None:
    if isinstance(said, bool) or not isinstance(said, str | int | float):
        return None
    return said
