"""OpenAI Responses, also of Azure, gateways and local servers.

Source: https://platform.openai.com/docs/api-reference/responses and the types of openai-python.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, override

from msgspec.structs import replace
from pydantic import JsonValue

from warex.llm.base import (
    ApiErrorKind,
    Image,
    LlmAnswer,
    LlmRequest,
    SerializedAnswer,
    StreamErrorKind,
    Usage,
)
from warex.llm.body import json_splice
from warex.llm.body.lenient_json import as_count, as_dict, as_list, as_text, as_tokens
from warex.llm.content.images import image_at
from warex.llm.families import writing
from warex.llm.families.base import LlmApi, are_messages, system_message
from warex.llm.families.growing_text import GrowingText
from warex.llm.families.openai_chat import (
    CREATED,
    image_cost,
    openai_error,
    openai_error_object,
)
from warex.llm.families.reading import (
    AnswerBuilder,
    FinishReasons,
    PartialCall,
    error_message,
    service_tier,
)
from warex.llm.families.system_prompt import SYSTEM_ROLES

_FINISH: Final[FinishReasons] = {
    "completed": "stop",
    "incomplete": "length",
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "content_filter",
    "steered": "pause",  # The rest follows in another answer.
    # The answer is fetched later.
    "queued": "pause",
    "in_progress": "pause",
    "failed": "error",
    "cancelled": "error",
}
"""By status, or by the reason why it is ``incomplete``."""
ENDS: Final = ("response.completed", "response.incomplete", "response.failed")
_NOT_STARTED: Final = ("overloaded", "unavailable")
"""Errors of the API itself, which it sends as an event ``error``; others fail the response."""
_KEYED: Final = ("function_call", "custom_tool_call")
"""Items whose arguments are streamed in deltas."""
_ARGUMENT_KEYS: Final = ("arguments", "input", "action", "operation", "queries", "code")
"""Keys of a tool item's arguments."""


class OpenAiResponses(LlmApi):
    """The Responses API."""

    name = "openai_responses"
    summary = "OpenAI Responses; also Azure OpenAI, and gateways and local servers that speak it."
    answer_description = "a response"
    text_path = ("output",)
    path_endings = ("/responses",)
    counting_endings = ("/input_tokens",)
    prompts = ("input", "prompt")

    @override
    def recognise(self, path: str, body: Mapping[str, JsonValue]) -> bool:
        content = body.get("input")
        template = as_text(as_dict(body.get("prompt")).get("id"))
        if not (isinstance(body.get("model"), str) or template):
            return False
        if isinstance(content, list):
            return are_messages(content)
        return bool(as_text(content)) or (content is None and _continues(body) is not None)

    @override
    def read_request(self, path: str, body: Mapping[str, JsonValue], digest: str) -> LlmRequest:
        content = body.get("input")
        messages = system_message(body.get("instructions")) + as_list(content)
        if text := as_text(content):
            messages.append({"role": "user", "content": text})
        return replace(
            super().read_request(path, body, digest),
            messages=messages,
            continues=_continues(body),
            tier=service_tier(body.get("service_tier")) or "",
        )

    @override
    def read(
        self, builder: AnswerBuilder, frame: Mapping[str, JsonValue], *, complete: bool
    ) -> None:
        kind = as_text(frame.get("type"))
        index = as_count(frame.get("output_index"))
        response = as_dict(frame.get("response"))
        builder.model = as_text(response.get("model")) or builder.model
        if kind in ENDS:
            _read_response(builder, response)
            builder.ended = builder.begun
        elif kind == "response.output_item.added":
            _read_item(builder, index, as_dict(frame.get("item")), "begun")
        elif kind == "response.output_item.done":
            _read_item(builder, index, as_dict(frame.get("item")), "done")
        elif kind.endswith(".delta"):
            _read_delta(builder, kind, index, builder.text_piece(frame.get("delta")))
        elif kind == "response.reasoning_summary_part.added" and builder.reasoning:
            builder.reasoning += _BETWEEN_SUMMARIES
        elif complete and (
            isinstance(frame.get("output"), list) or frame.get("object") == "response"
        ):
            _read_response(builder, frame)
        elif kind == "error" or (frame.get("error") and not kind.startswith("response.")):
            builder.error = (
                error_message(frame) or as_text(frame.get("code")) or "an error without words"
            )

    @override
    def write_answer(self, request: LlmRequest, answer: LlmAnswer) -> SerializedAnswer:
        response = _written(request, answer)
        if not request.stream:
            return writing.json_answer(response)
        events = [*_events(response, answer)]
        for number, event in enumerate(events):
            event["sequence_number"] = number
        return writing.sse(events if answer.complete else events[:-1], named=True)

    @override
    def write_error(self, request: LlmRequest, kind: ApiErrorKind, wait: int) -> SerializedAnswer:
        return openai_error(request, kind, wait, "input")

    @override
    def is_finish(self, request: LlmRequest, frame: Mapping[str, JsonValue]) -> bool:
        return frame.get("type") in ENDS

    @override
    def write_error_event(
        self,
        request: LlmRequest,
        kind: StreamErrorKind,
        before: Sequence[Mapping[str, JsonValue]],
    ) -> bytes:
        error = openai_error_object(request, kind, "input")
        code = error["code"] or error["type"]
        number: dict[str, JsonValue] = {"sequence_number": len(before)}
        begun = next((it["response"] for it in reversed(before) if "response" in it), None)
        if kind in _NOT_STARTED or not isinstance(begun, dict):
            flat: JsonValue = {"code": code, "message": error["message"], "param": error["param"]}
            return writing.sse_event({"type": "error", **as_dict(flat), **number}, name="error")
        failed: JsonValue = {
            **begun,
            "status": "failed",
            "error": {"code": code, "message": error["message"]},
        }
        kind_of_event = "response.failed"
        event: JsonValue = {"type": kind_of_event, "response": failed, **number}
        return writing.sse_event(event, name=kind_of_event)

    @override
    def add_system_text(self, sent: str, text: str) -> str:
        """Append to the system prompt, or add one.

        The last system message of the input comes after the ``instructions``. It is not used in a
        continued conversation, where the API would store the text.
        """
        body = json_splice.root(sent)
        if not isinstance(body.value, dict):
            raise ValueError("it is not an object")
        system = None if _continues(body.value) else _system_content(sent, body)
        content = system or json_splice.member(sent, body, "instructions")
        match content:
            case None:
                return json_splice.insert_member(sent, body, "instructions", text)
            case json_splice.Span(value=str() as existing):
                return json_splice.append_to_string(
                    sent, content, f"\n\n{text}" if existing else text
                )
            case json_splice.Span(value=list() as parts) if all(isinstance(p, dict) for p in parts):
                own: JsonValue = {"type": "input_text", "text": f"\n\n{text}" if parts else text}
                if content is not system:
                    own = {"role": "developer", "content": text}
                return json_splice.append_item(sent, content, own)
            case json_splice.Span(value=None):
                return json_splice.replace(sent, content, text)
            case _:
                raise ValueError("its system prompt is neither text nor a list")

    @override
    def images(self, part: Mapping[str, JsonValue]) -> Iterator[Image]:
        match part.get("type"):
            case "input_image" | "computer_screenshot":
                key = "image_url" if part.get("image_url") else "file_id"
                yield from image_at(part.get(key), (key,), *image_cost(part))
            case "image_generation_call":
                data = part.get("result")
                kind = as_text(part.get("output_format")) or "png"
                if isinstance(data, str):
                    yield Image(("result",), image_cost(part)[0], f"image/{kind}", data)
            case _:
                pass


_BETWEEN_SUMMARIES: Final = "\n\n"


def _continues(body: Mapping[str, JsonValue]) -> str | None:
    conversation = body.get("conversation")
    named = (
        body.get("previous_response_id"),
        as_dict(conversation).get("id") or conversation,
        as_dict(body.get("prompt")).get("id"),
    )
    return next(filter(None, map(as_text, named)), None)


def _system_content(sent: str, body: json_splice.Span) -> json_splice.Span | None:
    """Return the content of the input's last system message, or None."""
    input_member = json_splice.member(sent, body, "input")
    if input_member is None or not isinstance(input_member.value, list):
        return None
    contents = [
        json_splice.member(sent, item, "content")
        for item in json_splice.items(sent, input_member)
        if as_dict(item.value).get("role") in SYSTEM_ROLES
    ]
    return next(filter(None, reversed(contents)), None)


def _read_response(builder: AnswerBuilder, response: Mapping[str, JsonValue]) -> None:
    """Read a whole answer, or the end of a stream, which repeats all of it."""
    if not response:
        return
    builder.model = as_text(response.get("model")) or builder.model
    if output := as_list(response.get("output")):
        builder.start_over()
    for index, item in enumerate(output):
        _read_item(builder, index, as_dict(item), "whole")
    if usage := as_dict(response.get("usage")):
        builder.usage = _usage(usage)
    builder.tier = service_tier(response.get("service_tier"))
    status = as_text(response.get("status"))
    why = as_text(as_dict(response.get("incomplete_details")).get("reason"))
    builder.finish_reason = why or status or None
    builder.finish = _FINISH.get(why or status, "stop")
    if response.get("error") or builder.finish == "error":
        builder.error = error_message(response) or f"the response is {status}"
    builder.begun = builder.begun or builder.error is None


def _read_item(
    builder: AnswerBuilder,
    index: int,
    item: Mapping[str, JsonValue],
    how: Literal["begun", "done", "whole"],
) -> None:
    """Read an item at its start or end in a stream, or in a whole answer."""
    builder.begun = True
    kind = as_text(item.get("type"))
    if kind in _KEYED:
        _read_call(builder, index, item)
    elif how == "begun":
        return
    elif kind == "message":
        parts = [*map(as_dict, as_list(item.get("content")))]
        _extend(builder.text, _joined(builder, parts, "text"), how)
        _extend(builder.refusal, _joined(builder, parts, "refusal"), how)
    elif kind == "reasoning":
        shown = as_list(item.get("content")) or as_list(item.get("summary"))
        texts = [builder.text_piece(as_dict(part).get("text")) for part in shown]
        between = _BETWEEN_SUMMARIES if builder.reasoning and how == "whole" else ""
        thought = _BETWEEN_SUMMARIES.join(filter(None, texts))
        _extend(builder.reasoning, between + thought if thought else "", how)
    elif kind == "computer_call":
        builder.calls += _actions(item)
    elif kind.endswith("_call"):
        builder.calls.append(_tool_call(kind, item))


def _written(request: LlmRequest, answer: LlmAnswer) -> dict[str, JsonValue]:
    """Return a whole response."""
    usage = answer.usage or Usage(0, 0)
    status = {"length": "incomplete", "content_filter": "incomplete", "error": "failed"}
    reason = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(answer.finish)
    return {
        "id": f"resp_{request.body_digest[:24]}",
        "object": "response",
        "created_at": CREATED,
        "model": answer.model,
        "status": status.get(answer.finish, "completed"),
        "incomplete_details": {"reason": reason} if reason else None,
        "error": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "service_tier": writing.service_tier_of(request, answer, "default") or "default",
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": request.tools,
        "top_p": 1.0,
        "output": [*_items(request, answer)],
        "usage": {
            "input_tokens": usage.input_total,
            "input_tokens_details": {
                "cached_tokens": usage.cache_read,
                "cache_write_tokens": usage.cache_write,
            },
            "output_tokens": usage.output_total,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": usage.input_total + usage.output_total,
        },
    }


def _items(request: LlmRequest, answer: LlmAnswer) -> Iterator[JsonValue]:
    digest = request.body_digest[:24]
    if answer.reasoning:
        summary: JsonValue = {"type": "summary_text", "text": answer.reasoning}
        yield {"id": f"rs_{digest}", "type": "reasoning", "summary": [summary]}
    if answer.text:
        part: JsonValue = {"type": "output_text", "text": answer.text, "annotations": []}
        if answer.finish == "refusal":
            part = {"type": "refusal", "refusal": answer.text}
        message: JsonValue = {"type": "message", "role": "assistant", "content": [part]}
        yield {"id": f"msg_{digest}", "status": "completed", **as_dict(message)}
    for number, call in enumerate(answer.tool_calls):
        yield {
            "id": f"fc_{digest[:20]}{number}",
            "type": "function_call",
            "status": "completed",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }


def _events(response: dict[str, JsonValue], answer: LlmAnswer) -> Iterator[dict[str, JsonValue]]:
    """Yield the events of a streamed response."""
    begun: JsonValue = {**response, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(map(as_dict, as_list(response["output"]))):
        at: dict[str, JsonValue] = {"item_id": item["id"], "output_index": index}
        empty: JsonValue = {key: _EMPTY.get(key, value) for key, value in item.items()}
        added = "response.output_item.added"
        yield {"type": added, "output_index": index, "item": empty}
        match item["type"]:
            case "message":
                yield from _message_events(at, as_dict(as_list(item["content"])[0]))
            case "function_call":
                kind, arguments = "response.function_call_arguments", item["arguments"]
                yield {"type": f"{kind}.delta", **at, "delta": arguments}
                yield {"type": f"{kind}.done", **at, "name": item["name"], "arguments": arguments}
            case _:
                part = as_dict(as_list(item["summary"])[0])
                at = {**at, "summary_index": 0}
                kind = "response.reasoning_summary"
                yield {"type": f"{kind}_part.added", **at, "part": {**part, "text": ""}}
                for word in writing.word_chunks(answer.reasoning):
                    yield {"type": f"{kind}_text.delta", **at, "delta": word}
                yield {"type": f"{kind}_text.done", **at, "text": answer.reasoning}
                yield {"type": f"{kind}_part.done", **at, "part": part}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{response['status']}", "response": response}


def _message_events(
    at: dict[str, JsonValue], part: dict[str, JsonValue]
) -> Iterator[dict[str, JsonValue]]:
    key = "refusal" if part["type"] == "refusal" else "text"
    kind = "response.refusal" if key == "refusal" else "response.output_text"
    at = {**at, "content_index": 0}
    text = as_text(part[key])
    yield {"type": "response.content_part.added", **at, "part": {**part, key: ""}}
    for word in writing.word_chunks(text):
        yield {"type": f"{kind}.delta", **at, "delta": word, "logprobs": []}
    yield {"type": f"{kind}.done", **at, key: text, "logprobs": []}
    yield {"type": "response.content_part.done", **at, "part": part}


_EMPTY: Final[Mapping[str, JsonValue]] = {
    "status": "in_progress",
    "content": [],
    "summary": [],
    "arguments": "",
}
"""Members of an item at its start."""


def _joined(builder: AnswerBuilder, parts: list[dict[str, JsonValue]], key: str) -> str:
    return "".join(builder.text_piece(part.get(key)) for part in parts)


def _extend(text: GrowingText, added: str, how: str) -> None:
    """Append an item's text, unless a stream's deltas already contained it."""
    if how != "done" or not text.ends_with(added):
        text += added


def _read_call(builder: AnswerBuilder, index: int, item: Mapping[str, JsonValue]) -> None:
    id = as_text(item.get("call_id"))
    call = builder.call(index, id)
    arguments = item.get("arguments") or item.get("input")
    if arguments:
        call.arguments = GrowingText()
    call.add(id, item.get("name"), arguments)


def _actions(item: Mapping[str, JsonValue]) -> Iterator[PartialCall]:
    """Yield the actions of computer use in the form of Anthropic's tool."""
    for action in map(as_dict, as_list(item.get("actions")) or [item.get("action")]):
        fields = {"action" if key == "type" else key: value for key, value in action.items()}
        id = as_text(item.get("call_id"))
        arguments = GrowingText(json.dumps(fields, ensure_ascii=False))
        yield PartialCall(id, "computer", arguments)


def _tool_call(kind: str, item: Mapping[str, JsonValue]) -> PartialCall:
    """Return the call of a built-in tool; the API runs those without a ``call_id``."""
    id = as_text(item.get("call_id"))
    call = PartialCall(id or as_text(item.get("id")), by_server=not id)
    key = next((key for key in _ARGUMENT_KEYS if item.get(key)), None)
    arguments = item.get(key) if key else None
    plain = isinstance(arguments, dict) or key in ("arguments", "input")
    name = as_text(item.get("name")) or kind.removesuffix("_call")
    call.add(call.id, name, arguments if plain or key is None else {key: arguments})
    return call


def _read_delta(builder: AnswerBuilder, kind: str, index: int, delta: str) -> None:
    builder.begun = True
    match kind:
        case "response.output_text.delta":
            builder.text += delta
        case "response.refusal.delta":
            builder.refusal += delta
        case "response.reasoning_text.delta" | "response.reasoning_summary_text.delta":
            builder.reasoning += delta
        case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
            builder.call(index).arguments += delta
        case _:
            pass


def _usage(usage: Mapping[str, JsonValue]) -> Usage:
    read = as_dict(usage.get("input_tokens_details"))
    written = as_dict(usage.get("output_tokens_details"))
    return Usage(
        input_total=as_tokens(usage.get("input_tokens")),
        output_total=as_tokens(usage.get("output_tokens")),
        cache_read=as_tokens(read.get("cached_tokens")),
        cache_write=as_tokens(read.get("cache_write_tokens")),
        reasoning=as_tokens(written.get("reasoning_tokens")),
    )
