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
    found: list[ChatMessage] = []
    sent = call.messages if isinstance(call.messages, list) else [call.messages]
    for message in sent:
        found += _of_message(message)
    return [*_joined(found), answer(call)]


def answer(call: LlmCall) -> ChatMessage:
    """Return a call's answer as the assistant's message."""
    calls = [
        _tool_call(str(one.get("id") or ""), str(one.get("name")), one.get("arguments"))
        for one in call.tool_calls
        if isinstance(one, dict) and not one.get("by_server")
    ]
    message: ChatMessage = {"role": "assistant", "content": call.answer}
    return {**message, "tool_calls": calls} if calls else message


def tools(given: JsonValue) -> list[dict[str, Any]] | None:
    """Return a call's tools in OpenAI's form, or None."""
    found: list[dict[str, Any]] = []
    for tool in as_list(given):
        said = as_dict(tool)
        listed = said.get("functionDeclarations") or said.get("function_declarations")
        for one in as_list(listed) if listed else [tool]:
            held = as_dict(one)
            held = as_dict(held.get("toolSpec")) or as_dict(held.get("function")) or held
            if name := as_text(held.get("name")):
                found.append({"type": "function", "function": _function(name, held)})
    return found or None


def message_texts(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the texts of messages, without tool calls."""
    for message in messages:
        content = message.get("content")
        for part in content if isinstance(content, list) else [content]:
            said = part.get("text") if isinstance(part, dict) else part
            if isinstance(said, str):
                yield said


def _function(name: str, held: Mapping[str, JsonValue]) -> dict[str, Any]:
    schema = held.get("parameters") or held.get("input_schema") or held.get("inputSchema")
    schema = as_dict(schema).get("json", schema)
    description, parameters = as_text(held.get("description")), as_dict(schema)
    return {"name": name, "description": description, "parameters": parameters}


def _of_message(message: JsonValue) -> Iterator[ChatMessage]:
    if isinstance(message, str):
        yield {"role": "user", "content": message}
        return
    held = as_dict(message)
    kind = as_text(held.get("type"))
    if kind in _THOUGHTS:
        return
    role = as_text(held.get("role"))
    role = _ROLES.get(role, role) or ("assistant" if kind in _CALLS else "user")
    if kind in (*_CALLS, *_RESULTS):
        content: JsonValue = [held]
    else:
        content = held.get("content", held.get("parts"))
    blocks = content if isinstance(content, list) else [content]
    said: list[_Said] = []
    calls = [_open_ai_call(as_dict(one)) for one in as_list(held.get("tool_calls"))]
    for block in blocks:
        if (asked := _call(block)) is not None:
            calls.append(asked)
        elif (result := _result(block)) is not None:
            yield result
        else:
            said += _said(block)
    said += _said(held.get("images"))
    if said or calls or (role == "assistant" and not calls):
        whole: ChatMessage = {"role": role, "content": _content(said)}
        if calls:
            whole["tool_calls"] = calls
        if role == "tool":
            whole["tool_call_id"] = as_text(held.get("tool_call_id"))
        yield whole


def _said(block: JsonValue) -> list[_Said]:
    """Return the texts and images of a block."""
    if isinstance(block, str):
        return [_Image(block.removeprefix(BLOB))] if block.startswith(BLOB) else [block]
    if isinstance(block, list):
        return [one for item in block for one in _said(item)]
    held = as_dict(block)
    kinds = {as_text(held.get("type")), *held}
    if held.get("thought") is True or not _THOUGHTS.isdisjoint(kinds):
        return []
    if isinstance(held.get("text"), str):
        return [as_text(held["text"])]
    if "json" in held:
        return [json.dumps(held["json"], ensure_ascii=False)]
    if (image := _blob(held)) is not None:
        return [_Image(image)]
    # A document, or an image given only by its address.
    inner = held.get("content", held.get("document", held.get("data")))
    return _said(inner) if inner is not None else []


def _blob(value: JsonValue) -> str | None:
    """Return the first blob reference inside an object, or None."""
    left: list[JsonValue] = [value]
    while left:
        match left.pop():
            case str(text) if text.startswith(BLOB):
                return text.removeprefix(BLOB)
            case dict(held):
                left += held.values()
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
    given = _first(call, "input", "args", "arguments")
    return _tool_call(as_text(identifier), as_text(call.get("name")), given)


def _of_kind(block: JsonValue, kinds: Sequence[str]) -> dict[str, JsonValue] | None:
    """Return a block of these kinds, which some APIs nest under the kind; None for others."""
    held = as_dict(block)
    inner = next((as_dict(held[key]) for key in kinds if isinstance(held.get(key), dict)), None)
    return held if inner is None and as_text(held.get("type")) in kinds else inner


def _first(held: Mapping[str, JsonValue], *keys: str) -> JsonValue:
    """Return the value of the first of these keys that is there, or None."""
    return next((held[key] for key in keys if key in held), None)


def _open_ai_call(call: Mapping[str, JsonValue]) -> dict[str, Any]:
    function = as_dict(call.get("function"))
    return _tool_call(
        as_text(call.get("id")), as_text(function.get("name")), function.get("arguments")
    )


def _tool_call(identifier: str, name: str, given: JsonValue) -> dict[str, Any]:
    arguments = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
    function = {"name": name, "arguments": arguments}
    return {"id": identifier, "type": "function", "function": function}


def _result(block: JsonValue) -> ChatMessage | None:
    """Return a block's tool result as a message, or None."""
    if (result := _of_kind(block, _RESULTS)) is None:
        return None
    identifier = _first(result, "tool_use_id", "toolUseId", "call_id", "id")
    output = _first(result, "content", "output", "response")
    words = _said(output)
    if not words and output:
        words = [json.dumps(output, ensure_ascii=False)]
    message: ChatMessage = {"role": "tool", "content": _content(words)}
    if name := as_text(result.get("name")):
        message["name"] = name
    return {**message, "tool_call_id": as_text(identifier)}


def _content(said: Sequence[_Said]) -> str | list[dict[str, Any]]:
    if any(isinstance(one, _Image) for one in said):
        return [
            {"type": "image", "blob": one.reference}
            if isinstance(one, _Image)
            else {"type": "text", "text": one}
            for one in said
        ]
    return "\n".join(one for one in said if isinstance(one, str))


def _joined(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Merge separate calls (OpenAI's Responses) into the assistant message before them."""
    found: list[ChatMessage] = []
    for message in messages:
        before = found[-1] if found else {}
        is_call = message["role"] == "assistant" and not message["content"]
        if is_call and "tool_calls" in message and before.get("role") == "assistant":
            calls = [*before.get("tool_calls", ()), *message["tool_calls"]]
            found[-1] = {**before, "tool_calls": calls}
        else:
            found.append(message)
    return found
