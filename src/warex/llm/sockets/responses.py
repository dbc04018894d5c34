"""OpenAI's Responses over a WebSocket: a message is a request, the server's are its events.

Source: https://platform.openai.com/docs/guides/websocket-mode and the types of openai-python.
"""

from typing import Final

from msgspec.structs import replace

from warex.llm import recognise
from warex.llm.body.lenient_json import as_count, as_text, parse_object
from warex.llm.families.openai_responses import ENDS
from warex.llm.sockets.base import SocketEvent, SocketRequest

_ENDS: Final = (*ENDS, "error")


class ResponsesSocket:
    """One WebSocket; each message stands for itself."""

    def __init__(self, path: str) -> None:
        """``path``: of the handshake."""
        self._path = path

    def request(self, message: bytes) -> SocketRequest | None:
        """Read a client's message; None if it starts no answer."""
        sent = parse_object(message)
        if sent.get("type") != "response.create":
            return None
        stream = as_text(sent.get("stream_id"))
        if sent.get("generate") is False:
            return SocketRequest(stream, None, is_call=False)
        request = recognise("POST", self._path, "", message)
        return SocketRequest(stream, request and replace(request, stream=True), is_call=True)

    def event(self, message: bytes) -> SocketEvent:
        """Read a server's message."""
        sent = parse_object(message)
        kind, stream = as_text(sent.get("type")), as_text(sent.get("stream_id"))
        status = as_count(sent.get("status")) if kind == "error" else 0
        # An error that states a status is the answer of that status.
        failed = 400 <= status < 600
        content = message if failed else _as_sse(message)
        return SocketEvent(stream, kind in _ENDS, status if failed else 200, content)


def _as_sse(message: bytes) -> bytes:
    return b"data: " + b"\ndata: ".join(message.splitlines()) + b"\n\n"
