"""Cohere's Chat API, version 2.

Source: https://docs.cohere.com/reference/chat and the types of cohere-python.
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
from warex.llm.content.images import image_at
from warex.llm.families import writing
from warex.llm.families.base import LlmApi, are_messages, sampling_in
from warex.llm.families.reading import AnswerBuilder, FinishReasons, error_message
from warex.llm.families.writing import api_finish_reason

_TOKENS_PER_IMAGE: Final = 256
"""One tile of Command A Vision in low detail; a large screenshot has several."""
_FINISH: Final[FinishReasons] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR": "error",
    "TIMEOUT": "error",
}
_ERRORS: Final[Mapping[ApiErrorKind, tuple[int, str]]] = {
    "rate_limited": (429, "You are using a trial key, which is limited to 20 API calls / minute."),
    "server_error": (500, "internal server error, this has been reported to our developers."),
    "unavailable": (503, "the service is currently unavailable, please try again"),
    "overloaded": (503, "the service is currently overloaded, please try again"),
    "context_too_long": (
        400,
        "too many tokens: the total number of tokens in the prompt cannot exceed 128000",
    ),
    "content_filtered": (422, "the generated content was blocked by our content policy"),
    "invalid_key": (401, "invalid api token"),
}
"""Status and message of each error (docs, "Http status codes")."""


class Cohere(LlmApi):
    """Version 2 of the Chat API."""

    name = "cohere"
    summary = "Cohere's Chat API, version 2."
    answer_description = "a chat answer of Cohere's"
    text_path = ("message", "content")
    path_endings = ("/v2/chat",)
    reports = ("cache_read",)

    @override
    def recognise(self, path: str, body: Mapping[str, JsonValue]) -> bool:
        turns = are_messages(body.get("messages"), with_roles=True)
        return bool(as_text(body.get("model"))) and turns

    @override
    def read_request(self, path: str, body: Mapping[str, JsonValue], digest: str) -> LlmRequest:
        request = super().read_request(path, body, digest)
        return replace(request, sampling=sampling_in(body, top_p="p"))

    @override
    def read(
        self, builder: AnswerBuilder, frame: Mapping[str, JsonValue], *, complete: bool
    ) -> None:
        delta = as_dict(frame.get("delta"))
        message = as_dict(delta.get("message"))
        match frame.get("type"):
            case "message-start":
                builder.begun = True
            case "content-start" | "content-delta":
                _read_part(builder, as_dict(message.get("content")))
            case "tool-plan-delta":
                builder.begun = True
                builder.reasoning += builder.text_piece(message.get("tool_plan"))
            case "tool-call-start" | "tool-call-delta":
                call = as_dict(message.get("tool_calls"))
                _read_call(builder, as_count(frame.get("index")), call)
            case "message-end":
                _read_end(builder, delta)
                builder.ended = builder.begun and builder.error is None
            case _ if isinstance(frame.get("message"), dict):
                _read_complete(builder, frame)
            case None if frame.get("message") or frame.get("error"):
                builder.error = error_message(frame)
            case _:
                pass

    @override
    def write_answer(self, request: LlmRequest, answer: LlmAnswer) -> SerializedAnswer:
        head: dict[str, JsonValue] = {"id": request.body_digest[:32]}
        end: dict[str, JsonValue] = {
            "finish_reason": api_finish_reason(answer.finish, _FINISH),
            "usage": _written_usage(answer.usage or Usage(0, 0)),
        }
        if not request.stream:
            return writing.json_answer({**head, "message": _message(answer), **end})
        events = [*_events(answer)]
        if answer.complete:
            events.append({"type": "message-end", **head, "delta": end})
        return writing.sse([{**head, **events[0]}, *events[1:]], named=True)

    @override
    def write_error(self, request: LlmRequest, kind: ApiErrorKind, wait: int) -> SerializedAnswer:
        status, message = _ERRORS[kind]
        headers = {"retry_after": str(wait)} if kind == "rate_limited" else {}
        body: JsonValue = {"id": request.body_digest[:32], "message": message}
        return writing.json_answer(body, status, **headers)

    @override
    def is_finish(self, request: LlmRequest, frame: Mapping[str, JsonValue]) -> bool:
        return frame.get("type") == "message-end"

    @override
    def write_error_event(
        self,
        request: LlmRequest,
        kind: StreamErrorKind,
        before: Sequence[Mapping[str, JsonValue]],
    ) -> bytes:
        _, message = _ERRORS[kind]
        delta: JsonValue = {"finish_reason": "ERROR", "error": message}
        return writing.sse_event({"type": "message-end", "delta": delta}, name="message-end")

    @override
    def images(self, part: Mapping[str, JsonValue]) -> Iterator[Image]:
        url = as_dict(part.get("image_url")).get("url")
        yield from image_at(url, ("image_url", "url"), _TOKENS_PER_IMAGE)


def _read_complete(builder: AnswerBuilder, answer: Mapping[str, JsonValue]) -> None:
    builder.begun = True
    message = as_dict(answer.get("message"))
    builder.reasoning += builder.text_piece(message.get("tool_plan"))
    for part in map(as_dict, as_list(message.get("content"))):
        _read_part(builder, part)
    for index, call in enumerate(map(as_dict, as_list(message.get("tool_calls")))):
        _read_call(builder, index, call)
    _read_end(builder, answer)


def _read_part(builder: AnswerBuilder, part: Mapping[str, JsonValue]) -> None:
    builder.begun = True
    builder.text += builder.text_piece(part.get("text"))
    builder.reasoning += builder.text_piece(part.get("thinking"))


def _read_call(builder: AnswerBuilder, index: int, call: Mapping[str, JsonValue]) -> None:
    builder.begun = True
    id, function = as_text(call.get("id")), as_dict(call.get("function"))
    builder.call(index, id).add(id, function.get("name"), function.get("arguments"))


def _read_end(builder: AnswerBuilder, end: Mapping[str, JsonValue]) -> None:
    if builder.finish_with(end.get("finish_reason"), _FINISH) and builder.finish == "error":
        builder.error = as_text(end.get("error")) or f"the model ended with {builder.finish_reason}"
    usage = as_dict(end.get("usage"))
    # The billed units exclude Cohere's own part of the prompt.
    counted = as_dict(usage.get("tokens")) or as_dict(usage.get("billed_units"))
    if counted:
        builder.usage = Usage(
            input_total=as_tokens(counted.get("input_tokens")),
            output_total=as_tokens(counted.get("output_tokens")),
            cache_read=as_tokens(usage.get("cached_tokens")),
        )


def _written_usage(usage: Usage) -> JsonValue:
    counted: JsonValue = {"input_tokens": usage.input_total, "output_tokens": usage.output_total}
    return {"billed_units": counted, "tokens": counted, "cached_tokens": usage.cache_read}


def _message(answer: LlmAnswer) -> JsonValue:
    content: list[JsonValue] = []
    if answer.reasoning:
        content.append({"type": "thinking", "thinking": answer.reasoning})
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    calls: list[JsonValue] = [writing.function_call(call) for call in answer.tool_calls]
    asked: dict[str, JsonValue] = {"tool_calls": calls} if calls else {}
    return {"role": "assistant", "content": content, **asked}


def _events(answer: LlmAnswer) -> Iterator[dict[str, JsonValue]]:
    """Yield the events of a stream except the last."""
    start: JsonValue = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": []}
    yield {"type": "message-start", "delta": {"message": start}}
    index = 0
    for kind, text in (("thinking", answer.reasoning), ("text", answer.text)):
        if not text:
            continue
        begun: JsonValue = {"content": {"type": kind, kind: ""}}
        yield {"type": "content-start", "index": index, "delta": {"message": begun}}
        for word in writing.word_chunks(text):
            piece: JsonValue = {"content": {kind: word}}
            yield {"type": "content-delta", "index": index, "delta": {"message": piece}}
        yield {"type": "content-end", "index": index}
        index += 1
    for number, call in enumerate(answer.tool_calls):
        asked: JsonValue = {"tool_calls": writing.function_call(replace(call, arguments=""))}
        message: JsonValue = {"tool_calls": {"function": {"arguments": call.arguments}}}
        yield {"type": "tool-call-start", "index": number, "delta": {"message": asked}}
        yield {"type": "tool-call-delta", "index": number, "delta": {"message": message}}
        yield {"type": "tool-call-end", "index": number}
