"""Gemini, on Google's own API and on Vertex AI: generateContent and streamGenerateContent.

Both use the JSON form of protocol buffers: keys in camelCase or, from a client, in snake_case, and
one object in place of a list.

Source: https://ai.google.dev/api/generate-content and the types of python-genai.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, override
from urllib.parse import parse_qs, unquote

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
from warex.llm.body.framing import array_items
from warex.llm.body.lenient_json import (
    as_count,
    as_dict,
    as_list,
    as_text,
    as_tokens,
    parse_first_object,
)
from warex.llm.content.image_tokens import gemini_image_tokens, image_tokens
from warex.llm.families import writing
from warex.llm.families.base import LlmApi, are_messages, sampling_in, system_message
from warex.llm.families.reading import AnswerBuilder, FinishReasons, error_message, service_tier
from warex.llm.families.writing import api_finish_reason
from warex.text.lazy_pattern import lazy_re

_STREAM: Final = ":streamGenerateContent"
_ARRAY: Final = "array"
"""The form of a stream without ``alt=sse``: one growing JSON array."""
_TOKENS_PER_IMAGE: Final = 1_548
"""A screenshot in 16:9 has six tiles of 258 (docs, "Understand and count tokens")."""
_FINISH: Final[FinishReasons] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "MODEL_ARMOR": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "IMAGE_PROHIBITED_CONTENT": "content_filter",
    "IMAGE_RECITATION": "content_filter",
    "LANGUAGE": "error",
    "OTHER": "error",
    "MALFORMED_FUNCTION_CALL": "error",
    "MALFORMED_RESPONSE": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "MISSING_THOUGHT_SIGNATURE": "error",
    "NO_IMAGE": "error",
    "IMAGE_OTHER": "error",
}
_DELAY: Final = lazy_re(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)s")
_BLOCKED: Final = "PROHIBITED_CONTENT"
_ERRORS: Final[Mapping[ApiErrorKind, tuple[int, str, str]]] = {
    "rate_limited": (
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "server_error": (500, "INTERNAL", "An internal error has occurred. Please retry."),
    "unavailable": (503, "UNAVAILABLE", "The service is currently unavailable."),
    "overloaded": (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    "context_too_long": (
        400,
        "INVALID_ARGUMENT",
        "The input token count (1310720) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "invalid_key": (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
}
"""HTTP status, status and message of each error (docs, "Troubleshooting guide"). For a blocked
prompt the API answers 200."""
_COUNTS: Final = (
    "promptTokenCount", "toolUsePromptTokenCount", "candidatesTokenCount", "thoughtsTokenCount",
)  # fmt: skip
_CODE: Final = "code_execution"
"""The tool that runs a model's ``executableCode``."""
_CAPITAL: Final = lazy_re("[A-Z]")
_URL_SAFE: Final = str.maketrans("-_", "+/")


class Gemini(LlmApi):
    """The generateContent API."""

    name = "gemini"
    summary = "Gemini `generateContent`, streamed or not; also on Vertex AI, and tuned models."
    answer_description = "an answer of Gemini"
    text_path = ("candidates", 0, "content", "parts")
    path_endings = (":generateContent", _STREAM)
    counting_endings = (":countTokens",)
    prompts = ("contents",)
    reports = ("model", "cache_read", "reasoning")

    @override
    def recognise(self, path: str, body: Mapping[str, JsonValue]) -> bool:
        return are_messages(_several(body.get("contents")))

    @override
    def read_request(self, path: str, body: Mapping[str, JsonValue], digest: str) -> LlmRequest:
        config = as_dict(_get(body, "generationConfig"))
        where, _, query = path.partition("?")
        stream = where.endswith(_STREAM)
        return LlmRequest(
            api=self.name,
            model=_model(where),
            messages=[
                *system_message(_get(body, "systemInstruction")),
                *_several(body.get("contents")),
            ],
            tools=_several(body.get("tools")),
            stream=stream,
            variant=_ARRAY if stream and parse_qs(query).get("alt") != ["sse"] else "",
            body_digest=digest,
            tier=service_tier(_get(body, "serviceTier")) or "",
            sampling=sampling_in(config, top_p="top_p" if config.get("topP") is None else "topP"),
        )

    @override
    def read(
        self, builder: AnswerBuilder, frame: Mapping[str, JsonValue], *, complete: bool
    ) -> None:
        if frame.get("error"):
            builder.error = error_message(frame)
        builder.model = (
            as_text(_get(frame, "modelVersion")).removeprefix("models/") or builder.model
        )
        counted = as_dict(_get(frame, "usageMetadata"))
        if (usage := _usage(counted)) is not None:
            builder.usage, builder.is_counted = usage, usage.output_total > 0
        # Google's own API sends the first, Vertex AI the second.
        for key in ("serviceTier", "trafficType"):
            builder.set_tier(service_tier(_get(counted, key)))
        if blocked := as_text(_get(as_dict(_get(frame, "promptFeedback")), "blockReason")):
            builder.begun = builder.ended = True
            builder.finish_reason, builder.finish = blocked, "content_filter"
        candidates = map(as_dict, _several(frame.get("candidates")))
        first = next((one for one in candidates if not as_count(one.get("index"))), None)
        if first is not None:
            _read_candidate(builder, first)

    @override
    def tool_names(self, tools: Iterable[JsonValue]) -> Iterator[str]:
        for tool in map(as_dict, tools):
            yield from super().tool_names(_several(_get(tool, "functionDeclarations")))

    @override
    def write_answer(self, request: LlmRequest, answer: LlmAnswer) -> SerializedAnswer:
        usage = _written_usage(answer.usage or Usage(0, 0))
        if tier := writing.service_tier_of(request, answer, "standard"):
            usage["serviceTier"] = tier
        tail: dict[str, JsonValue] = {
            "modelVersion": answer.model,
            "responseId": request.body_digest[:24],
        }
        words = writing.word_chunks if request.stream else _as_one
        parts: list[JsonValue] = [{"text": w, "thought": True} for w in words(answer.reasoning)]
        parts += ({"text": word} for word in words(answer.text))
        reason = api_finish_reason(answer.finish, _FINISH)
        for call in answer.tool_calls:
            id: dict[str, JsonValue] = {"id": call.id} if call.id else {}
            arguments = writing.parse_arguments(call.arguments)
            parts.append({"functionCall": {**id, "name": call.name, "args": arguments}})
        if not request.stream:
            candidate = {"content": _content(parts), "finishReason": reason, "index": 0}
            return writing.json_answer(
                {"candidates": [candidate], "usageMetadata": {**usage}, **tail}
            )
        chunks: list[JsonValue] = [
            {"candidates": [{"content": _content([part]), "index": 0}], **tail} for part in parts
        ]
        if answer.complete:
            last = {"content": _content([{"text": ""}]), "finishReason": reason, "index": 0}
            chunks.append({"candidates": [last], "usageMetadata": {**usage}, **tail})
        return _streamed(request, chunks, complete=answer.complete)

    @override
    def write_error(self, request: LlmRequest, kind: ApiErrorKind, wait: int) -> SerializedAnswer:
        if kind == "content_filtered":
            blocked: JsonValue = {
                "promptFeedback": {"blockReason": _BLOCKED},
                "usageMetadata": {**_written_usage(Usage(0, 0))},
                "modelVersion": request.model,
            }
            if request.stream:
                return _streamed(request, [blocked], complete=True)
            return writing.json_answer(blocked)
        code, status, message = _ERRORS[kind]
        error: dict[str, JsonValue] = {"code": code, "message": message, "status": status}
        if kind == "rate_limited":
            name = "type.googleapis.com/google.rpc.RetryInfo"
            error["details"] = [{"@type": name, "retryDelay": f"{wait}s"}]
        body: JsonValue = {"error": error}
        return writing.json_answer([body] if request.variant == _ARRAY else body, code)

    @override
    def events_of(self, request: LlmRequest, body: bytes, content_type: str) -> list[bytes]:
        if request.variant == _ARRAY and body.lstrip().startswith(b"["):
            return array_items(body)
        return super().events_of(request, body, content_type)

    @override
    def frames_of(self, request: LlmRequest, event: bytes, content_type: str) -> list[JsonValue]:
        if request.variant == _ARRAY:
            event = event.strip(b"[], \r\n")
        return super().frames_of(request, event, content_type)

    @override
    def is_finish(self, request: LlmRequest, frame: Mapping[str, JsonValue]) -> bool:
        candidates = map(as_dict, _several(frame.get("candidates")))
        return any(_get(candidate, "finishReason") for candidate in candidates)

    @override
    def write_error_event(
        self,
        request: LlmRequest,
        kind: StreamErrorKind,
        before: Sequence[Mapping[str, JsonValue]],
    ) -> bytes:
        code, status, message = _ERRORS[kind]
        error: JsonValue = {"error": {"code": code, "message": message, "status": status}}
        text = json.dumps(error, indent=2)
        # In a stream of events it is not an event (measured by the way that Google's SDKs read it).
        return f"{text}\n]".encode() if request.variant == _ARRAY else f"{text}\n".encode()

    @override
    def retry_after(self, headers: Mapping[str, str], body: bytes) -> float | None:
        error = as_dict(parse_first_object(body).get("error"))
        for detail in map(as_dict, as_list(error.get("details"))):
            delay = _DELAY.fullmatch(as_text(detail.get("retryDelay")))
            if delay and as_text(detail.get("@type")).endswith("google.rpc.RetryInfo"):
                return float(delay[1])
        return super().retry_after(headers, body)

    @override
    def add_system_text(self, sent: str, text: str) -> str:
        body = json_splice.root(sent)
        if not isinstance(body.value, dict):
            raise ValueError("it is not an object")
        if _get(body.value, "cachedContent"):
            raise ValueError("its system prompt lies in Google's cache (cachedContent)")
        key = "systemInstruction"
        if body.value.get(key) is None and _snake(key) in body.value:
            key = _snake(key)
        own: list[JsonValue] = [{"text": text}]
        match system := json_splice.member(sent, body, key):
            case None:
                return json_splice.insert_member(sent, body, key, {"parts": own})
            case json_splice.Span(value=None):
                return json_splice.replace(sent, system, {"parts": own})
            case json_splice.Span(value=str() as existing):
                return json_splice.append_to_string(
                    sent, system, f"\n\n{text}" if existing else text
                )
            case json_splice.Span(value=dict()):
                return _with_part(sent, system, text)
            case _:
                raise ValueError("its system prompt is neither text nor parts")

    @override
    def images(self, part: Mapping[str, JsonValue]) -> Iterator[Image]:
        for key, where in (("inlineData", "data"), ("fileData", "fileUri")):
            for holder in (key, _snake(key)):
                media = as_dict(part.get(holder))
                kind = as_text(_get(media, "mimeType"))
                if not kind.lower().startswith("image/"):
                    continue
                at = (holder, where if where in media else _snake(where))
                data = as_text(media.get("data")) if key == "inlineData" else None
                plain = _plain_base64(data) if data else None
                tokens = image_tokens(plain, gemini_image_tokens, _TOKENS_PER_IMAGE)
                yield Image(at, tokens, kind, plain)


def _snake(key: str) -> str:
    return _CAPITAL.sub(lambda match: f"_{match[0].lower()}", key)


def _get(sent: Mapping[str, JsonValue], key: str) -> JsonValue:
    """Return the value of a key in camelCase or in snake_case."""
    value = sent.get(key)
    return sent.get(_snake(key)) if value is None else value


def _several(value: JsonValue) -> list[JsonValue]:
    """Return a list; a single object becomes a list of one."""
    return [value] if isinstance(value, dict) else as_list(value)


def _model(path: str) -> str:
    """Return the model in a path, with the kind of a tuned one: ``tunedModels/shop``."""
    *_, kind, last = f"/{path}".split("/")
    name = unquote(last.rpartition(":")[0])
    return name if kind in ("models", "") else f"{kind}/{name}"


def _plain_base64(data: str) -> str:
    """Return base64 in the standard alphabet (RFC 4648): Google's SDKs send the URL-safe one."""
    if "-" in data or "_" in data:
        data = data.translate(_URL_SAFE)
    return data + "=" * (-len(data) % 4)


def _as_one(text: str) -> list[str]:
    return [text] if text else []


def _content(parts: list[JsonValue]) -> JsonValue:
    return {"role": "model", "parts": parts}


def _streamed(request: LlmRequest, chunks: list[JsonValue], *, complete: bool) -> SerializedAnswer:
    if request.variant != _ARRAY:
        return writing.sse(chunks)
    items = ",\n".join(json.dumps(chunk, ensure_ascii=False) for chunk in chunks)
    body = f"[{items}]" if complete else f"[{items}"
    return SerializedAnswer(200, {"content-type": "application/json"}, body.encode())


def _written_usage(usage: Usage) -> dict[str, JsonValue]:
    return {
        "promptTokenCount": usage.input_total,
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": usage.output_total - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input_total + usage.output_total,
    }


def _read_candidate(builder: AnswerBuilder, candidate: Mapping[str, JsonValue]) -> None:
    builder.begun = True
    for part in map(as_dict, _several(as_dict(candidate.get("content")).get("parts"))):
        if part.get("thought") is True:
            builder.reasoning += builder.text_piece(part.get("text"))
        else:
            builder.text += builder.text_piece(part.get("text"))
        if called := as_dict(_get(part, "functionCall")):
            call = builder.call(len(builder.calls))
            call.add(called.get("id"), called.get("name"), called.get("args"))
        if code := as_dict(_get(part, "executableCode")):
            call = builder.call(len(builder.calls))
            call.add(code.get("id"), _CODE, code)
            call.by_server = True
    if builder.finish_with(_get(candidate, "finishReason"), _FINISH):
        builder.ended = True
        builder.error_excerpt = as_text(_get(candidate, "finishMessage"))


def _usage(counted: Mapping[str, JsonValue]) -> Usage | None:
    """Return the cumulative usage of an event; None if it has only the kind of traffic.

    ``promptTokenCount`` includes cached tokens, but not those of tools or of reasoning.
    """
    counts = [_get(counted, key) for key in _COUNTS]
    if all(count is None for count in counts):
        return None
    prompt, of_tools, written, thought = map(as_tokens, counts)
    return Usage(
        input_total=prompt + of_tools,
        output_total=written + thought,
        cache_read=as_tokens(_get(counted, "cachedContentTokenCount")),
        reasoning=thought,
    )


def _with_part(sent: str, system: json_splice.Span, text: str) -> str:
    own: JsonValue = {"text": text}
    more: JsonValue = {"text": f"\n\n{text}"}
    match parts := json_splice.member(sent, system, "parts"):
        case None:
            return json_splice.insert_member(sent, system, "parts", [own])
        case json_splice.Span(value=None):
            return json_splice.replace(sent, parts, [own])
        case json_splice.Span(value=dict()):
            one = sent[parts.begin : parts.end]
            return f"{sent[: parts.begin]}[{one}, {json.dumps(more)}]{sent[parts.end :]}"
        case json_splice.Span(value=list() as items) if all(
            isinstance(part, dict) for part in items
        ):
            return json_splice.append_item(sent, parts, more if items else own)
        case _:
            raise ValueError("the parts of its system prompt are not understood")
