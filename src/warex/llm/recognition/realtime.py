"""Realtime APIs over a WebSocket: OpenAI's Realtime and Gemini's Live.

Client and server speak in a session: the client adds to a conversation, and an answer begins by its
request, or by the server, which has heard the end of a turn. An answer is put into the form of the
Responses API, or of generateContent, whose readers read it. Sound is left out, its transcript is
the text. Source: https://platform.openai.com/docs/api-reference/realtime-client-events and
https://ai.google.dev/api/live, and the types of openai-python and python-genai.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Final, override
from urllib.parse import parse_qs

from pydantic import JsonValue

from warex.llm.base import LlmRequest
from warex.llm.body.lenient_json import as_dict, as_list, as_text, parse_object
from warex.llm.families.base import system_message
from warex.llm.recognition.browser_origin import is_site_request
from warex.llm.recognition.hosts import is_known_llm_host
from warex.llm.recognition.websocket import (
    Dialect,
    ResponsesDialect,
    SocketEvent,
    SocketRequest,
    as_sse,
)

_NAMES: Final = ("model", "deployment")
"""Parameters that name the model; other servers have paths that end so, too."""
_MAX_ITEMS: Final = 1_000
"""Items between two answers that are kept."""
_DELTAS: Final[Mapping[str, str]] = {
    "response.output_text.delta": "response.output_text.delta",
    "response.text.delta": "response.output_text.delta",
    "response.output_audio_transcript.delta": "response.output_text.delta",
    "response.audio_transcript.delta": "response.output_text.delta",
    "response.function_call_arguments.delta": "response.function_call_arguments.delta",
}
"""The events of Realtime, now and in its beta, by those of Responses."""
_MEDIA: Final = ("data", "audio", "image_url")
"""Keys of sound and pictures in base64; the first only beside their type."""
_TYPES: Final = ("mimeType", "mime_type")
_ENDS: Final[Mapping[str, str]] = {
    "completed": "response.completed",
    "failed": "response.failed",
    "incomplete": "response.incomplete",
    "cancelled": "response.incomplete",
}
_NOTHING: Final = SocketEvent("", is_end=False)


class _Session(Dialect):
    """What a client has sent since the last answer, and its settings for all answers."""

    api: str

    def __init__(self, model: str = "") -> None:
        self._model = model
        self._system: JsonValue = None
        self._tools: list[JsonValue] = []
        self._items: list[JsonValue] = []
        self._answers = 0
        self._is_open = False

    def _add(self, *items: JsonValue) -> None:
        self._items = [*self._items, *map(_without_sound, items)][-_MAX_ITEMS:]

    def _begin(self) -> SocketRequest:
        """Return the request that all of it makes, and forget what it was."""
        self._answers += 1
        self._is_open = True
        sent = json.dumps([self._answers, self._model, self._items], ensure_ascii=True)
        request = LlmRequest(
            api=self.api,
            model=self._model,
            messages=[*system_message(self._system), *self._items],
            tools=self._tools,
            stream=True,
            body_digest=hashlib.sha256(sent.encode()).hexdigest(),
            continues="session" if self._answers > 1 else None,
        )
        self._items = []
        return SocketRequest("", request, is_call=True)

    def _event(self, frame: JsonValue, *, is_end: bool) -> SocketEvent:
        self._is_open = self._is_open and not is_end
        return SocketEvent("", is_end, data=as_sse(json.dumps(frame).encode()))


def _without_sound(value: JsonValue) -> JsonValue:
    """Return what a client has sent, without sound and pictures, which are long."""
    if isinstance(value, list):
        return [_without_sound(it) for it in value]
    if not isinstance(value, dict):
        return value
    media = _MEDIA if value.keys() & set(_TYPES) else _MEDIA[1:]
    return {
        key: f"<{len(it):,} characters>"
        if key in media and isinstance(it, str) and len(it) > 100
        else _without_sound(it)
        for key, it in value.items()
    }


class OpenAiRealtime(_Session):
    """OpenAI's Realtime API."""

    api = "openai_responses"

    @override
    def client(self, message: bytes) -> SocketRequest | None:
        sent = parse_object(message)
        match sent.get("type"):
            case "session.update":
                self._update(as_dict(sent.get("session")))
            case "conversation.item.create":
                self._add(sent.get("item"))
            case "response.create":
                response = as_dict(sent.get("response"))
                self._update(response)
                self._add(*as_list(response.get("input")))
                return self._begin()
            case _:
                pass
        return None

    def _update(self, session: Mapping[str, JsonValue]) -> None:
        self._model = as_text(session.get("model")) or self._model
        self._system = session.get("instructions") or self._system
        self._tools = as_list(session.get("tools")) or self._tools

    @override
    def begun_by_server(self, message: bytes) -> SocketRequest | None:
        if self._is_open or parse_object(message).get("type") != "response.created":
            return None
        return self._begin()

    @override
    def server(self, message: bytes) -> SocketEvent:
        sent = parse_object(message)
        kind = as_text(sent.get("type"))
        if kind in _DELTAS:
            return self._event({**sent, "type": _DELTAS[kind]}, is_end=False)
        if kind in ("response.output_item.added", "response.output_item.done"):
            return self._event({**sent, "item": _item(sent.get("item"))}, is_end=False)
        if kind == "response.done":
            response = as_dict(sent.get("response"))
            end = _ENDS.get(as_text(response.get("status")), "response.completed")
            return self._event({"type": end, "response": self._response(response)}, is_end=True)
        if kind == "error" and as_dict(sent.get("error")).get("type") != "invalid_request_error":
            return self._event(sent, is_end=True)
        return _NOTHING

    def _response(self, response: Mapping[str, JsonValue]) -> JsonValue:
        usage = as_dict(response.get("usage"))
        details = as_dict(response.get("status_details"))
        status = as_text(response.get("status"))
        written: dict[str, JsonValue] = {
            "model": self._model,
            "status": "incomplete" if status == "cancelled" else status,
            "incomplete_details": {"reason": details.get("reason") or status},
            "error": details.get("error"),
            "output": [_item(item) for item in as_list(response.get("output"))],
            "usage": {
                "input_tokens": usage.get("input_tokens"),
                "output_tokens": usage.get("output_tokens"),
                "input_tokens_details": usage.get("input_token_details"),
                "output_tokens_details": usage.get("output_token_details"),
            },
        }
        return written if status != "completed" else {**written, "incomplete_details": None}


def _item(item: JsonValue) -> JsonValue:
    """Return an item in the form of Responses: the transcript of sound is its text."""
    known = as_dict(item)
    if known.get("type") != "message":
        return known
    parts: list[JsonValue] = [
        {"type": "output_text", "text": part.get("text") or part.get("transcript") or ""}
        for part in map(as_dict, as_list(known.get("content")))
    ]
    return {**known, "content": parts}


class GeminiLive(_Session):
    """Gemini's Live API."""

    api = "gemini"

    @override
    def client(self, message: bytes) -> SocketRequest | None:
        sent = parse_object(message)
        if setup := as_dict(sent.get("setup")):
            self._model = as_text(setup.get("model")).removeprefix("models/")
            self._system = _get(setup, "systemInstruction", "system_instruction")
            self._tools = as_list(setup.get("tools"))
        realtime = as_dict(_get(sent, "realtimeInput", "realtime_input"))
        if "text" in realtime:
            self._add({"role": "user", "parts": [{"text": realtime["text"]}]})
        if content := as_dict(_get(sent, "clientContent", "client_content")):
            self._add(*as_list(content.get("turns")))
            return self._begin() if _get(content, "turnComplete", "turn_complete") else None
        if tool_response := as_dict(_get(sent, "toolResponse", "tool_response")):
            results = as_list(_get(tool_response, "functionResponses", "function_responses"))
            parts: list[JsonValue] = [{"functionResponse": result} for result in results]
            self._add({"role": "user", "parts": parts})
            return self._begin()
        return None

    @override
    def begun_by_server(self, message: bytes) -> SocketRequest | None:
        sent = parse_object(message)
        content = as_dict(sent.get("serverContent"))
        says = "modelTurn" in content or "outputTranscription" in content or "toolCall" in sent
        return self._begin() if says and not self._is_open else None

    @override
    def server(self, message: bytes) -> SocketEvent:
        sent = parse_object(message)
        content, called = as_dict(sent.get("serverContent")), as_dict(sent.get("toolCall"))
        usage = as_dict(sent.get("usageMetadata"))
        if not (content or called or usage):
            return _NOTHING
        turn = as_dict(content.get("modelTurn"))
        transcript = as_dict(content.get("outputTranscription")).get("text")
        parts = [part for part in as_list(turn.get("parts")) if "text" in as_dict(part)]
        parts += [{"text": transcript}] if transcript else []
        parts += ({"functionCall": call} for call in as_list(called.get("functionCalls")))
        is_end = content.get("turnComplete") is True or bool(called)
        end: dict[str, JsonValue] = {"finishReason": "STOP"} if is_end else {}
        candidate: JsonValue = {"content": {"role": "model", "parts": parts}, "index": 0, **end}
        frame: dict[str, JsonValue] = {"modelVersion": self._model}
        if parts or is_end:
            frame["candidates"] = [candidate]
        if usage:
            counted = usage.get("responseTokenCount", usage.get("candidatesTokenCount"))
            frame["usageMetadata"] = {**usage, "candidatesTokenCount": counted}
        return self._event(frame, is_end=is_end)


def _get(sent: Mapping[str, JsonValue], *names: str) -> JsonValue:
    return next((sent[name] for name in names if name in sent), None)


def dialect_of(
    host: str, path: str, headers: Mapping[str, str], llm_hosts: Iterable[str] = ()
) -> Dialect | None:
    """Return how the messages of a WebSocket are read; None if it carries no calls of the agent.

    ``headers`` have names in lower case; ``is_site_request`` excludes a page's own.
    """
    if is_site_request(host, headers, llm_hosts):
        return None
    where, _, query = path.partition("?")
    named = parse_qs(query)
    if where.endswith("/realtime") and (is_known_llm_host(host) or named.keys() & set(_NAMES)):
        return OpenAiRealtime(next((named[name][0] for name in _NAMES if name in named), ""))
    if where.endswith(("BidiGenerateContent", "BidiGenerateContentConstrained")):
        return GeminiLive()
    return ResponsesDialect(path) if ResponsesDialect.is_at(where) else None
