"""OpenAI Realtime: events of a session in both directions.

An answer is asked for by ``response.create``, or begun by the server when the client's voice
pauses; it ends with ``response.done``, which has all of it and its usage.

Source: https://platform.openai.com/docs/api-reference/realtime and the types of openai-python.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs

from pydantic import JsonValue

from warex.llm.body.lenient_json import as_dict, as_list, as_text, parse_object
from warex.llm.families.of_sockets import OpenAiRealtime
from warex.llm.sockets.base import (
    Conversation,
    SocketEvent,
    SocketRequest,
    server_sent,
    without_media,
)

_MEDIA: Final = ("audio", "image_url")
_DELTAS: Final[Mapping[str, str]] = {
    "response.output_text.delta": "response.output_text.delta",
    "response.output_audio_transcript.delta": "response.output_text.delta",
    "response.function_call_arguments.delta": "response.function_call_arguments.delta",
    # The names before the API was generally available.
    "response.text.delta": "response.output_text.delta",
    "response.audio_transcript.delta": "response.output_text.delta",
}
"""Events with a piece of an answer, and their names in the Responses API."""
_ENDS: Final = {"completed": "completed", "failed": "failed"}
_REASONS: Final = {"max_output_tokens": "max_output_tokens", "content_filter": "content_filter"}


class RealtimeSocket:
    """One session."""

    def __init__(self, path: str) -> None:
        """``path``: of the handshake, whose query names the model."""
        query = parse_qs(path.partition("?")[2])
        model = next((query[key][0] for key in ("model", "deployment") if query.get(key)), "")
        self._said = Conversation(OpenAiRealtime.name, model)
        self._waiting: dict[str, None] = {}
        """The ids of requests that have no answer yet."""

    def request(self, message: bytes) -> SocketRequest | None:
        """Read a client's message; None if it starts no answer."""
        sent = parse_object(message)
        match as_text(sent.get("type")):
            case "session.update":
                self._read_session(as_dict(sent.get("session")))
            case "conversation.item.create":
                self._said.add([without_media(sent.get("item"), _MEDIA)])
            case "response.create":
                asked = as_dict(sent.get("response"))
                self._waiting[as_text(sent.get("event_id"))] = None
                self._said.add([without_media(it, _MEDIA) for it in as_list(asked.get("input"))])
                return SocketRequest("", self._said.ask(asked), is_call=True)
            case _:
                pass
        return None

    def event(self, message: bytes) -> SocketEvent | None:
        """Read a server's message; None if it is no part of an answer."""
        sent = parse_object(message)
        kind = as_text(sent.get("type"))
        response = as_dict(sent.get("response"))
        stream = as_text(sent.get("response_id")) or as_text(response.get("id"))
        match kind:
            case "session.created" | "session.updated":
                self._read_session(as_dict(sent.get("session")))
            case "response.created":
                begins = None
                if self._waiting:
                    self._waiting.pop(next(iter(self._waiting)))
                else:
                    begins = SocketRequest(stream, self._said.ask(), is_call=True)
                created = server_sent({"type": kind, "response": {"model": self._said.model}})
                return SocketEvent(stream, False, content=created, begins=begins, opens=True)
            case "response.done":
                return SocketEvent(stream, True, content=self._done(response))
            case "response.output_item.done":
                item = _item(as_dict(sent.get("item")))
                done = {"type": kind, "output_index": sent.get("output_index"), "item": item}
                return SocketEvent(stream, False, content=server_sent(done))
            case "error":
                return self._refused(as_dict(sent.get("error")))
            case _ if kind in _DELTAS:
                piece = {key: sent.get(key) for key in ("output_index", "delta")}
                return SocketEvent(
                    stream, False, content=server_sent({"type": _DELTAS[kind], **piece})
                )
            case _ if stream:
                return SocketEvent(stream, False)
            case _:
                pass
        return None

    def _read_session(self, session: Mapping[str, JsonValue]) -> None:
        said = self._said
        said.model = as_text(session.get("model")) or said.model
        said.session = as_text(session.get("id")) or said.session
        said.system = session.get("instructions") or said.system
        said.tools = as_list(session.get("tools")) or said.tools

    def _refused(self, error: Mapping[str, JsonValue]) -> SocketEvent | None:
        """Read an error, which ends no session: it may be about a request for an answer."""
        name = as_text(error.get("event_id"))
        if name not in self._waiting:
            return None
        del self._waiting[name]
        return SocketEvent("", True, content=server_sent({"type": "error", "error": {**error}}))

    def _done(self, response: Mapping[str, JsonValue]) -> bytes:
        status = as_text(response.get("status"))
        details = as_dict(response.get("status_details"))
        reason = as_text(details.get("reason"))
        end = _ENDS.get(status, "incomplete")
        usage = as_dict(response.get("usage"))
        told: dict[str, JsonValue] = {
            "model": self._said.model,
            "status": end,
            "output": [_item(as_dict(it)) for it in as_list(response.get("output"))],
            "error": details.get("error"),
            "usage": {
                "input_tokens": usage.get("input_tokens"),
                "input_tokens_details": usage.get("input_token_details"),
                "output_tokens": usage.get("output_tokens"),
                "output_tokens_details": usage.get("output_token_details"),
            }
            if usage
            else None,
        }
        if end == "incomplete":
            told["incomplete_details"] = {"reason": _REASONS.get(reason, reason or status)}
        return server_sent({"type": f"response.{end}", "response": told})


def _item(item: Mapping[str, JsonValue]) -> JsonValue:
    """Return an item of an answer as the Responses API has it: of audio its words."""
    content: list[JsonValue] = []
    for part in map(as_dict, as_list(item.get("content"))):
        words = part.get("text") or part.get("transcript")
        content.append({"type": "output_text", "text": words or ""})
    return {**item, "content": content} if content else {**item}
