"""Converts messages and tools of any API to OpenAI's chat completions, which TRL reads.

Blocks are recognised by their shape, not by their API: no two APIs use one shape for different
things. Images are references to blobs (``blob:sha256/…``), as in a trace.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from warex.exports.rows import ChatMessage
from warex.llm.body.lenient_json import as_dict, as_list, as_text
from warex.traces.events import LlmCall

BLOB: Final = "blob:"
_ROLES: Final = {"developer": "system", "model": "assistant", "function": "tool", "prompt": "user"}
_THOUGHTS: Final = frozenset(("thinking", "redacted_thinking", "reasoning", "reasoningContent"))
"""Blocks with a model's reasoning, which is not shown to it again."""
_CALLS: Final = ("tool_use", "toolUse", "functionCall", "function_call")
_RESULTS: Final = ("tool_result", "toolResult", "functionResponse", "function_call_output")


@dataclass(frozen=True, slots=True)
class _Image:
    """An image's blob reference: ``sha256/…``."""

    reference: str


type _Said = str | _Image


def chat(call: LlmCall) -> list[ChatMessage]:
    """Return a call's messages, with its answer as the last one.

    The ``content`` of a message with an image is a list of parts, ``{"type": "image", "blob":
    "sha256/…"}``; otherwise it is a text.
    """
    messages: list[ChatMessage] = []
    sent = call.messages if isinstance(call.messages, list) else [call.messages]
    for message in sent:
        messages += _of_message(message)
    return [*_joined(messages), answer(call)]


def answer(call: LlmCall) -> ChatMessage:
    """Return a call's answer as the assistant's message."""
    calls = [
        _tool_call(str(one.get("id") or ""), str(one.get("name")), one.get("arguments"))
        for one in call.tool_calls
        if isinstance(one, dict) and not one.get("by_server")
    ]
    message: ChatMessage = {"role": "assistant", "content": call.answer}
    return {**message, "tool_calls": calls} if calls else message


def tools(declarations: JsonValue) -> list[dict[str, Any]] | None:
    """Return a call's tools in OpenAI's form, or None."""
    functions: list[dict[str, Any]] = []
    for tool in as_list(declarations):
        declaration = as_dict(tool)
        listed = declaration.get("functionDeclarations") or declaration.get("function_declarations")
        for one in as_list(listed) if listed else [tool]:
            function = as_dict(one)
            function = (
                as_dict(function.get("toolSpec")) or as_dict(function.get("function")) or function
            )
            if name := as_text(function.get("name")):
                functions.append({"type": "function", "function": _function(name, function)})
    return functions or None


def message_texts(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the texts of messages, without tool calls."""
    for message in messages:
        content = message.get("content")
        for part in content if isinstance(content, list) else [content]:
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                yield text


def _function(name: str, declaration: Mapping[str, JsonValue]) -> dict[str, Any]:
    schema = (
        declaration.get("parameters")
        or declaration.get("input_schema")
        or declaration.get("inputSchema")
    )
    schema = as_dict(schema).get("json", schema)
    description, parameters = as_text(declaration.get("description")), as_dict(schema)
    return {"name": name, "description": description, "parameters": parameters}


def _of_message(message: JsonValue) -> Iterator[ChatMessage]:
    if isinstance(message, str):
        yield {"role": "user", "content": message}
        return
    fields = as_dict(message)
    kind = as_text(fields.get("type"))
    if kind in _THOUGHTS:
        return
    role = as_text(fields.get("role"))
    role = _ROLES.get(role, role) or ("assistant" if kind in _CALLS else "user")
    if kind in (*_CALLS, *_RESULTS):
        content: JsonValue = [fields]
    else:
        content = fields.get("content", fields.get("parts"))
    blocks = content if isinstance(content, list) else [content]
    pieces: list[_Said] = []
    calls = [_open_ai_call(as_dict(one)) for one in as_list(fields.get("tool_calls"))]
    for block in blocks:
        if (asked := _call(block)) is not None:
            calls.append(asked)
        elif (result := _result(block)) is not None:
            yield result
        else:
            pieces += _parts_of(block)
    pieces += _parts_of(fields.get("images"))
    if pieces or calls or (role == "assistant" and not calls):
        chat_message: ChatMessage = {"role": role, "content": _content(pieces)}
        if calls:
            chat_message["tool_calls"] = calls
        if role == "tool":
            chat_message["tool_call_id"] = as_text(fields.get("tool_call_id"))
        yield chat_message


def _parts_of(block: JsonValue) -> list[_Said]:
    """Return the texts and images of a block."""
    if isinstance(block, str):
        return [_Image(block.removeprefix(BLOB))] if block.startswith(BLOB) else [block]
    if isinstance(block, list):
        return [one for item in block for one in _parts_of(item)]
    fields = as_dict(block)
    kinds = {as_text(fields.get("type")), *fields}
    if fields.get("thought") is True or not _THOUGHTS.isdisjoint(kinds):
        return []
    if isinstance(fields.get("text"), str):
        return [as_text(fields["text"])]
    if "json" in fields:
        return [json.dumps(fields["json"], ensure_ascii=False)]
    if (image := _blob(fields)) is not None:
        return [_Image(image)]
    # A document, or an image given only by its address.
    inner = fields.get("content", fields.get("document", fields.get("data")))
    return _parts_of(inner) if inner is not None else []


def _blob(value: JsonValue) -> str | None:
    """Return the first blob reference inside an object, or None."""
    left: list[JsonValue] = [value]
    while left:
        match left.pop():
            case str(text) if text.startswith(BLOB):
                return text.removeprefix(BLOB)
            case dict(nested):
                left += nested.values()
            case list(items):
                left += items
            case _:
                pass
    return None


def _call(block: JsonValue) -> dict[str, Any] | None:
    """Return a block's tool call, or None."""
    if (call := _of_kind(block, _CALLS)) is None:
        return None
    identifier = call.get("toolUseId") or call.get("call_id") or call.get("id")
    arguments = _first(call, "input", "args", "arguments")
    return _tool_call(as_text(identifier), as_text(call.get("name")), arguments)


def _of_kind(block: JsonValue, kinds: Sequence[str]) -> dict[str, JsonValue] | None:
    """Return a block of these kinds, which some APIs nest under the kind; None for others."""
    fields = as_dict(block)
    inner = next((as_dict(fields[key]) for key in kinds if isinstance(fields.get(key), dict)), None)
    return fields if inner is None and as_text(fields.get("type")) in kinds else inner


def _first(fields: Mapping[str, JsonValue], *keys: str) -> JsonValue:
    """Return the value of the first of these keys that is there, or None."""
    return next((fields[key] for key in keys if key in fields), None)


def _open_ai_call(call: Mapping[str, JsonValue]) -> dict[str, Any]:
    function = as_dict(call.get("function"))
    return _tool_call(
        as_text(call.get("id")), as_text(function.get("name")), function.get("arguments")
    )


def _tool_call(identifier: str, name: str, value: JsonValue) -> dict[str, Any]:
    arguments = value if isinstance(value, str) else json.dumps(value or {}, ensure_ascii=False)
    function = {"name": name, "arguments": arguments}
    return {"id": identifier, "type": "function", "function": function}


def _result(block: JsonValue) -> ChatMessage | None:
    """Return a block's tool result as a message, or None."""
    if (result := _of_kind(block, _RESULTS)) is None:
        return None
    identifier = _first(result, "tool_use_id", "toolUseId", "call_id", "id")
    output = _first(result, "content", "output", "response")
    words = _parts_of(output)
    if not words and output:
        words = [json.dumps(output, ensure_ascii=False)]
    message: ChatMessage = {"role": "tool", "content": _content(words)}
    if name := as_text(result.get("name")):
        message["name"] = name
    return {**message, "tool_call_id": as_text(identifier)}


def _content(pieces: Sequence[_Said]) -> str | list[dict[str, Any]]:
    if any(isinstance(one, _Image) for one in pieces):
        return [
            {"type": "image", "blob": one.reference}
            if isinstance(one, _Image)
            else {"type": "text", "text": one}
            for one in pieces
        ]
    return "\n".join(one for one in pieces if isinstance(one, str))


def _joined(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Merge separate calls (OpenAI's Responses) into the assistant message before them."""
    joined: list[ChatMessage] = []
    for message in messages:
        before = joined[-1] if joined else {}
        is_call = message["role"] == "assistant" and not message["content"]
        if is_call and "tool_calls" in message and before.get("role") == "assistant":
            calls = [*before.get("tool_calls", ()), *message["tool_calls"]]
            joined[-1] = {**before, "tool_calls": calls}
        else:
            joined.append(message)
    return joined
