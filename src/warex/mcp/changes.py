"""Changes to an MCP server's answers, and answers in their place."""

import json
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Final, Literal

from msgspec import Struct
from pydantic import JsonValue

from warex.llm.body.lenient_json import as_dict, as_list, as_text
from warex.mcp.messages import McpRequest

type Corruption = Literal["truncated", "garbled", "empty", "invalid_json"]
"""What is wrong with a result."""

INTERNAL_ERROR: Final = -32603
INVALID_PARAMS: Final = -32602
SESSION_NOT_FOUND: Final = -32001


class ReplaceAnswer(Struct, frozen=True):
    """Replace the answer."""

    answer: Mapping[str, JsonValue]
    """Its ``result`` or its ``error``."""


class CorruptResult(Struct, frozen=True):
    """Damage the result."""

    how: Corruption


class RemoveTools(Struct, frozen=True):
    """Remove the tools whose name matches a glob from a list."""

    tool: str


type Change = ReplaceAnswer | CorruptResult | RemoveTools


def apply_change(message: Mapping[str, JsonValue], change: Change) -> bytes:
    """Return the changed answer, serialized."""
    match change:
        case ReplaceAnswer(answer):
            return serialize({"jsonrpc": "2.0", "id": message.get("id"), **answer})
        case RemoveTools(tool):
            result = as_dict(message.get("result"))
            if "tools" not in result:
                return serialize(message)
            tools = as_list(result["tools"])
            remaining = [t for t in tools if not fnmatchcase(as_text(as_dict(t).get("name")), tool)]
            return serialize({**message, "result": {**result, "tools": remaining}})
        case CorruptResult("invalid_json"):
            serialized = serialize(message)
            return serialized[: len(serialized) * 2 // 3]
        case CorruptResult(how):
            if "result" not in message:
                return serialize(message)
            return serialize({**message, "result": _corrupted(as_dict(message["result"]), how)})


def answers_to(
    asked: tuple[McpRequest, ...], answer: Callable[[McpRequest], Mapping[str, JsonValue]]
) -> list[bytes]:
    """Return an answer to each request of an exchange, serialized."""
    return [serialize({"jsonrpc": "2.0", "id": it.id, **answer(it)}) for it in asked]


def tool_failure(text: str) -> dict[str, JsonValue]:
    """Return a result in which the tool reports a failure."""
    return {"result": {"content": [{"type": "text", "text": text}], "isError": True}}


def error(code: int, text: str) -> dict[str, JsonValue]:
    """Return a JSON-RPC error."""
    return {"error": {"code": code, "message": text}}


def serialize(message: Mapping[str, JsonValue]) -> bytes:
    """Return a message as one line of UTF-8."""
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")


def _corrupted(result: dict[str, JsonValue], how: Corruption) -> dict[str, JsonValue]:
    if how == "truncated":
        return _each_text(result, lambda text: text[: len(text) // 2])
    if how == "garbled":
        return _each_text(result, _garbled)
    rest = {name: value for name, value in result.items() if name != "structuredContent"}
    return {**rest, "content": []}


def _garbled(text: str) -> str:
    return "".join("\ufffd" if at % 3 == 1 else letter for at, letter in enumerate(text))


def _each_text(result: dict[str, JsonValue], change: Callable[[str], str]) -> dict[str, JsonValue]:
    """Change each text of a tool's result, also in its structured content."""
    new = dict(result)
    if "content" in result:
        new["content"] = [_block(block, change) for block in as_list(result["content"])]
    if "structuredContent" in result:
        new["structuredContent"] = _texts(result["structuredContent"], change)
    return new


def _block(block: JsonValue, change: Callable[[str], str]) -> JsonValue:
    if not isinstance(block, dict):
        return block
    if isinstance(text := block.get("text"), str):
        return {**block, "text": change(text)}
    if isinstance(resource := block.get("resource"), dict):
        return {**block, "resource": _block(resource, change)}
    return block


def _texts(value: JsonValue, change: Callable[[str], str]) -> JsonValue:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {name: _texts(item, change) for name, item in value.items()}
    return value
