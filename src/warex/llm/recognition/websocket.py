"""OpenAI's Responses over a WebSocket: a message asks, and those that follow are its events.

Source: https://platform.openai.com/docs/guides/websocket-mode and the types of openai-python.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from warex.llm import recognise
from warex.llm.base import LlmRequest
from warex.llm.body.lenient_json import as_count, as_dict, as_text, parse_json
from warex.llm.families.openai_responses import ENDS, OpenAiResponses
from warex.llm.recognition.browser_origin import is_browser_request, is_site_request
from warex.llm.recognition.hosts import is_known_llm_host
from warex.llm.recognition.unrecognised import NO_SUCH_API

_ENDS: Final = (*ENDS, "error")


@dataclass(frozen=True, slots=True)
class SocketRequest:
    """What a client's message asks."""

    stream: str
    """Which of the socket's streams it is in; the events of its answer are in the same."""
    request: LlmRequest | None
    """None where nothing is generated (``generate: false``), or where it is not understood."""
    is_call: bool
    """Whether it asks the model, understood or not."""


@dataclass(frozen=True, slots=True)
class SocketEvent:
    """What a server's message is."""

    stream: str
    is_end: bool
    """Whether the answer ends with it."""
    status: int = 200
    """What an error would have as its status over HTTP, where it says so."""


def carries_calls(
    host: str, path: str, headers: Mapping[str, str], llm_hosts: Iterable[str] = ()
) -> bool:
    """Tell whether calls to a model are to be expected on a WebSocket.

    A page's own are those of a site, unless a model's host is asked, well-known or one of
    ``llm_hosts``.
    ``headers`` have names in lower case.
    """
    ours = path.partition("?")[0].endswith(OpenAiResponses.path_endings)
    return ours and not is_site_request(host, headers, llm_hosts)


def unreadable_socket_reason(host: str, headers: Mapping[str, str]) -> str | None:
    """Return why calls on a WebSocket cannot be read; None where there are to be none.

    It is asked of what ``carries_calls`` does not know.
    """
    return NO_SUCH_API if is_known_llm_host(host) and not is_browser_request(headers) else None


def parse_request(path: str, message: bytes) -> SocketRequest | None:
    """Return what a client's message asks; None for one that begins no answer."""
    try:
        sent = as_dict(parse_json(message))
    except ValueError:
        return None
    if sent.get("type") != "response.create":
        return None
    stream = as_text(sent.get("stream_id"))
    if sent.get("generate") is False:
        return SocketRequest(stream, None, is_call=False)
    request = recognise("POST", path, "", message)
    return SocketRequest(stream, request and replace(request, stream=True), is_call=True)


def parse_event(message: bytes) -> SocketEvent:
    """Return what a server's message is; nothing is raised, whatever that is."""
    try:
        sent = as_dict(parse_json(message))
    except ValueError:
        sent = {}
    kind, stream = as_text(sent.get("type")), as_text(sent.get("stream_id"))
    status = as_count(sent.get("status")) if kind == "error" else 0
    return SocketEvent(stream, kind in _ENDS, status if 400 <= status < 600 else 200)


def as_sse(message: bytes) -> bytes:
    """Return a server's message as it comes in an answer over HTTP."""
    return b"data: " + b"\ndata: ".join(message.splitlines()) + b"\n\n"
