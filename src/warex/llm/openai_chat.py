"""OpenAI Chat Completions and what speaks it: Azure, OpenRouter, vLLM, Ollama, most gateways.

Source: https://platform.openai.com/docs/api-reference/chat and the types of openai-python; vLLM's
``protocol.py`` for ``reasoning`` and ``continuous_usage_stats``.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import override

from pydantic import JsonValue

from warex.llm import splice
from warex.llm.base import Family, LlmAnswer, LlmRequest, Sampling, ToolCall, Usage
from warex.llm.estimate import estimate_input, estimate_output
from warex.llm.loose import as_count, as_dict, as_list, as_number, as_text, read_json
from warex.llm.sse import sse_data

_DEPLOYMENT = re.compile(r"/deployments/([^/?]+)/chat/completions")
_SYSTEM = ("system", "developer")
"""Roles of the messages that hold the system prompt; newer models call it the developer's."""
_QUOTED = 200
"""Characters of an answer that is none to quote in its error."""
_NOT_BEGUN = "the answer ended before the model had said anything"


class OpenAiChat(Family):
    """The Chat Completions API."""

    name = "openai_chat"
    summary = "OpenAI Chat Completions; also Azure OpenAI, OpenRouter, vLLM and other gateways."
    path_endings = ("/chat/completions",)

    @override
    def recognise(self, path: str, body: Mapping[str, JsonValue]) -> bool:
        messages = as_list(body.get("messages"))
        named = isinstance(body.get("model"), str) or _DEPLOYMENT.search(path) is not None
        return named and bool(messages) and all(isinstance(m, dict) for m in messages)

    @override
    def read_request(self, path: str, body: Mapping[str, JsonValue], digest: str) -> LlmRequest:
        deployment = _DEPLOYMENT.search(path)
        return LlmRequest(
            family=self.name,
            model=as_text(body.get("model")) or (deployment[1] if deployment else ""),
            messages=as_list(body.get("messages")),
            tools=as_list(body.get("tools")) or as_list(body.get("functions")),
            stream=body.get("stream") is True,
            body_digest=digest,
            sampling=Sampling(*(as_number(body.get(f.name)) for f in fields(Sampling))),
        )

    @override
    def read_answer(
        self, request: LlmRequest, status: int, content_type: str, body: bytes
    ) -> LlmAnswer:
        if not 200 <= status < 300:
            return LlmAnswer(request.model, error=f"HTTP {status}: {_complaint(body)}")
        said = _Said()
        if not body.strip():
            said.error = "the answer is empty"
        elif _is_stream(request, content_type, body):
            _read_stream(said, body)
            said.error = said.error or (None if said.has_choice else _NOT_BEGUN)
        else:
            _read_whole(said, body)
        if not said.error and not said.has_choice:
            said.error = f"the answer is not a chat completion: {_complaint(body)}"
        return said.answer(request)

    @override
    def with_system_text(self, body: bytes, text: str) -> bytes:
        return _with_system_text(body.decode(), text).encode()


def _with_system_text(sent: str, text: str) -> str:
    """Add to the last message of the system; with none, put one before all others.

    A new one has the role ``system``: OpenAI reads it as ``developer`` where a model wants that.
    """
    body = splice.whole(sent)
    messages = splice.member(sent, body, "messages") if isinstance(body.value, dict) else None
    if messages is None or not isinstance(messages.value, list):
        raise ValueError("it has no messages")
    system = [
        message
        for message in splice.items(sent, messages)
        if as_dict(message.value).get("role") in _SYSTEM
    ]
    if not system:
        return splice.put_first(sent, messages, {"role": "system", "content": text})
    content = splice.member(sent, system[-1], "content")
    match content:
        case splice.Place(value=str() as said):
            return splice.lengthen(sent, content, f"\n\n{text}" if said else text)
        case splice.Place(value=list() as parts) if all(isinstance(p, dict) for p in parts):
            # Some servers join the parts with nothing between them.
            own: JsonValue = {"type": "text", "text": f"\n\n{text}" if parts else text}
            return splice.put_last(sent, content, own)
        case splice.Place(value=None):
            return splice.replace(sent, content, text)
        case _:
            raise ValueError("its system message has a content that is neither text nor parts")


@dataclass
class _PartialCall:
    id: str = ""
    name: str = ""
    arguments: str = ""

    def add(self, call: Mapping[str, JsonValue], function: Mapping[str, JsonValue]) -> None:
        self.id = self.id or as_text(call.get("id"))
        self.name = self.name or as_text(function.get("name"))
        arguments = function.get("arguments")
        # Some gateways send an object where OpenAI sends its text.
        self.arguments += (
            json.dumps(arguments) if isinstance(arguments, dict) else (as_text(arguments))
        )


@dataclass
class _Said:
    """What has been read of one answer, chunk by chunk."""

    model: str = ""
    text: str = ""
    refusal: str = ""
    reasoning: str = ""
    calls: list[_PartialCall] = field(default_factory=list)
    at_index: dict[int, _PartialCall] = field(default_factory=dict)
    finish_reason: str | None = None
    usage: Usage | None = None
    error: str | None = None
    has_choice: bool = False
    ended: bool = False

    def add(self, chunk: Mapping[str, JsonValue], part: str) -> None:
        """Take in one chunk, or a whole answer; ``part`` is ``delta`` or ``message``."""
        self.model = as_text(chunk.get("model")) or self.model
        # A running usage (vLLM's continuous_usage_stats) is cumulative: the last one counts.
        self.usage = _usage(as_dict(chunk.get("usage"))) or self.usage
        if chunk.get("error"):
            self.error = _message_of(chunk)
        for choice in map(as_dict, as_list(chunk.get("choices"))):
            says = isinstance(choice.get(part), dict) or choice.get("finish_reason")
            if says and as_count(choice.get("index")) == 0:
                self._add_choice(choice, as_dict(choice.get(part)))

    def _add_choice(self, choice: Mapping[str, JsonValue], said: Mapping[str, JsonValue]) -> None:
        self.has_choice = True
        self.text += _content(said.get("content"))
        self.refusal += as_text(said.get("refusal"))
        self.reasoning += as_text(said.get("reasoning")) or as_text(said.get("reasoning_content"))
        for position, call in enumerate(map(as_dict, as_list(said.get("tool_calls")))):
            self._add_call(position, call)
        if legacy := as_dict(said.get("function_call")):
            self._call(0, "").add({}, legacy)
        self.finish_reason = as_text(choice.get("finish_reason")) or self.finish_reason

    def _add_call(self, position: int, call: Mapping[str, JsonValue]) -> None:
        index = call.get("index")
        index = index if isinstance(index, int) else position
        self._call(index, as_text(call.get("id"))).add(call, as_dict(call.get("function")))

    def _call(self, index: int, id: str) -> _PartialCall:
        """Return the call at ``index``; another id there is another call, whatever the index."""
        known = self.at_index.get(index)
        if known is None or (id and known.id and id != known.id):
            known = self.at_index[index] = _PartialCall()
            self.calls.append(known)
        return known

    def answer(self, request: LlmRequest) -> LlmAnswer:
        complete = self.ended and self.error is None
        calls = tuple(ToolCall(c.id, c.name, c.arguments) for c in self.calls)
        usage = self.usage
        if self.has_choice and usage is None:
            written = estimate_output(self.text + self.refusal + self.reasoning, calls)
            usage = Usage(
                input_total=estimate_input(request),
                output_total=written,
                reasoning=estimate_output(self.reasoning, ()),
                source="estimated",
            )
        if usage is not None and not complete:
            usage = replace(usage, source="partial")
        return LlmAnswer(
            model=self.model or request.model,
            text=self.text or self.refusal,
            tool_calls=calls,
            finish_reason=self.finish_reason,
            usage=usage,
            error=self.error,
            complete=complete,
            reasoning=self.reasoning,
        )


def _is_stream(request: LlmRequest, content_type: str, body: bytes) -> bool:
    """Tell a stream by its look first: gateways answer a stream's request with a JSON error."""
    if body.lstrip().startswith(b"{"):
        return False
    return request.stream or content_type.lower().startswith("text/event-stream")


def _read_stream(said: _Said, body: bytes) -> None:
    for data in sse_data(body):
        if data.strip() == "[DONE]":
            said.ended = said.has_choice
            return
        try:
            chunk = as_dict(read_json(data.encode()))
        except ValueError:
            # Where the stream was cut; were it in the middle, the rest still counts.
            continue
        said.add(chunk, "delta")
        said.ended = said.finish_reason is not None


def _read_whole(said: _Said, body: bytes) -> None:
    try:
        said.add(as_dict(read_json(body)), "message")
        said.ended = said.has_choice
    except ValueError:
        try:
            said.add(as_dict(read_json(body, cut=True)), "message")
            said.error = said.error or (None if said.has_choice else _NOT_BEGUN)
        except ValueError:
            said.error = f"the answer is not JSON: {_complaint(body)}"


def _usage(usage: Mapping[str, JsonValue]) -> Usage | None:
    if not usage:
        return None
    read = as_dict(usage.get("prompt_tokens_details"))
    written = as_dict(usage.get("completion_tokens_details"))
    # As OpenRouter, LiteLLM and older LiteLLM call it.
    put = (
        read.get("cache_write_tokens"),
        read.get("cache_creation_tokens"),
        usage.get("cache_creation_input_tokens"),
    )
    return Usage(
        input_total=as_count(usage.get("prompt_tokens")),
        output_total=as_count(usage.get("completion_tokens")),
        cache_read=as_count(read.get("cached_tokens")),
        cache_write=max(map(as_count, put)),
        reasoning=as_count(written.get("reasoning_tokens")),
    )


def _content(content: JsonValue) -> str:
    """Return the text of a content that is a string or a list of parts."""
    if isinstance(content, list):
        parts = map(as_dict, content)
        return "".join(as_text(p.get("text")) or as_text(p.get("refusal")) for p in parts)
    return as_text(content)


def _complaint(body: bytes) -> str:
    """Return the API's own words, or the beginning of a body that is not from an API."""
    try:
        message = _message_of(as_dict(read_json(body)))
    except ValueError:
        message = ""
    if not message:
        message = " ".join(body[: 4 * _QUOTED].decode("utf-8", errors="replace").split())
    return message[:_QUOTED] or "empty body"


def _message_of(answer: Mapping[str, JsonValue]) -> str:
    """Return the message of an error object: OpenAI's, vLLM's flat one, or FastAPI's."""
    error = answer.get("error")
    nested = as_text(as_dict(error).get("message")) or as_text(error)
    flat = as_text(answer.get("message")) or as_text(answer.get("detail"))
    return nested or flat or (json.dumps(error) if error else "")
