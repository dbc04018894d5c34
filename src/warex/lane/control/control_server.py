"""The server of the control API: JSON over HTTP/1.1 on loopback, with a token.

Every program and browser page on the machine can reach the port. So each call needs
``Authorization: Bearer TOKEN``. A ``Host`` other than this machine (DNS rebinding) and the
``Origin`` of a remote page are refused; no preflight is granted (CORS). No input here ends the
trial: what h11 cannot parse is answered with 400.
"""

import asyncio
import hmac
import json
from contextlib import suppress
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qs, urlsplit

import h11
from pydantic import JsonValue

from warex.lane.control.control_api import METHODS, ControlApi, dispatch
from warex.lane.episodes.episodes import Episodes

MAX_BODY_SIZE: Final = 1024 * 1024
_MAX_HEAD_SIZE: Final = 64 * 1024
_REQUEST_TIMEOUT: Final = 10.0
"""Seconds for a request to arrive."""
_MAX_CONNECTIONS: Final = 64
"""Concurrent connections; a further one closes the oldest."""
_LINGER: Final = 1.0
"""Seconds for which the rest of a refused request is read, so that its client gets the response."""

_OWN_NAMES: Final = ("127.0.0.1", "localhost", "::1")


type _Response = tuple[int, JsonValue]
"""A status and a body."""


class ControlServer:
    """Answers one request on each connection and closes it."""

    def __init__(self, episodes: Episodes, token: str) -> None:
        self._api = ControlApi(episodes.own, episodes)
        self._wanted = f"Bearer {token}".encode()
        self._open: dict[asyncio.StreamWriter, None] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection to its end."""
        self._open[writer] = None
        if len(self._open) > _MAX_CONNECTIONS:
            next(iter(self._open)).transport.abort()
        try:
            # No input here may end the trial; ``_call`` handles failures of WAREX itself.
            with suppress(Exception):
                async with asyncio.timeout(_REQUEST_TIMEOUT):
                    method, answer = await self._exchange(reader, writer)
                    writer.write(_serialized(answer, with_body=method != "HEAD"))
                    await writer.drain()
                    writer.write_eof()
                    async with asyncio.timeout(_LINGER):
                        while await reader.read(65536):
                            pass
        finally:
            del self._open[writer]
            writer.close()

    async def close(self) -> None:
        """Close all connections."""
        for writer in list(self._open):
            writer.transport.abort()

    async def _exchange(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[str, _Response]:
        """Read a request as far as needed; return its method and response."""
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEAD_SIZE)
        method, name, task, body = "", "", None, b""
        while True:
            try:
                event = connection.next_event()
            except h11.RemoteProtocolError as error:
                return method, _error(error.error_status_hint, f"this is not a request: {error}")
            match event:
                case h11.Request():
                    method = event.method.decode("latin-1")
                    path, _, query = event.target.decode("latin-1").partition("?")
                    name = path.removeprefix("/")
                    task = next(iter(parse_qs(query, keep_blank_values=True).get("task", ())), None)
                    if (refusal := await self._check_head(method, event)) is not None:
                        return method, refusal
                case h11.Data():
                    body += event.data
                    if len(body) > MAX_BODY_SIZE:
                        return method, _error(413, f"a body has at most {MAX_BODY_SIZE} bytes")
                case h11.EndOfMessage():
                    return method, await self._call(method, name, task, body)
                case h11.NEED_DATA:
                    if connection.they_are_waiting_for_100_continue:
                        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                        connection.send(h11.InformationalResponse(status_code=100, headers=[]))
                    connection.receive_data(await reader.read(65536))
                case _:
                    raise ConnectionError("the client left")

    async def _check_head(self, method: str, request: h11.Request) -> _Response | None:
        """Return the refusal of a request by its head; None if the head is accepted."""
        headers = dict(request.headers)
        if not hmac.compare_digest(headers.get(b"authorization", b""), self._wanted):
            return _error(401, "the token is missing or wrong: Authorization: Bearer …")
        host = headers.get(b"host", b"").decode("latin-1")
        if host and not _is_own(f"http://{host}"):
            return _error(403, f"Host: {host} is not this machine; use 127.0.0.1")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin and not _is_own(origin):
            return _error(403, f"pages of {origin} may not call this")
        if method not in METHODS:
            return await dispatch(self._api, method, "", b"")
        return None

    async def _call(self, method: str, name: str, task: str | None, body: bytes) -> _Response:
        api = self._api if task is None else self._api.of(task)
        if api is None:
            return _error(
                404, f"no episode {task!a} is running; GET /episodes lists those that are"
            )
        try:
            return await dispatch(api, method, name, body)
        except Exception as error:  # noqa: BLE001 - fail closed: a call half done is a trial unknown
            api.trial.broke(error)
            return _error(500, f"WAREX itself failed, and the trial is void: {error}")


def _error(status: int, sentence: str) -> _Response:
    return status, {"error": sentence}


def _is_own(origin: str) -> bool:
    try:
        return urlsplit(origin).hostname in _OWN_NAMES
    except ValueError:
        return False


def _serialized(answer: _Response, *, with_body: bool) -> bytes:
    status, content = answer
    body = json.dumps(content).encode()
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    if status == 401:
        lines.append("WWW-Authenticate: Bearer")
    elif status == 405:
        lines.append(f"Allow: {', '.join(METHODS)}")
    head = "\r\n".join([*lines, "", ""]).encode()
    return head + body if with_body else head
