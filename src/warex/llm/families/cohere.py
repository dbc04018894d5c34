"""Cohere's Chat API, version 2.

Source: https://docs.cohere.com/reference/chat and the types of cohere-python.
"""

from collections.abc import Iterator, Mapping
from typing import Final, override

from pydantic import JsonValue

from warex.llm.base import (
    ApiErrorKind,
    Finish,
    Image,
    LlmAnswer,
    LlmRequest,
    Sampling,
    SerializedAnswer,
    ToolCall,
    Usage,
)
from warex.llm.body.lenient_json import as_count, as_dict, as_list, as_number, as_text, as_tokens
from warex.llm.content.images import image_at
from warex.llm.families import system_prompt, writing
from warex.llm.families.base import LlmApi
from warex.llm.families.reading import AnswerBuilder, error_message
from warex.llm.families.writing import api_finish_reason

_TOKENS_PER_IMAGE: Final = 256
"""One tile of Command A Vision in low detail; a large screenshot has several."""
_FINISH: Final[Mapping[str, Finish]] = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "MAX_TOKENS": "length",
    "TOOL_CALL": "tool_calls",
    "ERROR": "error",
    "TIMEOUT": "error",
}
_TROUBLES: Final[Mapping[ApiErrorKind, tuple[int, str]]] = {
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
        messages = as_list(body.get("messages"))
        turns = all(as_text(as_dict(message).get("role")) for message in messages)
        return bool(as_text(body.get("model"))) and bool(messages) and turns

    @override
    def read_request(self, path: str, body: Mapping[str, JsonValue], digest: str) -> LlmRequest:
        return LlmRequest(
            api=self.name,
            model=as_text(body.get("model")),
            messages=as_list(body.get("messages")),
            tools=as_list(body.get("tools")),
            stream=body.get("stream") is True,
            body_digest=digest,
            sampling=Sampling(
                as_number(body.get("temperature")),
                as_number(body.get("p")),
                as_number(body.get("seed")),
            ),
        )

    @override
    def read(self, said: AnswerBuilder, frame: Mapping[str, JsonValue], *, whole: bool) -> None:
        delta = as_dict(frame.get("delta"))
        message = as_dict(delta.get("message"))
        match frame.get("type"):
            case "message-start":
                said.begun = True
            case "content-start" | "content-delta":
                _read_part(said, as_dict(message.get("content")))
            case "tool-plan-delta":
                said.begun = True
                said.reasoning += said.spoken(message.get("tool_plan"))
            case "tool-call-start" | "tool-call-delta":
                call = as_dict(message.get("tool_calls"))
                _read_call(said, as_count(frame.get("index")), call)
            case "message-end":
                _read_end(said, delta)
                said.ended = said.begun and said.error is None
            case _ if isinstance(frame.get("message"), dict):
                _read_whole(said, frame)
            case None if frame.get("message") or frame.get("error"):
                said.error = error_message(frame)
            case _:
                pass

    @override
    def write_answer(self, request: LlmRequest, answer: LlmAnswer) -> SerializedAnswer:
        head: dict[str, JsonValue] = {"id": request.body_digest[:32]}
        end: dict[str, JsonValue] = {
            "finish_reason": api_finish_reason(answer.finish, _FINISH, "COMPLETE"),
            "usage": _usage_told(answer.usage or Usage(0, 0)),
        }
        if not request.stream:
            return writing.json_answer({**head, "message": _message(answer), **end})
        events = [*_events(answer)]
        if answer.complete:
            events.append({"type": "message-end", **head, "delta": end})
        return writing.sse([{**head, **events[0]}, *events[1:]], named=True)

    @override
    def error_response(
        self, request: LlmRequest, trouble: ApiErrorKind, wait: int
    ) -> SerializedAnswer:
        status, message = _TROUBLES[trouble]
        headers = {"retry_after": str(wait)} if trouble == "rate_limited" else {}
        return writing.json_answer(
            {"id": request.body_digest[:32], "message": message}, status, **headers
        )

    @override
    def append_to_system_prompt(self, body: bytes, text: str) -> bytes:
        return system_prompt.in_messages(body.decode(), text).encode()

    @override
    def images(self, part: Mapping[str, JsonValue]) -> Iterator[Image]:
        url = as_dict(part.get("image_url")).get("url")
        yield from image_at(url, ("image_url", "url"), _TOKENS_PER_IMAGE)


def _read_whole(said: AnswerBuilder, answer: Mapping[str, JsonValue]) -> None:
    said.begun = True
    message = as_dict(answer.get("message"))
    said.reasoning += said.spoken(message.get("tool_plan"))
    for part in map(as_dict, as_list(message.get("content"))):
        _read_part(said, part)
    for index, call in enumerate(map(as_dict, as_list(message.get("tool_calls")))):
        _read_call(said, index, call)
    _read_end(said, answer)


def _read_part(said: AnswerBuilder, part: Mapping[str, JsonValue]) -> None:
    said.begun = True
    said.text += said.spoken(part.get("text"))
    said.reasoning += said.spoken(part.get("thinking"))


def _read_call(said: AnswerBuilder, index: int, call: Mapping[str, JsonValue]) -> None:
    said.begun = True
    id, function = as_text(call.get("id")), as_dict(call.get("function"))
    said.call(index, id).add(id, function.get("name"), function.get("arguments"))


def _read_end(said: AnswerBuilder, end: Mapping[str, JsonValue]) -> None:
    if reason := as_text(end.get("finish_reason")):
        said.finish_reason, said.finish = reason, _FINISH.get(reason, "stop")
        if said.finish == "error":
            said.error = as_text(end.get("error")) or f"the model ended with {reason}"
    told = as_dict(end.get("usage"))
    # The billed units exclude Cohere's own part of the prompt.
    counted = as_dict(told.get("tokens")) or as_dict(told.get("billed_units"))
    if counted:
        said.usage = Usage(
            input_total=as_tokens(counted.get("input_tokens")),
            output_total=as_tokens(counted.get("output_tokens")),
            cache_read=as_tokens(told.get("cached_tokens")),
        )


def _usage_told(usage: Usage) -> JsonValue:
    counted: JsonValue = {"input_tokens": usage.input_total, "output_tokens": usage.output_total}
    return {"billed_units": counted, "tokens": counted, "cached_tokens": usage.cache_read}


def _call_told(call: ToolCall) -> dict[str, JsonValue]:
    function: JsonValue = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _message(answer: LlmAnswer) -> JsonValue:
    content: list[JsonValue] = []
    if answer.reasoning:
        content.append({"type": "thinking", "thinking": answer.reasoning})
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    calls: list[JsonValue] = [_call_told(call) for call in answer.tool_calls]
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
        empty = _call_told(ToolCall(call.id, call.name, ""))
        asked: JsonValue = {"tool_calls": empty}
        given: JsonValue = {"tool_calls": {"function": {"arguments": call.arguments}}}
        yield {"type": "tool-call-start", "index": number, "delta": {"message": asked}}
        yield {"type": "tool-call-delta", "index": number, "delta": {"message": given}}
        yield {"type": "tool-call-end", "index": number}
