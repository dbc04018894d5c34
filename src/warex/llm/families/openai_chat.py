"""OpenAI Chat Completions, also of Azure, OpenRouter, vLLM, Ollama and most gateways.

Source: https://platform.openai.com/docs/api-reference/chat and the types of openai-python; vLLM's
``protocol.py`` for ``reasoning`` and ``continuous_usage_stats``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ClassVar, Final, override

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
from warex.llm.body.framing import is_done
from warex.llm.body.lenient_json import as_count, as_dict, as_list, as_text, as_tokens
from warex.llm.content.image_tokens import Size, openai_image_tokens
from warex.llm.content.images import image_at
from warex.llm.families import writing
from warex.llm.families.base import LlmApi, are_messages
from warex.llm.families.reading import AnswerBuilder, FinishReasons, error_message, service_tier
from warex.llm.families.writing import api_finish_reason
from warex.text.lazy_pattern import lazy_re

_DEPLOYMENT = lazy_re(r"/deployments/([^/?]+)/chat/completions")
CREATED: Final = 1_767_225_600
"""The constant creation time of written answers, in seconds of Unix time."""
_TOKENS_PER_IMAGE: Final = 765
"""A screen of about 1024 x 1024 in high detail (OpenAI vision guide, GPT-4o)."""
_TOKENS_PER_SMALL_IMAGE: Final = 85
"""Any image in low detail."""
_FINISH: Final[FinishReasons] = {
    "stop": "stop",
    "length": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "error": "error",
}
"""The finish reasons of OpenAI and Mistral."""
_ERRORS: Final[Mapping[ApiErrorKind, tuple[int, str, str | None, str]]] = {
    "rate_limited": (
        429,
        "requests",
        "rate_limit_exceeded",
        "Rate limit reached for {model} on requests per min (RPM): Limit 500, Used 500.",
    ),
    "server_error": (
        500,
        "server_error",
        None,
        "The server had an error while processing your request. Sorry about that!",
    ),
    "unavailable": (503, "server_error", None, "The server is currently unavailable."),
    "overloaded": (
        503,
        "server_error",
        None,
        "That model is currently overloaded with other requests. You can retry your request.",
    ),
    "context_too_long": (
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "This model's maximum context length is 128000 tokens. Please reduce the length of the"
        " messages.",
    ),
    "content_filtered": (
        400,
        "invalid_request_error",
        "content_policy_violation",
        "Your request was rejected as a result of our safety system.",
    ),
    "invalid_key": (
        401,
        "invalid_request_error",
        "invalid_api_key",
        "Incorrect API key provided. You can find your API key in your account's settings.",
    ),
}
"""Status, type, code and message of each error (docs, "Error codes")."""

_WITHOUT_USAGE: Final = "without_usage"
"""The form of a stream without usage: its clients expect a choice in every chunk."""


class OpenAiChat(LlmApi):
    """The Chat Completions API."""

    name = "openai_chat"
    summary = "OpenAI Chat Completions; also Azure, Mistral, OpenRouter, vLLM and other gateways."
    answer_description = "a chat completion"
    text_path = ("choices", 0, "message", "content")
    path_endings: ClassVar[tuple[str, ...]] = ("/chat/completions", "/agents/completions")

    @override
    def recognise(self, path: str, body: Mapping[str, JsonValue]) -> bool:
        messages = body.get("messages")
        asked = body.get("model", body.get("agent_id"))
        if isinstance(asked, str) or _DEPLOYMENT.search(path):
            return are_messages(messages)
        # A server of one model, such as llama.cpp's or Azure AI's, needs no name.
        return asked is None and are_messages(messages, with_roles=True)

    @override
    def read_request(self, path: str, body: Mapping[str, JsonValue], digest: str) -> LlmRequest:
        deployment = _DEPLOYMENT.search(path)
        usage = as_dict(body.get("stream_options")).get("include_usage") is True
        request = super().read_request(path, body, digest)
        # Mistral's agents name no model.
        named = request.model or as_text(body.get("agent_id"))
        return replace(
            request,
            model=named or (deployment[1] if deployment else ""),
            tools=request.tools or as_list(body.get("functions")),
            variant=_WITHOUT_USAGE if request.stream and not usage else "",
            tier=service_tier(body.get("service_tier")) or "",
        )

    @override
    def read(
        self, builder: AnswerBuilder, frame: Mapping[str, JsonValue], *, complete: bool
    ) -> None:
        builder.model = as_text(frame.get("model")) or builder.model
        # A running usage (vLLM's continuous_usage_stats) is cumulative, so the last one counts.
        # Groq sends it unasked in x_groq.
        usage = frame.get("usage") or as_dict(frame.get("x_groq")).get("usage")
        if usage:
            builder.usage = _usage(as_dict(usage)) or builder.usage
        if "service_tier" in frame:
            builder.set_tier(service_tier(frame["service_tier"]))
        # Older vLLM sends flat errors, also within a stream.
        flat = "choices" not in frame and as_text(frame.get("message"))
        if frame.get("error") or flat:
            builder.error = error_message(frame)
        part = "message" if complete else "delta"
        for choice in map(as_dict, as_list(frame.get("choices"))):
            # Moonshot sends the usage here.
            if "usage" in choice:
                builder.usage = _usage(as_dict(choice["usage"])) or builder.usage
            says = isinstance(choice.get(part), dict) or choice.get("finish_reason")
            if says and as_count(choice.get("index")) == 0:
                _read_choice(builder, choice, as_dict(choice.get(part)))

    @override
    def write_answer(self, request: LlmRequest, answer: LlmAnswer) -> SerializedAnswer:
        refused = answer.finish == "refusal"
        reason = api_finish_reason(answer.finish, _FINISH)
        usage = _written_usage(answer.usage or Usage(0, 0))
        head: dict[str, JsonValue] = {
            "id": f"chatcmpl-{request.body_digest[:24]}",
            "object": "chat.completion.chunk" if request.stream else "chat.completion",
            "created": CREATED,
            "model": answer.model,
        }
        if tier := writing.service_tier_of(request, answer, "default"):
            head["service_tier"] = tier
        calls: list[JsonValue] = [
            {"index": index, **writing.function_call(call)}
            for index, call in enumerate(answer.tool_calls)
        ]
        if not request.stream:
            message: dict[str, JsonValue] = {
                "role": "assistant",
                "content": None if refused or not answer.text else answer.text,
                "refusal": answer.text if refused else None,
            }
            if answer.reasoning:
                message["reasoning_content"] = answer.reasoning
            if calls:
                message["tool_calls"] = calls
            choice: JsonValue = {"index": 0, "message": message, "finish_reason": reason}
            return writing.json_answer({**head, "choices": [choice], "usage": usage})
        field = "refusal" if refused else "content"
        deltas: list[dict[str, JsonValue]] = [{"role": "assistant", "content": ""}]
        deltas += ({"reasoning_content": word} for word in writing.word_chunks(answer.reasoning))
        deltas += ({field: word} for word in writing.word_chunks(answer.text))
        deltas += ({"tool_calls": [call]} for call in calls)
        with_usage = request.variant != _WITHOUT_USAGE
        if with_usage:
            head["usage"] = None
        chunks = [_chunk(head, delta, None) for delta in deltas]
        if not answer.complete:
            return writing.sse(chunks)
        chunks.append(_chunk(head, {}, reason))
        if with_usage:
            chunks.append({**head, "choices": [], "usage": usage})
        return writing.sse(chunks, end="data: [DONE]\n\n")

    @override
    def write_error(self, request: LlmRequest, kind: ApiErrorKind, wait: int) -> SerializedAnswer:
        return openai_error(request, kind, wait, "messages")

    @override
    def is_finish(self, request: LlmRequest, frame: Mapping[str, JsonValue]) -> bool:
        return any(as_dict(it).get("finish_reason") for it in as_list(frame.get("choices")))

    @override
    def is_end_marker(self, request: LlmRequest, frame: Mapping[str, JsonValue]) -> bool:
        return False

    @override
    def has_end_marker(self, event: bytes) -> bool:
        return is_done(event)

    @override
    def write_error_event(
        self,
        request: LlmRequest,
        kind: StreamErrorKind,
        before: Sequence[Mapping[str, JsonValue]],
    ) -> bytes:
        return writing.sse_event({"error": openai_error_object(request, kind, "messages")})

    @override
    def images(self, part: Mapping[str, JsonValue]) -> Iterator[Image]:
        image_url = part.get("image_url")
        if isinstance(image_url, dict):
            yield from image_at(image_url.get("url"), ("image_url", "url"), *image_cost(image_url))
        else:
            yield from image_at(image_url, ("image_url",), *image_cost({}))


def image_cost(image: Mapping[str, JsonValue]) -> tuple[int, Callable[[Size], int] | None]:
    """Return an image's usual tokens, and how its size gives them, by its ``detail``."""
    if image.get("detail") == "low":
        return _TOKENS_PER_SMALL_IMAGE, None
    return _TOKENS_PER_IMAGE, openai_image_tokens


def _chunk(
    head: Mapping[str, JsonValue], delta: dict[str, JsonValue], reason: str | None
) -> JsonValue:
    choice: JsonValue = {"index": 0, "delta": delta, "finish_reason": reason}
    return {**head, "choices": [choice]}


def _written_usage(usage: Usage) -> JsonValue:
    return {
        "prompt_tokens": usage.input_total,
        "completion_tokens": usage.output_total,
        "total_tokens": usage.input_total + usage.output_total,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def openai_error(
    request: LlmRequest, kind: ApiErrorKind, wait: int, prompt: str
) -> SerializedAnswer:
    """Return an error of OpenAI; ``prompt`` is the parameter named for a long prompt."""
    status = _ERRORS[kind][0]
    error = openai_error_object(request, kind, prompt)
    headers: dict[str, str] = {"x_request_id": f"req_{request.body_digest[:32]}"}
    if kind == "rate_limited":
        headers |= {
            "retry_after": str(wait),
            "retry_after_ms": str(1000 * wait),
            "x_ratelimit_limit_requests": "500",
            "x_ratelimit_remaining_requests": "0",
            "x_ratelimit_reset_requests": f"{wait}s",
        }
    return writing.json_answer({"error": error}, status, **headers)


def openai_error_object(
    request: LlmRequest, kind: ApiErrorKind, prompt: str
) -> dict[str, JsonValue]:
    """Return the object of an error of OpenAI."""
    _, name, code, message = _ERRORS[kind]
    return {
        "message": message.format(model=request.model),
        "type": name,
        "param": prompt if kind == "context_too_long" else None,
        "code": code,
    }


def _read_choice(
    builder: AnswerBuilder, choice: Mapping[str, JsonValue], part: Mapping[str, JsonValue]
) -> None:
    builder.begun = True
    content = part.get("content")
    builder.text += _content(builder, content)
    if isinstance(content, list):
        # Mistral's reasoning models.
        for piece in map(as_dict, content):
            builder.reasoning += _content(builder, piece.get("thinking"))
    if "refusal" in part:
        builder.refusal += builder.text_piece(part["refusal"])
    if "reasoning" in part or "reasoning_content" in part:
        builder.reasoning += builder.text_piece(part.get("reasoning")) or builder.text_piece(
            part.get("reasoning_content")
        )
    for position, call in enumerate(map(as_dict, as_list(part.get("tool_calls")))):
        number = call.get("index")
        id, function = as_text(call.get("id")), as_dict(call.get("function"))
        # A custom tool takes any text.
        custom = as_dict(call.get("custom"))
        index = number if isinstance(number, int) else position
        builder.call(index, id).add(id, function.get("name"), function.get("arguments"))
        builder.call(index, id).add("", custom.get("name"), custom.get("input"))
    if legacy := as_dict(part.get("function_call")):
        builder.call(0).add("", legacy.get("name"), legacy.get("arguments"))
    if builder.finish_with(choice.get("finish_reason"), _FINISH):
        builder.ended = True


def _usage(usage: Mapping[str, JsonValue]) -> Usage | None:
    if not usage:
        return None
    read = as_dict(usage.get("prompt_tokens_details"))
    written = as_dict(usage.get("completion_tokens_details"))
    # The names of OpenRouter, LiteLLM and older LiteLLM.
    put = (
        read.get("cache_write_tokens"),
        read.get("cache_creation_tokens"),
        usage.get("cache_creation_input_tokens"),
    )
    # The names of OpenAI, DeepSeek, Moonshot and older LiteLLM.
    got = (
        read.get("cached_tokens"),
        usage.get("prompt_cache_hit_tokens"),
        usage.get("cached_tokens"),
        usage.get("cache_read_input_tokens"),
    )
    lasting = as_dict(read.get("cache_creation_token_details")).get("ephemeral_1h_input_tokens")
    asked = as_tokens(usage.get("prompt_tokens"))
    output = as_tokens(usage.get("completion_tokens"))
    thought = as_tokens(written.get("reasoning_tokens"))
    beside = as_tokens(usage.get("total_tokens")) - asked - output
    if min(asked, output) >= 0 and beside > 0 and thought in (0, beside):
        # xAI counts reasoning beside the completion; Google only in the total.
        output, thought = output + beside, beside
    return Usage(
        input_total=asked,
        output_total=output,
        cache_read=next(filter(None, map(as_tokens, got)), 0),
        cache_write=next(filter(None, map(as_tokens, put)), 0),
        cache_write_1h=as_tokens(lasting),
        reasoning=thought,
    )


def _content(builder: AnswerBuilder, content: JsonValue) -> str:
    """Return the text of a content that is a string or a list of parts."""
    if isinstance(content, list):
        parts = map(as_dict, content)
        return "".join(
            builder.text_piece(p.get("text")) or builder.text_piece(p.get("refusal")) for p in parts
        )
    return builder.text_piece(content)
