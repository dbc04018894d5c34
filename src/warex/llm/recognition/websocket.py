"""OpenAI's Responses over a WebSocket: a message is a request, the server's are its events.

Source: https://platform.openai.com/docs/guides/websocket-mode and the types of openai-python.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warex.llm import recognise
from warex.llm.base import LlmRequest
from warex.llm.body.lenient_json import as_count, as_text, parse_object
from warex.llm.families.openai_responses import ENDS, OpenAiResponses
from warex.llm.recognition.browser_origin import is_browser_request, is_site_request
from warex.llm.recognition.hosts import is_known_llm_host
from warex.llm.recognition.unrecognised import NO_SUCH_API

_ENDS: Final = (*ENDS, "error")


class SocketRequest(Struct, frozen=True):
    """A request in a client's message."""

    stream: str
    """The id of the stream that also carries the events of its answer."""
    request: LlmRequest | None
    """None if nothing is generated (``generate: false``), or if it cannot be read."""
    is_call: bool
    """Whether it calls the model, readable or not."""


class SocketEvent(Struct, frozen=True):
    """An event in a server's message."""

    stream: str
    is_end: bool
    """Whether it ends the answer."""
    status: int = 200
    """The HTTP status of an error, if it has one."""


def carries_calls(
    host: str, path: str, headers: Mapping[str, str], llm_hosts: Iterable[str] = ()
) -> bool:
    """Whether a WebSocket may carry LLM calls of the agent (``is_site_request`` excludes a page's).

    ``headers`` have names in lower case.
    """
    ours = path.partition("?")[0].endswith(OpenAiResponses.path_endings)
    return ours and not is_site_request(host, headers, llm_hosts)


def unreadable_socket_reason(host: str, headers: Mapping[str, str]) -> str | None:
    """Return why calls on a WebSocket that ``carries_calls`` rejects are unreadable, or None."""
    return NO_SUCH_API if is_known_llm_host(host) and not is_browser_request(headers) else None


def parse_request(path: str, message: bytes) -> SocketRequest | None:
    """Parse a client's message; None if it starts no answer."""
    sent = parse_object(message)
    if sent.get("type") != "response.create":
        return None
    stream = as_text(sent.get("stream_id"))
    if sent.get("generate") is False:
        return SocketRequest(stream, None, is_call=False)
    request = recognise("POST", path, "", message)
    return SocketRequest(stream, request and replace(request, stream=True), is_call=True)


def parse_event(message: bytes) -> SocketEvent:
    """Parse a server's message; raises nothing."""
    sent = parse_object(message)
    kind, stream = as_text(sent.get("type")), as_text(sent.get("stream_id"))
    status = as_count(sent.get("status")) if kind == "error" else 0
    return SocketEvent(stream, kind in _ENDS, status if 400 <= status < 600 else 200)


def as_sse(message: bytes) -> bytes:
    """Return a server's message as a server-sent event."""
    return b"data: " + b"\ndata: ".join(message.splitlines()) + b"\n\n"
