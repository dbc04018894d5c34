"""A server of tools and a client of it, written by hand: the tests show the bytes of both."""

import asyncio
import json
import zlib
from collections.abc import Callable
from typing import Any

from tests.proxy.support.origin import Origin, Seen

PATH = "/mcp"
SESSION = "6f1c2d9a-0c5e-4f0b-9d53-0f6a1f7b2c3d"
HEAD = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


def asked(id: Any, method: str, params: Any = None) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    return message if params is None else {**message, "params": params}


def called(id: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    return asked(id, "tools/call", {"name": tool, "arguments": arguments})


def answered(id: Any, result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "result": result}


def text_content(text: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], **more}


def event(message: Any, name: str = "message") -> bytes:
    data = message if isinstance(message, str) else json.dumps(message)
    return f"event: {name}\ndata: {data}\n\n".encode()


def complete_response(body: bytes, kind: str = "application/json", status: int = 200) -> bytes:
    """Return an answer in one piece."""
    head = f"HTTP/1.1 {status} OK\r\ncontent-type: {kind}\r\nmcp-session-id: {SESSION}\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


def _its_arguments(message: dict[str, Any]) -> Any:
    return text_content(json.dumps(message["params"]["arguments"]))


def streamed(*events: bytes, kind: str = "text/event-stream") -> bytes:
    """Return an answer of events."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n".encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(it), it) for it in events if it)
    return head + b"transfer-encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"


class OldServer:
    """A server of revision 2024-11-05: ``/sse`` is answered with events, ``/messages`` with 202."""

    def __init__(
        self,
        origin: Origin,
        result_of: Callable[[dict[str, Any]], Any] | None = None,
        *,
        compressed: bool = False,
    ) -> None:
        """``result_of``: returns a message's result; by default, its arguments."""
        self._gzip = zlib.compressobj(wbits=31) if compressed else None
        self._result_of = result_of or _its_arguments
        self._events: asyncio.StreamWriter | None = None
        origin.routes["/sse"] = self._open
        origin.routes["/messages?session_id=1"] = self._take

    async def _open(
        self, seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        coding = b"content-encoding: gzip\r\n" if self._gzip else b""
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n" + coding)
        writer.write(b"connection: close\r\n\r\n")
        writer.write(self._coded(event("/messages?session_id=1", "endpoint")))
        await writer.drain()
        self._events = writer
        await reader.read()
        writer.close()

    async def _take(
        self, seen: Seen, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        message = json.loads(seen.body)
        writer.write(b"HTTP/1.1 202 Accepted\r\ncontent-length: 8\r\n\r\nAccepted")
        assert self._events is not None
        if "id" in message:
            data = event(answered(message["id"], self._result_of(message)))
            self._events.write(self._coded(data))
            await self._events.drain()

    def _coded(self, data: bytes) -> bytes:
        if self._gzip is None:
            return data
        return self._gzip.compress(data) + self._gzip.flush(zlib.Z_SYNC_FLUSH)
