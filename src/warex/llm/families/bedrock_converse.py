"""Amazon Bedrock's Converse: one API for the models of every provider there.

Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and the
service model of botocore.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, override
from urllib.parse import unquote

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
from warex.llm.body.lenient_json import as_count, as_dict, as_list, as_text, as_tokens, parse_json
from warex.llm.content.image_tokens import anthropic_image_tokens, image_tokens
from warex.llm.families import system_prompt, writing
from warex.llm.families.base import LlmApi, sampling_in, system_message
from warex.llm.families.reading import AnswerBuilder, FinishReasons, error_message, service_tier
from warex.llm.families.writing import api_finish_reason, parse_arguments
from warex.text.lazy_pattern import lazy_re

_STREAMED: Final = "/converse-stream"
_PATH = lazy_re(r"/model/([^?]+)/converse(?:-stream)?(?:\?|$)")
_TOKENS_PER_IMAGE: Final = 1_600
"""The maximum of a Claude model, the most common one here."""
_FINISH: Final[FinishReasons] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filtered": "content_filter",
    "guardrail_intervened": "content_filter",
    "refusal": "refusal",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}
_ERRORS: Final[Mapping[ApiErrorKind, tuple[int, str, str]]] = {
    "rate_limited": (
        429,
        "ThrottlingException",
        "Too many requests, please wait before trying again.",
    ),
    "server_error": (
        500,
        "InternalServerException",
        "The system encountered an unexpected error during processing. Try your request again.",
    ),
    "unavailable": (
        503,
        "ServiceUnavailableException",
        "Bedrock is unable to process your request.",
    ),
    "overloaded": (
        503,
        "ServiceUnavailableException",
        "Too many connections, please wait before trying again.",
    ),
    "context_too_long": (400, "ValidationException", "Input is too long for requested model."),
    "content_filtered": (400, "ValidationException", "Output blocked by content filtering policy"),
    "invalid_key": (
        403,
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
    ),
}
"""Status, type and message of each error."""


class BedrockConverse(LlmApi):
    """The Converse API."""

    name = "bedrock_converse"
    summary = "Amazon Bedrock, Converse, whole and streamed; any model."
    answer_description = "an answer of Converse"
    text_path = ("output", "message", "content")
    path_endings = ("/converse", _STREAMED)
    reports = ("cache_read", "cache_write")
    reports_wait = False

    @override
    def recognise(self, path: str, body: Mapping[str, JsonValue]) -> bool:
        if _PATH.search(path) is None:
            return False
        messages = as_list(body.get("messages"))
        # A prompt stored at AWS has its own messages.
        has_variables = isinstance(body.get("promptVariables"), dict)
        return (bool(messages) or has_variables) and all(isinstance(m, dict) for m in messages)

    @override
    def read_request(self, path: str, body: Mapping[str, JsonValue], digest: str) -> LlmRequest:
        named = _PATH.search(path)
        model = unquote(named[1]) if named else ""
        return LlmRequest(
            api=self.name,
            model=model,
            messages=system_message(as_list(body.get("system"))) + as_list(body.get("messages")),
            tools=as_list(as_dict(body.get("toolConfig")).get("tools")),
            stream=path.partition("?")[0].endswith(_STREAMED),
            body_digest=digest,
            sampling=sampling_in(as_dict(body.get("inferenceConfig")), top_p="topP"),
            continues=model if "promptVariables" in body else None,
            tier=_tier(body) or "",
        )

    @override
    def read(
        self, builder: AnswerBuilder, frame: Mapping[str, JsonValue], *, complete: bool
    ) -> None:
        # In a stream, a frame is one message: ``{type: payload}``.
        if frame.get("error"):
            builder.error = error_message(frame)
        message = as_dict(as_dict(frame.get("output")).get("message"))
        if message or "stopReason" in frame:
            builder.begun = True
            for index, block in enumerate(map(as_dict, as_list(message.get("content")))):
                _read_block(builder, index, block)
            builder.finish_with(frame.get("stopReason"), _FINISH)
            _read_usage(builder, frame)
        if "messageStart" in frame:
            builder.begun = True
        if start := as_dict(frame.get("contentBlockStart")):
            _read_block(builder, _index(start), as_dict(start.get("start")))
        if delta := as_dict(frame.get("contentBlockDelta")):
            _read_block(builder, _index(delta), as_dict(delta.get("delta")))
        if stop := as_dict(frame.get("messageStop")):
            builder.finish_with(stop.get("stopReason"), _FINISH)
            builder.ended = builder.begun
        _read_usage(builder, as_dict(frame.get("metadata")))

    @override
    def tool_names(self, tools: Iterable[JsonValue]) -> Iterator[str]:
        for tool in map(as_dict, tools):
            if name := as_text(as_dict(tool.get("toolSpec")).get("name")):
                yield name

    @override
    def write_answer(self, request: LlmRequest, answer: LlmAnswer) -> SerializedAnswer:
        reason = api_finish_reason(answer.finish, _FINISH)
        usage = _written_usage(answer.usage or Usage(0, 0))
        tier = writing.service_tier_of(request, answer, "default")
        billed: dict[str, JsonValue] = {"serviceTier": {"type": tier}} if tier else {}
        metered: dict[str, JsonValue] = {"usage": usage, "metrics": {"latencyMs": 1000}, **billed}
        if not request.stream:
            content: list[JsonValue] = [block for block, _, _ in _blocks(answer)]
            message: JsonValue = {"role": "assistant", "content": content}
            output: JsonValue = {"message": message}
            return writing.json_answer({"output": output, "stopReason": reason, **metered})
        events: list[tuple[str, JsonValue]] = [("messageStart", {"role": "assistant"})]
        for index, (_, start, deltas) in enumerate(_blocks(answer)):
            at: dict[str, JsonValue] = {"contentBlockIndex": index}
            if start:
                events.append(("contentBlockStart", {**at, "start": start}))
            events += (("contentBlockDelta", {**at, "delta": delta}) for delta in deltas)
            events.append(("contentBlockStop", at))
        if answer.complete:
            events.append(("messageStop", {"stopReason": reason}))
            events.append(("metadata", metered))
        return writing.aws_stream(events)

    @override
    def write_error(self, request: LlmRequest, kind: ApiErrorKind, wait: int) -> SerializedAnswer:
        status, name, message = _ERRORS[kind]
        return writing.json_answer({"message": message}, status, x_amzn_errortype=f"{name}:")

    @override
    def is_finish(self, request: LlmRequest, frame: Mapping[str, JsonValue]) -> bool:
        return "messageStop" in frame

    @override
    def write_error_event(
        self,
        request: LlmRequest,
        kind: StreamErrorKind,
        before: Sequence[Mapping[str, JsonValue]],
    ) -> bytes:
        _, name, message = _ERRORS[kind]
        return writing.aws_exception(name, message)

    @override
    def add_system_text(self, sent: str, text: str) -> str:
        if "promptVariables" in as_dict(parse_json(sent.encode())):
            raise ValueError("AWS keeps its prompt, and takes no system prompt beside that")
        return system_prompt.in_member(sent, "system", text, amazon=True)

    @override
    def images(self, part: Mapping[str, JsonValue]) -> Iterator[Image]:
        image = as_dict(part.get("image"))
        if source := as_dict(image.get("source")):
            sent = source.get("bytes")
            data = sent if isinstance(sent, str) else None
            media_type = f"image/{as_text(image.get('format')) or 'png'}"
            tokens = image_tokens(data, anthropic_image_tokens, _TOKENS_PER_IMAGE)
            yield Image(("image", "source", "bytes"), tokens, media_type, data)


def _index(frame: Mapping[str, JsonValue]) -> int:
    return as_count(frame.get("contentBlockIndex"))


def _read_block(builder: AnswerBuilder, index: int, block: Mapping[str, JsonValue]) -> None:
    """Read a block, its start or a delta: they have the same members."""
    builder.begun = True
    builder.text += builder.text_piece(block.get("text"))
    for part in map(as_dict, as_list(as_dict(block.get("citationsContent")).get("content"))):
        builder.text += builder.text_piece(part.get("text"))
    thought = as_dict(block.get("reasoningContent"))
    reasoning = as_dict(thought.get("reasoningText"))
    builder.reasoning += builder.text_piece(reasoning.get("text")) or builder.text_piece(
        thought.get("text")
    )
    if used := as_dict(block.get("toolUse")):
        id = as_text(used.get("toolUseId"))
        call = builder.call(index, id)
        call.add(id, used.get("name"), used.get("input"))
        call.by_server = call.by_server or used.get("type") == "server_tool_use"


def _read_usage(builder: AnswerBuilder, end: Mapping[str, JsonValue]) -> None:
    """Read a usage; ``inputTokens`` excludes tokens read from or written to a cache."""
    builder.set_tier(_tier(end))
    usage = as_dict(end.get("usage"))
    if not usage:
        return
    # In Nova's form the names end in Count.
    read, written = (
        as_tokens(usage.get(f"{name}s")) or as_tokens(usage.get(f"{name}Count"))
        for name in ("cacheReadInputToken", "cacheWriteInputToken")
    )
    builder.usage = Usage(
        input_total=as_tokens(usage.get("inputTokens")) + read + written,
        output_total=as_tokens(usage.get("outputTokens")),
        cache_read=read,
        cache_write=written,
        cache_write_1h=sum(
            as_tokens(each.get("inputTokens"))
            for each in map(as_dict, as_list(usage.get("cacheDetails")))
            if each.get("ttl") == "1h"
        ),
    )


def _tier(sent: Mapping[str, JsonValue]) -> str | None:
    return service_tier(as_dict(sent.get("serviceTier")).get("type"))


def _written_usage(usage: Usage) -> JsonValue:
    return {
        "inputTokens": usage.input_plain,
        "outputTokens": usage.output_total,
        "totalTokens": usage.input_total + usage.output_total,
        "cacheReadInputTokens": usage.cache_read,
        "cacheWriteInputTokens": usage.cache_write,
    }


def _blocks(answer: LlmAnswer) -> Iterator[tuple[JsonValue, JsonValue, list[JsonValue]]]:
    """Yield each block whole, its start in a stream, and its deltas."""
    if answer.reasoning:
        thought: JsonValue = {"reasoningText": {"text": answer.reasoning, "signature": "c2ln"}}
        pieces: list[JsonValue] = [
            {"reasoningContent": {"text": word}} for word in writing.word_chunks(answer.reasoning)
        ]
        yield {"reasoningContent": thought}, None, pieces
    if answer.text:
        deltas: list[JsonValue] = [{"text": word} for word in writing.word_chunks(answer.text)]
        yield {"text": answer.text}, None, deltas
    for call in answer.tool_calls:
        begun: dict[str, JsonValue] = {"toolUseId": call.id, "name": call.name}
        arguments = parse_arguments(call.arguments)
        piece: JsonValue = {"toolUse": {"input": call.arguments}}
        yield {"toolUse": begun | {"input": arguments}}, {"toolUse": begun}, [piece]
