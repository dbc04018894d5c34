"""The JSON-RPC 2.0 messages of MCP, single or in a batch."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct, field
from pydantic import JsonValue

from warex.llm.body.lenient_json import as_dict, as_list, as_text, parse_json

type Key = str | float
"""An id that pairs an answer with its request; a string never equals a number."""

LONGEST: Final = 64 * 1024 * 1024
"""Maximum size of a message, in bytes."""
_MOST: Final = 1000
"""Messages read of a batch."""
_CALL: Final = "tools/call"


class McpRequest(Struct, frozen=True):
    """A client's request."""

    id: JsonValue
    key: Key | None
    """None if the id is neither a string nor a number."""
    method: str
    params: dict[str, JsonValue] = field(default_factory=dict)

    @property
    def tool(self) -> str:
        """The called tool; empty for other methods."""
        return as_text(self.params.get("name")) if self.method == _CALL else ""

    @property
    def arguments(self) -> JsonValue:
        """The arguments of a tool's call; all parameters of another method."""
        return self.params.get("arguments") if self.method == _CALL else self.params or None


class McpAnswer(Struct, frozen=True):
    """A server's answer to one request."""

    key: Key | None
    """None if the server could not read the request's id."""
    result: JsonValue = None
    error: str | None = None
    """The server's text of the error; None if there is a usable result."""
    code: int | None = None
    """The JSON-RPC error code; None if the tool itself reports the failure."""


def read_messages(body: bytes) -> list[dict[str, JsonValue]]:
    """Return the messages in a body; none if it holds anything else. Never raises."""
    if len(body) > LONGEST or body.lstrip()[:1] not in (b"{", b"["):
        return []
    try:
        parsed = parse_json(body)
    except ValueError:
        return []
    objects = [as_dict(it) for it in (parsed if isinstance(parsed, list) else [parsed])[:_MOST]]
    return [it for it in objects if it.get("jsonrpc") == "2.0"]


def requests(messages: Iterable[dict[str, JsonValue]]) -> Iterator[McpRequest]:
    """Yield the requests; messages without an id are notifications."""
    for message in messages:
        if isinstance(method := message.get("method"), str) and "id" in message:
            id_ = message["id"]
            yield McpRequest(id_, _key(id_), method, as_dict(message.get("params")))


def answers(messages: Iterable[dict[str, JsonValue]]) -> Iterator[McpAnswer]:
    """Yield the answers."""
    for message in messages:
        if "method" in message:
            continue
        if "error" in message:
            error = as_dict(message["error"])
            code = error.get("code")
            text = as_text(error.get("message")) or "an error without a message"
            yield McpAnswer(
                _key(message.get("id")),
                error=text,
                code=code if isinstance(code, int) and not isinstance(code, bool) else 0,
            )
        elif "result" in message:
            result = message["result"]
            yield McpAnswer(_key(message.get("id")), result, _failure(as_dict(result)))


def cancelled(messages: Iterable[dict[str, JsonValue]]) -> Iterator[tuple[Key, str]]:
    """Yield the ids of cancelled requests, each with the reason."""
    for message in messages:
        if message.get("method") == "notifications/cancelled":
            params = as_dict(message.get("params"))
            if (key := _key(params.get("requestId"))) is not None:
                yield key, as_text(params.get("reason"))


def _failure(result: dict[str, JsonValue]) -> str | None:
    """Return the tool's own text of its failure; None if it did not fail."""
    if result.get("isError") is not True:
        return None
    parts = (as_dict(part) for part in as_list(result.get("content")))
    texts = (as_text(part.get("text")) for part in parts)
    return next((text for text in texts if text), "the tool says that it failed")


def _key(id_: JsonValue) -> Key | None:
    if isinstance(id_, bool) or not isinstance(id_, str | int | float):
        return None
    return id_
