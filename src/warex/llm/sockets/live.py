"""Gemini Live: messages of a session in both directions, in the JSON form of protocol buffers.

An answer is asked for by a complete turn, or by the result of a tool; or it is begun by the server
when the client's voice pauses. It ends with its turn, or with a call of a tool.

Source: https://ai.google.dev/api/live and the types of python-genai.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from pydantic import JsonValue

from warex.llm.body.lenient_json import as_dict, as_list, as_text, parse_object
from warex.llm.families.of_sockets import GeminiLive
from warex.llm.sockets.base import (
    Conversation,
    SocketEvent,
    SocketRequest,
    server_sent,
    without_media,
)
from warex.text.lazy_pattern import lazy_re

_MEDIA: Final = ("data",)
_CAPITAL: Final = lazy_re("[A-Z]")
_COUNTS: Final[Mapping[str, str]] = {
    "promptTokenCount": "promptTokenCount",
    "responseTokenCount": "candidatesTokenCount",
    "thoughtsTokenCount": "thoughtsTokenCount",
    "toolUsePromptTokenCount": "toolUsePromptTokenCount",
    "cachedContentTokenCount": "cachedContentTokenCount",
}
"""Token counts, and their names in answers of ``generateContent``."""


class LiveSocket:
    """One session."""

    def __init__(self, path: str) -> None:
        """``path``: of the handshake; it names no model."""
        self._said = Conversation(GeminiLive.name, "")
        self._is_open = False
        """Whether an answer is awaited, or has begun."""

    def request(self, message: bytes) -> SocketRequest | None:
        """Read a client's message; None if it starts no answer."""
        sent = parse_object(message)
        if setup := as_dict(_get(sent, "setup")):
            self._said.model = as_text(setup.get("model")).rpartition("models/")[2]
            self._said.system = _get(setup, "systemInstruction")
            self._said.tools = _several(setup.get("tools"))
        if heard := as_dict(_get(sent, "realtimeInput")):
            self._said.add(list(_heard(heard)))
        turns = as_dict(_get(sent, "clientContent"))
        self._said.add([without_media(it, _MEDIA) for it in _several(turns.get("turns"))])
        results = _several(_get(as_dict(_get(sent, "toolResponse")), "functionResponses"))
        if results:
            parts: list[JsonValue] = [{"functionResponse": it} for it in results]
            self._said.add([{"role": "user", "parts": parts}])
        if not results and _get(turns, "turnComplete") is not True:
            return None
        self._is_open = True
        return SocketRequest("", self._said.ask(), is_call=True)

    def event(self, message: bytes) -> SocketEvent | None:
        """Read a server's message; None if it is no part of an answer."""
        sent = parse_object(message)
        content = as_dict(_get(sent, "serverContent"))
        calls = _several(_get(as_dict(_get(sent, "toolCall")), "functionCalls"))
        parts = [*_spoken(content), *({"functionCall": it} for it in calls)]
        counted = as_dict(_get(sent, "usageMetadata"))
        is_end = bool(calls) or _get(content, "turnComplete") is True
        if not (parts or is_end or counted):
            return None
        begins = None
        if not self._is_open:
            if not parts:
                return None
            begins = SocketRequest("", self._said.ask(), is_call=True)
        self._is_open = not is_end
        return SocketEvent("", is_end, content=self._chunk(parts, counted, is_end), begins=begins)

    def _chunk(
        self, parts: list[JsonValue], counted: Mapping[str, JsonValue], is_end: bool
    ) -> bytes:
        """Return a part of an answer as a stream of ``generateContent`` has it."""
        chunk: dict[str, JsonValue] = {"modelVersion": self._said.model}
        if parts or is_end:
            candidate: dict[str, JsonValue] = {"content": {"role": "model", "parts": parts}}
            chunk["candidates"] = [candidate | ({"finishReason": "STOP"} if is_end else {})]
        if counted:
            chunk["usageMetadata"] = {
                name: _get(counted, key)
                for key, name in _COUNTS.items()
                if _get(counted, key) is not None
            }
        return server_sent(chunk)


def _get(sent: Mapping[str, JsonValue], key: str) -> JsonValue:
    """Return the value of a key in camelCase or in snake_case."""
    value = sent.get(key)
    if value is not None:
        return value
    return sent.get(_CAPITAL.sub(lambda found: f"_{found[0].lower()}", key))


def _several(value: JsonValue) -> list[JsonValue]:
    return [value] if isinstance(value, dict) else as_list(value)


def _heard(heard: Mapping[str, JsonValue]) -> Iterator[JsonValue]:
    """Yield a text that the client has sent as it was typed; sound is only heard."""
    if text := as_text(heard.get("text")):
        yield {"role": "user", "parts": [{"text": text}]}


def _spoken(content: Mapping[str, JsonValue]) -> Iterator[JsonValue]:
    """Yield the parts of an answer: of sound its words."""
    for part in map(as_dict, _several(as_dict(_get(content, "modelTurn")).get("parts"))):
        sound = _get(part, "inlineData") is not None
        yield {"text": ""} if sound else part
    words = as_text(as_dict(_get(content, "outputTranscription")).get("text"))
    if words:
        yield {"text": words}
