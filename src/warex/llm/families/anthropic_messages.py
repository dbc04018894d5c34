"""Anthropic Messages, also on Vertex AI and behind gateways and local servers that speak it.

Source: https://docs.anthropic.com/en/api/messages and the types of anthropic-sdk-python.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, override

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
from warex.llm.body.lenient_json import as_count, as_dict, as_list, as_text, as_tokens
from warex.llm.content.image_tokens import anthropic_image_tokens, image_tokens
from warex.llm.families import system_prompt, writing
from warex.llm.families.base import LlmApi, are_messages, system_message
from warex.llm.families.reading import AnswerBuilder, FinishReasons, error_message, service_tier
from warex.llm.families.writing import api_finish_reason

_VERTEX: Final = (":rawPredict", ":streamRawPredict")
_TOKENS_PER_IMAGE: Final = 1_600
"""The most that an image costs: width times height in pixels, by 750 (docs, "Vision")."""
_FINISH: Final[FinishReasons] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "pause_turn": "pause",
    "refusal": "refusal",
}
_ERRORS: Final[Mapping[ApiErrorKind, tuple[int, str, str]]] = {
    "rate_limited": (
        429,
        "rate_limit_error",
        "This request would exceed the rate limit for your organization of 50 requests per minute.",
    ),
    "server_error": (500, "api_error", "Internal server error"),
    "unavailable": (503, "api_error", "Service temporarily unavailable"),
    "overloaded": (529, "overloaded_error", "Overloaded"),
    "context_too_long": (
        400,
        "invalid_request_error",
        "prompt is too long: 208310 tokens > 200000 maximum",
    ),
    "content_filtered": (
        400,
        "invalid_request_error",
        "Output blocked by content filtering policy",
    ),
    "invalid_key": (401, "authentication_error", "invalid x-api-key"),
}
"""Status, type and message of each error (docs, "Errors")."""
_BY_SERVER: Final = ("server_tool_use", "mcp_tool_use")


class AnthropicMessages(LlmApi):
    """The Messages API."""

    name = "anthropic_messages"
    summary = "Anthropic Messages; also Claude on Vertex AI, and gateways that speak it."
    answer_description = "a message"
    text_path = ("content",)
    path_endings = ("/messages", *_VERTEX)
    counting_endings = ("/count_tokens",)

    @override
    def recognise(self, path: str, body: Mapping[str, JsonValue]) -> bool:
        # On Vertex AI, bodies of other publishers name a model.
        on_vertex = path.partition("?")[0].endswith(_VERTEX)
        named = "anthropic_version" in body if on_vertex else isinstance(body.get("model"), str)
        # The API requires it; other APIs have a path /messages, too.
        limited = "max_tokens" in body
        return named and limited and are_messages(body.get("messages"))

    @override
    def read_request(self, path: str, body: Mapping[str, JsonValue], digest: str) -> LlmRequest:
        request = super().read_request(path, body, digest)
        where = path.partition("?")[0]
        return replace(
            request,
            model=request.model or where.rpartition("/")[2].partition(":")[0],
            messages=system_message(body.get("system")) + request.messages,
            stream=request.stream or where.endswith(_VERTEX[1]),
            tier=_tier(body) or "",
        )

    @override
    def read(
        self, builder: AnswerBuilder, frame: Mapping[str, JsonValue], *, complete: bool
    ) -> None:
        match frame.get("type"):
            case "message":
                _read_message(builder, frame)
            case "message_start":
                _read_message(builder, as_dict(frame.get("message")))
                builder.is_counted = False
            case "content_block_start":
                _read_block(builder, _index(frame), as_dict(frame.get("content_block")))
            case "content_block_delta":
                _read_delta(builder, _index(frame), as_dict(frame.get("delta")))
            case "message_delta":
                _read_end(builder, as_dict(frame.get("delta")), as_dict(frame.get("usage")))
                builder.is_counted = "output_tokens" in as_dict(frame.get("usage"))
            case "message_stop":
                builder.ended = True
            case "error":
                builder.error = error_message(frame)
            case _:
                # A ping, or a gateway's error.
                builder.error = error_message(frame) if frame.get("error") else builder.error

    @override
    def write_answer(self, request: LlmRequest, answer: LlmAnswer) -> SerializedAnswer:
        reason = api_finish_reason(answer.finish, _FINISH)
        usage = _written_usage(answer.usage or Usage(0, 0))
        if tier := writing.service_tier_of(request, answer, "standard"):
            usage["service_tier"] = tier
        message: dict[str, JsonValue] = {
            "id": f"msg_{request.body_digest[:24]}",
            "type": "message",
            "role": "assistant",
            "model": answer.model,
            "stop_sequence": None,
        }
        blocks = [*_blocks(answer)]
        if not request.stream:
            content: list[JsonValue] = [block | ended for block, ended, _ in blocks]
            return writing.json_answer(
                {**message, "content": content, "stop_reason": reason, "usage": usage}
            )
        start = {
            **message,
            "content": [],
            "stop_reason": None,
            "usage": {**usage, "output_tokens": 1},
        }
        events: list[JsonValue] = [{"type": "message_start", "message": start}]
        for index, (block, _, deltas) in enumerate(blocks):
            at: dict[str, JsonValue] = {"index": index}
            events.append({"type": "content_block_start", **at, "content_block": block})
            events += ({"type": "content_block_delta", **at, "delta": delta} for delta in deltas)
            events.append({"type": "content_block_stop", **at})
        if answer.complete:
            delta: JsonValue = {"stop_reason": reason, "stop_sequence": None}
            events.append({"type": "message_delta", "delta": delta, "usage": usage})
            events.append({"type": "message_stop"})
        return writing.sse(events, named=True)

    @override
    def write_error(self, request: LlmRequest, kind: ApiErrorKind, wait: int) -> SerializedAnswer:
        status, name, message = _ERRORS[kind]
        request_id = f"req_{request.body_digest[:24]}"
        headers = {"request_id": request_id, "x_should_retry": str(status >= 429).lower()}
        if kind == "rate_limited":
            headers |= {
                "retry_after": str(wait),
                "anthropic_ratelimit_requests_limit": "50",
                "anthropic_ratelimit_requests_remaining": "0",
            }
        error: JsonValue = {"type": name, "message": message}
        body: JsonValue = {"type": "error", "error": error, "request_id": request_id}
        return writing.json_answer(body, status, **headers)

    @override
    def is_finish(self, request: LlmRequest, frame: Mapping[str, JsonValue]) -> bool:
        return bool(as_dict(frame.get("delta")).get("stop_reason"))

    @override
    def is_end_marker(self, request: LlmRequest, frame: Mapping[str, JsonValue]) -> bool:
        return frame.get("type") == "message_stop"

    @override
    def write_error_event(
        self,
        request: LlmRequest,
        kind: StreamErrorKind,
        before: Sequence[Mapping[str, JsonValue]],
    ) -> bytes:
        _, name, message = _ERRORS[kind]
        error: JsonValue = {"type": name, "message": message}
        return writing.sse_event({"type": "error", "error": error}, name="error")

    @override
    def add_system_text(self, sent: str, text: str) -> str:
        return system_prompt.in_member(sent, "system", text)

    @override
    def images(self, part: Mapping[str, JsonValue]) -> Iterator[Image]:
        source = as_dict(part.get("source"))
        if part.get("type") != "image" or not source:
            return
        data = as_text(source.get("data")) or None
        media_type = as_text(source.get("media_type"))
        tokens = image_tokens(data, anthropic_image_tokens, _TOKENS_PER_IMAGE)
        yield Image(("source", "data"), tokens, media_type, data)


def _blocks(
    answer: LlmAnswer,
) -> Iterator[tuple[dict[str, JsonValue], dict[str, JsonValue], list[JsonValue]]]:
    """Yield each block's start, its final members, and its deltas."""
    if answer.reasoning:
        thoughts = [_delta("thinking", word) for word in writing.word_chunks(answer.reasoning)]
        empty: dict[str, JsonValue] = {"type": "thinking", "thinking": "", "signature": ""}
        yield empty, {"thinking": answer.reasoning}, thoughts
    if answer.text:
        deltas = [_delta("text", word) for word in writing.word_chunks(answer.text)]
        yield {"type": "text", "text": ""}, {"text": answer.text}, deltas
    for call in answer.tool_calls:
        begun: dict[str, JsonValue] = {"type": "tool_use", "id": call.id, "name": call.name}
        arguments: dict[str, JsonValue] = {"input": writing.parse_arguments(call.arguments)}
        piece: JsonValue = {"type": "input_json_delta", "partial_json": call.arguments}
        yield begun | {"input": {}}, arguments, [piece]


def _delta(what: str, word: str) -> JsonValue:
    return {"type": f"{what}_delta", what: word}


def _written_usage(usage: Usage) -> dict[str, JsonValue]:
    return {
        "input_tokens": usage.input_plain,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write - usage.cache_write_1h,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
        "output_tokens": usage.output_total,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
    }


def _index(frame: Mapping[str, JsonValue]) -> int:
    return as_count(frame.get("index"))


def _read_message(builder: AnswerBuilder, message: Mapping[str, JsonValue]) -> None:
    if message.get("type") != "message" and "content" not in message:
        return
    builder.begun = True
    builder.model = as_text(message.get("model")) or builder.model
    for index, block in enumerate(map(as_dict, as_list(message.get("content")))):
        _read_block(builder, index, block)
    _read_end(builder, message, as_dict(message.get("usage")))


def _read_block(builder: AnswerBuilder, index: int, block: Mapping[str, JsonValue]) -> None:
    builder.begun = True
    match block.get("type"):
        case "text":
            builder.text += builder.text_piece(block.get("text"))
        case "thinking":
            builder.reasoning += builder.text_piece(block.get("thinking"))
        case kind if kind == "tool_use" or kind in _BY_SERVER:
            call = builder.call(index, as_text(block.get("id")))
            # In a stream the input begins as an empty object, and its text follows.
            call.add(block.get("id"), block.get("name"), block.get("input") or None)
            call.by_server = kind in _BY_SERVER
        case _:
            pass


def _read_delta(builder: AnswerBuilder, index: int, delta: Mapping[str, JsonValue]) -> None:
    match delta.get("type"):
        case "text_delta":
            builder.text += builder.text_piece(delta.get("text"))
        case "thinking_delta":
            builder.reasoning += builder.text_piece(delta.get("thinking"))
        case "input_json_delta":
            builder.call(index).add("", "", delta.get("partial_json"))
        case _:
            pass


def _read_end(
    builder: AnswerBuilder, end: Mapping[str, JsonValue], usage: Mapping[str, JsonValue]
) -> None:
    builder.finish_with(end.get("stop_reason"), _FINISH)
    if usage:
        builder.usage = _usage(usage, builder.usage)
        builder.set_tier(_tier(usage))


def _tier(sent: Mapping[str, JsonValue]) -> str | None:
    """Return the tier of a request or a usage; ``fast`` has its own price."""
    fast = service_tier(sent.get("speed"))
    billed = service_tier(sent.get("service_tier"))
    return fast or (fast if billed is None else billed)


def _usage(sent: Mapping[str, JsonValue], before: Usage | None) -> Usage:
    """Return the usage; members that an event lacks keep their earlier values.

    ``input_tokens`` excludes tokens read from or written to a cache.
    """
    old = before or Usage(0, 0)
    plain = old.input_total - old.cache_read - old.cache_write

    def count(key: str, otherwise: int) -> int:
        return as_tokens(sent[key]) if sent.get(key) is not None else otherwise

    read = count("cache_read_input_tokens", old.cache_read)
    written = count("cache_creation_input_tokens", old.cache_write)
    lasting = as_dict(sent.get("cache_creation")).get("ephemeral_1h_input_tokens")
    thought = as_dict(sent.get("output_tokens_details")).get("thinking_tokens")
    return replace(
        old,
        input_total=count("input_tokens", plain) + read + written,
        output_total=count("output_tokens", old.output_total),
        cache_read=read,
        cache_write=written,
        cache_write_1h=old.cache_write_1h if lasting is None else as_tokens(lasting),
        reasoning=old.reasoning if thought is None else as_tokens(thought),
    )
