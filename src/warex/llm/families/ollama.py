"""Ollama's own API: ``/api/chat`` and ``/api/generate``.

Source: https://github.com/ollama/ollama/blob/main/docs/api.md and its ``api/types.go``.
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
from warex.llm.body.lenient_json import as_dict, as_list, as_text, as_tokens, parse_json
from warex.llm.content.token_estimate import estimate_input
from warex.llm.families import system_prompt, writing
from warex.llm.families.base import (
    LlmApi,
    StreamedAnswer,
    are_messages,
    sampling_in,
    system_message,
)
from warex.llm.families.reading import AnswerBuilder, FinishReasons, error_message
from warex.llm.families.writing import api_finish_reason, parse_arguments

_GENERATE: Final = "/api/generate"
_CREATED_AT: Final = "2026-01-01T00:00:00Z"
_TOKENS_PER_IMAGE: Final = 576
"""For LLaVA 1.5: 24 x 24 patches; other models differ."""
_FINISH: Final[FinishReasons] = {"stop": "stop", "length": "length"}
_ERRORS: Final[Mapping[ApiErrorKind, tuple[int, str]]] = {
    "rate_limited": (429, "you've reached your hourly usage limit, please upgrade to continue"),
    "server_error": (500, "llama runner process has terminated: signal: killed"),
    "unavailable": (503, "service unavailable"),
    "overloaded": (503, "server busy, please try again. maximum pending requests exceeded"),
    "context_too_long": (400, "the input length exceeds the context length"),
    "content_filtered": (400, "the request was blocked by a content filter"),
    "invalid_key": (401, "unauthorized"),
}
"""Status and message of each error; some are only sent by Ollama's cloud."""


class Ollama(LlmApi):
    """Chat and generate of Ollama."""

    name = "ollama"
    summary = "Ollama's own API; its OpenAI and Anthropic paths belong to those."
    answer_description = "an answer of Ollama's"
    text_path = ("message", "content")
    path_endings = ("/api/chat", _GENERATE)
    prompts = ("messages", "prompt")
    reports = ("model",)
    reports_wait = False

    @override
    def recognise(self, path: str, body: Mapping[str, JsonValue]) -> bool:
        if not as_text(body.get("model")):
            return False
        # Without a prompt or messages, a request only loads or unloads the model.
        if _is_generate(path):
            return bool(as_text(body.get("prompt")))
        return are_messages(body.get("messages"), with_roles=True)

    @override
    def read_request(self, path: str, body: Mapping[str, JsonValue], digest: str) -> LlmRequest:
        request = super().read_request(path, body, digest)
        return replace(
            request,
            messages=_prompt(body) if _is_generate(path) else request.messages,
            stream=body.get("stream") is not False,
            sampling=sampling_in(as_dict(body.get("options"))),
            variant="generate" if _is_generate(path) else "",
        )

    @override
    def read_answer(
        self,
        request: LlmRequest,
        status: int,
        content_type: str,
        body: bytes,
        begun: StreamedAnswer | None = None,
    ) -> LlmAnswer:
        answer = super().read_answer(request, status, content_type, body, begun)
        usage = answer.usage
        if usage is None or usage.source == "estimated" or usage.input_total:
            return answer
        # Older servers omit the length of a cached prompt.
        source = "estimated" if usage.source == "reported" else usage.source
        asked = estimate_input(request, self.images)
        return replace(answer, usage=replace(usage, input_total=asked, source=source))

    @override
    def read(
        self, builder: AnswerBuilder, frame: Mapping[str, JsonValue], *, complete: bool
    ) -> None:
        if frame.get("error"):
            builder.error = error_message(frame)
        message = as_dict(frame.get("message"))
        if "message" not in frame and "response" not in frame:
            return
        builder.begun = True
        builder.is_continued = frame.get("done") is False
        builder.model = as_text(frame.get("model")) or builder.model
        builder.text += builder.text_piece(frame.get("response")) or builder.text_piece(
            message.get("content")
        )
        builder.reasoning += builder.text_piece(frame.get("thinking")) or builder.text_piece(
            message.get("thinking")
        )
        calls = message.get("tool_calls") or frame.get("tool_calls") or []
        for call in map(as_dict, as_list(calls)):
            function = as_dict(call.get("function"))
            # Calls arrive whole; several may have the same index, or none.
            new = builder.call(len(builder.calls))
            new.add(call.get("id"), function.get("name"), function.get("arguments"))
        if frame.get("done") is True:
            _read_end(builder, frame)

    @override
    def write_answer(self, request: LlmRequest, answer: LlmAnswer) -> SerializedAnswer:
        head: dict[str, JsonValue] = {"model": answer.model, "created_at": _CREATED_AT}
        usage = answer.usage or Usage(0, 0)
        end: dict[str, JsonValue] = {
            "done": True,
            "done_reason": api_finish_reason(answer.finish, _FINISH),
            "total_duration": 1_000_000_000,
            "prompt_eval_count": usage.input_total,
            "eval_count": usage.output_total,
        }
        form = request.variant
        if not request.stream:
            return writing.json_answer({**head, **_message_of(form, answer), **end})
        nothing = replace(answer, text="", reasoning="", tool_calls=())
        pieces = [
            *(replace(nothing, reasoning=word) for word in writing.word_chunks(answer.reasoning)),
            *(replace(nothing, text=word) for word in writing.word_chunks(answer.text)),
            *(replace(nothing, tool_calls=(call,)) for call in answer.tool_calls),
        ]
        frames: list[JsonValue] = [{**head, **_message_of(form, p), "done": False} for p in pieces]
        if answer.complete:
            frames.append({**head, **_message_of(form, nothing), **end})
        return writing.lines(frames)

    @override
    def write_error(self, request: LlmRequest, kind: ApiErrorKind, wait: int) -> SerializedAnswer:
        status, message = _ERRORS[kind]
        return writing.json_answer({"error": message}, status)

    @override
    def is_finish(self, request: LlmRequest, frame: Mapping[str, JsonValue]) -> bool:
        return frame.get("done") is True

    @override
    def write_error_event(
        self,
        request: LlmRequest,
        kind: StreamErrorKind,
        before: Sequence[Mapping[str, JsonValue]],
    ) -> bytes:
        _, message = _ERRORS[kind]
        return writing.lines([{"error": message}]).body

    @override
    def add_system_text(self, sent: str, text: str) -> str:
        body = as_dict(parse_json(sent.encode()))
        if "messages" in body:
            return super().add_system_text(sent, text)
        if body.get("raw") is True:
            raise ValueError(
                "its prompt goes to the model unchanged (raw), without a system prompt"
            )
        return system_prompt.in_member(sent, "system", text)

    @override
    def images(self, part: Mapping[str, JsonValue]) -> Iterator[Image]:
        for index, image in enumerate(as_list(part.get("images"))):
            if isinstance(image, str):
                yield Image(("images", index), _TOKENS_PER_IMAGE, data=image)


def _is_generate(path: str) -> bool:
    return path.partition("?")[0].endswith(_GENERATE)


def _prompt(body: Mapping[str, JsonValue]) -> list[JsonValue]:
    """Return the prompt of ``/api/generate`` as messages."""
    asked: dict[str, JsonValue] = {"role": "user", "content": body.get("prompt")}
    more = {key: body[key] for key in ("suffix", "images") if body.get(key)}
    return [*system_message(as_text(body.get("system"))), asked | more]


def _message_of(form: str, answer: LlmAnswer) -> dict[str, JsonValue]:
    """Return an answer, or a piece of it, in the API's form."""
    thought: dict[str, JsonValue] = {"thinking": answer.reasoning} if answer.reasoning else {}
    calls: list[JsonValue] = [
        {
            "id": call.id,
            "function": {"name": call.name, "arguments": parse_arguments(call.arguments)},
        }
        for call in answer.tool_calls
    ]
    asked: dict[str, JsonValue] = {"tool_calls": calls} if calls else {}
    if form == "generate":
        return {"response": answer.text, **thought, **asked}
    return {"message": {"role": "assistant", "content": answer.text, **thought, **asked}}


def _read_end(builder: AnswerBuilder, frame: Mapping[str, JsonValue]) -> None:
    reason = as_text(frame.get("done_reason"))
    builder.finish_reason = reason or builder.finish_reason
    builder.finish = _FINISH.get(reason, "stop")
    if "eval_count" in frame or "prompt_eval_count" in frame:
        builder.usage = Usage(
            input_total=as_tokens(frame.get("prompt_eval_count")),
            output_total=as_tokens(frame.get("eval_count")),
        )
    builder.ended = True
