"""Amazon Bedrock's InvokeModel, with bodies in the form of the model's provider.

It reads bodies of Anthropic, of Amazon's Nova, and in OpenAI's form (gpt-oss, Mistral, Qwen). A
stream carries the provider's events in base64. Source:
https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html
"""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, override
from urllib.parse import unquote

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
from warex.llm.body.broken_json import broken
from warex.llm.body.framing import payload_of, split_frames, with_payload
from warex.llm.body.lenient_json import as_dict, as_list, as_text, as_tokens, parse_object
from warex.llm.families import writing
from warex.llm.families.anthropic_messages import AnthropicMessages
from warex.llm.families.base import LlmApi, are_messages
from warex.llm.families.bedrock_converse import BedrockConverse
from warex.llm.families.openai_chat import OpenAiChat
from warex.llm.families.reading import AnswerBuilder
from warex.text.lazy_pattern import lazy_re

_STREAMED: Final = "/invoke-with-response-stream"
_PATH = lazy_re(r"/model/([^?]+)/invoke(?:-with-response-stream)?(?:\?|$)")
_METRICS: Final = "amazon-bedrock-invocationMetrics"
"""In the last event of each stream."""
_FORMS: Final[Mapping[str, LlmApi]] = {
    "anthropic": AnthropicMessages(),
    "nova": BedrockConverse(),
    "openai": OpenAiChat(),
}


class BedrockInvoke(LlmApi):
    """The InvokeModel API."""

    name = "bedrock_invoke"
    summary = "Amazon Bedrock, InvokeModel: bodies of Claude, of Nova, and those in OpenAI's form."
    answer_description = "an answer of a model that WAREX knows"
    path_endings = ("/invoke", _STREAMED)
    reports = ()
    reports_wait = False

    @override
    def recognise(self, path: str, body: Mapping[str, JsonValue]) -> bool:
        alike = are_messages(body.get("messages"), with_roles=True)
        return alike and _PATH.search(path) is not None

    @override
    def read_request(self, path: str, body: Mapping[str, JsonValue], digest: str) -> LlmRequest:
        form, named = _form(body), _PATH.search(path)
        asked = _FORMS[form].read_request(path, body, digest)
        return replace(
            asked,
            api=self.name,
            variant=form,
            model=unquote(named[1]) if named else "",
            stream=path.partition("?")[0].endswith(_STREAMED),
        )

    @override
    def read(
        self, builder: AnswerBuilder, frame: Mapping[str, JsonValue], *, complete: bool
    ) -> None:
        event = _inner(frame)
        form = "openai" if "choices" in event else "anthropic" if "type" in event else "nova"
        _FORMS[form].read(builder, event, complete=complete)
        if builder.usage is None:
            builder.usage = _usage(as_dict(event.get(_METRICS)))

    @override
    def tool_names(self, tools: Iterable[JsonValue]) -> Iterator[str]:
        all_tools = list(tools)
        for form in ("openai", "nova"):
            yield from _FORMS[form].tool_names(all_tools)

    @override
    def write_answer(self, request: LlmRequest, answer: LlmAnswer) -> SerializedAnswer:
        written = _FORMS[request.variant].write_answer(request, answer)
        if not request.stream:
            return written
        events = split_frames(written.body, written.headers["content-type"]).items
        chunks = (base64.b64encode(json.dumps(event).encode()).decode() for event in events)
        return writing.aws_stream(("chunk", {"bytes": chunk}) for chunk in chunks)

    @override
    def write_error(self, request: LlmRequest, kind: ApiErrorKind, wait: int) -> SerializedAnswer:
        return _FORMS["nova"].write_error(request, kind, wait)

    @override
    def frames_of(self, request: LlmRequest, event: bytes, content_type: str) -> list[JsonValue]:
        frames = super().frames_of(request, event, content_type)
        return [_inner(as_dict(frame)) for frame in frames]

    @override
    def is_finish(self, request: LlmRequest, frame: Mapping[str, JsonValue]) -> bool:
        return _FORMS[request.variant].is_finish(request, frame)

    @override
    def is_end_marker(self, request: LlmRequest, frame: Mapping[str, JsonValue]) -> bool:
        form = _FORMS[request.variant]
        # AWS carries the objects of OpenAI's streams, without their mark.
        marks = form.is_finish if request.variant == "openai" else form.is_end_marker
        return marks(request, frame)

    @override
    def break_event(self, request: LlmRequest, event: bytes, content_type: str) -> bytes:
        """Break the provider's own event, which the message carries in base64."""
        payload = parse_object(payload_of(event))
        try:
            carried = base64.b64decode(as_text(payload.get("bytes")), validate=True)
        except ValueError:
            return super().break_event(request, event, content_type)
        text = base64.b64encode(broken(carried)).decode()
        return with_payload(event, json.dumps({**payload, "bytes": text}).encode())

    @override
    def write_error_event(
        self,
        request: LlmRequest,
        kind: StreamErrorKind,
        before: Sequence[Mapping[str, JsonValue]],
    ) -> bytes:
        return _FORMS["nova"].write_error_event(request, kind, before)

    @override
    def add_system_text(self, sent: str, text: str) -> str:
        return _FORMS[_form(parse_object(sent.encode()))].add_system_text(sent, text)

    @override
    def images(self, part: Mapping[str, JsonValue]) -> Iterator[Image]:
        for family in _FORMS.values():
            yield from family.images(part)


def _form(body: Mapping[str, JsonValue]) -> str:
    if "anthropic_version" in body:
        return "anthropic"
    contents = (as_list(as_dict(m).get("content")) for m in as_list(body.get("messages")))
    untyped = any("type" not in as_dict(part) for parts in contents for part in parts)
    own = untyped or "schemaVersion" in body or "inferenceConfig" in body
    return "nova" if own else "openai"


def _inner(frame: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the provider's own event in a message, or a whole answer."""
    return _event(as_dict(frame.get("chunk"))) if "chunk" in frame else dict(frame)


def _event(chunk: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    try:
        return parse_object(base64.b64decode(as_text(chunk.get("bytes")), validate=True))
    except ValueError:
        return {}


def _usage(metrics: Mapping[str, JsonValue]) -> Usage | None:
    if not metrics:
        return None
    read = as_tokens(metrics.get("cacheReadInputTokenCount"))
    written = as_tokens(metrics.get("cacheWriteInputTokenCount"))
    return Usage(
        input_total=as_tokens(metrics.get("inputTokenCount")) + read + written,
        output_total=as_tokens(metrics.get("outputTokenCount")),
        cache_read=read,
        cache_write=written,
    )
