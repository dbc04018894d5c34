"""A small server of OpenAI's chat completions for one local model and its adapters, or a ranker."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from uuid import uuid4

from pydantic import BaseModel, Field, ValidationError

from warex.clock import Clock
from warex.exports.rows import ChatMessage
from warex.text.english import first_validation_error
from warex.training.inference.batching import ChatModel, Generation, GenerationRequest
from warex.training.inference.tool_calls import message_of
from warex.training.ranking.legal import LegalAnswers

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

LARGEST_BODY: Final = 20 * 2**20


@dataclass(frozen=True, slots=True)
class RequestDefaults:
    """Values for what a request leaves out."""

    max_tokens: int = 512
    temperature: float = 1.0
    """As OpenAI's."""


_NO_DEFAULTS: Final = RequestDefaults()


class ChatCompletionRequest(BaseModel, frozen=True, extra="ignore"):
    """The fields of a request that are read; others are ignored."""

    model: str = ""
    messages: Annotated[list[dict[str, Any]], Field(min_length=1)]
    tools: list[dict[str, Any]] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    stop: str | list[str] | None = None
    stream: bool = False
    stream_options: Mapping[str, Any] | None = None
    n: Literal[1] | None = None


class _Refused(Exception):
    def __init__(self, status: int, message: str, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.body = {"message": message, "type": "invalid_request_error", "code": code or None}


def application(
    model: ChatModel,
    adapters: Mapping[str, str | None],
    defaults: RequestDefaults = _NO_DEFAULTS,
    legal: LegalAnswers | None = None,
) -> "Starlette":
    """Return the server as an ASGI application.

    ``adapters`` maps each served model to its adapter, or None for the base; the last one answers
    requests without a model. ``legal`` binds answers to the elements of a request's page.
    """
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def models(request: "Request") -> "Response":
        data = [
            {"id": name, "object": "model", "created": 0, "owned_by": "warex"} for name in adapters
        ]
        return JSONResponse({"object": "list", "data": data})

    async def complete(request: "Request") -> "Response":
        try:
            return await _complete(request, model, adapters, defaults, legal)
        except _Refused as error:
            return JSONResponse({"error": error.body}, error.status)

    chat = Route("/v1/chat/completions", complete, methods=["POST"])
    return Starlette(routes=[Route("/v1/models", models), chat])


async def _complete(
    request: "Request",
    model: ChatModel,
    adapters: Mapping[str, str | None],
    defaults: RequestDefaults,
    legal: LegalAnswers | None,
) -> "Response":
    from starlette.responses import JSONResponse, StreamingResponse

    asked = await _asked(request)
    name = asked.model or list(adapters)[-1]
    if name not in adapters:
        raise _Refused(
            404,
            f"The model {name!r} is not served here; served are {', '.join(adapters)}.",
            "model_not_found",
        )
    prompt, tokens = _prompt(model, asked)
    answer = _Answer(name, tokens)
    wanted = GenerationRequest(
        prompt=prompt,
        adapter=adapters[name],
        temperature=defaults.temperature if asked.temperature is None else asked.temperature,
        top_p=1.0 if asked.top_p is None else asked.top_p,
        max_tokens=_room(model, asked, tokens, defaults),
        stop=tuple([asked.stop] if isinstance(asked.stop, str) else asked.stop or ()),
        deliver=answer.receive(),
        legal=legal.to(asked.messages) if legal else None,
    )
    model.ask(wanted)
    if asked.stream:
        usage = bool((asked.stream_options or {}).get("include_usage"))
        events = _cancelling(answer.events(usage=usage, at_end=bool(asked.tools)), wanted)
        return StreamingResponse(events, media_type="text/event-stream")
    return JSONResponse(await answer.completion())


async def _asked(request: "Request") -> ChatCompletionRequest:
    data = b""
    async for chunk in request.stream():
        data += chunk
        if len(data) > LARGEST_BODY:
            raise _Refused(413, f"The body is longer than {LARGEST_BODY:,} bytes.")
    try:
        return ChatCompletionRequest.model_validate_json(data)
    except ValidationError as error:
        raise _Refused(400, f"{first_validation_error(error)}.") from None


def _prompt(model: ChatModel, asked: ChatCompletionRequest) -> tuple[str, int]:
    """Return the prompt as the model reads it, and its number of tokens."""
    from jinja2 import TemplateError

    messages = [_of_text(message) for message in asked.messages]
    try:
        return model.written(messages, asked.tools)
    except (TemplateError, AttributeError, LookupError, TypeError, ValueError) as error:
        why = f"The model's chat template takes no such messages: {error}."
        raise _Refused(400, why) from None


def _of_text(message: ChatMessage) -> ChatMessage:
    content = message.get("content")
    if not isinstance(content, list):
        return message
    parts = [part if isinstance(part, dict) else {"type": type(part).__name__} for part in content]
    strange = next((part.get("type") for part in parts if part.get("type") != "text"), None)
    if strange is not None:
        raise _Refused(400, f"This model reads text alone; a message has a part {strange!r}.")
    return {**message, "content": "\n".join(str(part.get("text", "")) for part in parts)}


def _room(
    model: ChatModel, asked: ChatCompletionRequest, tokens: int, defaults: RequestDefaults
) -> int:
    wanted = asked.max_completion_tokens or asked.max_tokens
    most = model.context
    if tokens + (wanted or 1) > most:
        more = f" and {wanted} of the answer" if wanted else ""
        raise _Refused(
            400,
            f"This model's context is {most} tokens; {tokens} of the messages{more} are more.",
            "context_length_exceeded",
        )
    return wanted or min(defaults.max_tokens, most - tokens)


class _Answer:
    """A growing answer, as one message or as events."""

    def __init__(self, model: str, prompt_tokens: int) -> None:
        created = int(Clock().wall())
        self._facts = {"id": f"chatcmpl-{uuid4().hex}", "created": created, "model": model}
        self._prompt_tokens = prompt_tokens
        self._grown: asyncio.Queue[Generation] = asyncio.Queue()

    def receive(self) -> Callable[[Generation], None]:
        """Return the callback that another thread calls as the answer grows."""
        loop = asyncio.get_running_loop()

        def deliver(generated: Generation) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._grown.put_nowait, generated)

        return deliver

    async def completion(self) -> dict[str, Any]:
        """Wait for the end and return the completion."""
        last = Generation("", 0)
        async for generated in self._growing():
            last = generated
        message = message_of(last.text)
        choice = {"index": 0, "message": message, "finish_reason": _reason(message, last)}
        return {
            **self._facts,
            "object": "chat.completion",
            "choices": [choice],
            "usage": self._usage(last),
        }

    async def events(self, *, usage: bool, at_end: bool) -> AsyncIterator[bytes]:
        """Yield the completion's events; ``at_end`` sends one message, since it may be a call."""
        yield self._event({"role": "assistant", "content": ""})
        sent = 0
        try:
            async for generated in self._growing():
                text = generated.text if generated.finish else generated.text.removesuffix("�")
                if not at_end and text[sent:]:
                    yield self._event({"content": text[sent:]})
                    sent = len(text)
                if generated.finish:
                    message = message_of(text) if at_end else {}
                    if at_end:
                        yield self._event({**message, **_numbered(message)})
                    yield self._event({}, _reason(message, generated))
                    if usage:
                        yield self._line({"choices": [], "usage": self._usage(generated)})
        except _Refused as error:
            # The status has already been sent.
            yield _data({"error": {"message": str(error), "type": "server_error"}})
        yield b"data: [DONE]\n\n"

    async def _growing(self) -> AsyncIterator[Generation]:
        while True:
            generated = await self._grown.get()
            if generated.error:
                raise _Refused(500, generated.error)
            yield generated
            if generated.finish is not None:
                return

    def _event(self, delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        return self._line({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def _line(self, more: Mapping[str, Any]) -> bytes:
        return _data({**self._facts, "object": "chat.completion.chunk", **more})

    def _usage(self, generated: Generation) -> dict[str, int]:
        return {
            "prompt_tokens": self._prompt_tokens,
            "completion_tokens": generated.tokens,
            "total_tokens": self._prompt_tokens + generated.tokens,
        }


async def _cancelling(
    events: AsyncIterator[bytes], wanted: GenerationRequest
) -> AsyncIterator[bytes]:
    """Yield events; cancel the answer when the client stops reading."""
    try:
        async for event in events:
            yield event
    finally:
        wanted.cancelled = True


def _reason(message: ChatMessage, generated: Generation) -> str | None:
    return "tool_calls" if message.get("tool_calls") else generated.finish


def _numbered(message: ChatMessage) -> dict[str, Any]:
    calls = message.get("tool_calls")
    return {"tool_calls": [{"index": at, **it} for at, it in enumerate(calls)]} if calls else {}


def _data(value: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode("utf-8", "replace")
