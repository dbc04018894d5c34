"""The clients of a soak, and the log of their answers."""

import asyncio
import ssl
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from bench.soak.jobs import Job, Session, bodies
from bench.soak.site import WEBSOCKET_PATH, reset
from bench.workspace import HOST

type RequestOutcome = Literal["site", "other", "cut", "lost", "left", "left_unread", "left_at_once"]
"""The outcome of a request:

- ``site``: the site's whole answer; ``other``: another whole answer;
- ``cut``: the connection or stream ended early;
- ``lost``: the connection was reset, so data in transit may be lost in both directions;
- ``left``: the client gave up; ``left_unread``: before the first byte of a body; ``left_at_once``:
  it reset the connection right after the request, which a system may drop unread (RFC 9293
  §3.10.7).
"""

_SECONDS = 60.0
_PIECE = 64 * 1024


@dataclass(slots=True)
class ClientLog:
    """The outcomes of the clients' requests, by path."""

    outcomes: dict[str, list[RequestOutcome]] = field(default_factory=lambda: defaultdict(list))
    reasons: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The errors of requests without an answer."""
    sent: dict[str, int] = field(default_factory=dict)
    """Messages of each WebSocket, all of which came back."""
    mistakes: list[str] = field(default_factory=list)
    """Answers and errors that no client should get."""

    def note(self, job: Job, outcome: RequestOutcome, why: str = "") -> None:
        """Record the outcome of a request, with the error if there was one."""
        self.outcomes[job.path].append(outcome)
        if why:
            self.reasons[job.path].append(why)

    def note_response(self, job: Job, marked: str | None, body: bytes) -> None:
        """Record a whole answer; ``marked``: its ``x-site`` header, which only the site sets."""
        if marked is None:
            self.note(job, "other")
            if b"warex" in body.lower():
                self.mistakes.append(f"{job.path}: an answer names WAREX")
            return
        self.note(job, "site")
        if body != b"".join(bodies(job)):
            self.mistakes.append(f"{job.path}: {len(body)} bytes that are not the site's")


@dataclass(frozen=True, slots=True)
class ProxyRoute:
    """The ports of proxy and site, and the CA to trust."""

    proxy: int
    port: int
    websocket_port: int
    ca: Path

    async def connect(
        self, port: int, *protocols: str
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a TLS connection through the proxy's tunnel; raise OSError on failure."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.proxy, limit=1 << 21)
        writer.write(f"CONNECT {HOST}:{port} HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head:
            raise ConnectionError(f"the proxy refused to connect: {head!r}")
        context = self.context(*protocols)
        await writer.start_tls(context, server_hostname=HOST)
        return reader, writer

    def context(self, *protocols: str) -> ssl.SSLContext:
        """Return a context that trusts only the CA."""
        context = ssl.create_default_context(cafile=str(self.ca))
        context.set_alpn_protocols(list(protocols))
        return context


async def http1(route: ProxyRoute, session: Session, log: ClientLog) -> None:
    """Send requests one after the other on a kept connection; reopen it if it ends."""
    connection: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
    for job in session.jobs:
        if connection is None:
            connection = await route.connect(route.port, "http/1.1")
        reader, writer = connection
        try:
            async with asyncio.timeout(_SECONDS):
                stays = await _ask(reader, writer, route.port, job, log)
        except TimeoutError:
            writer.transport.abort()
            raise
        except (OSError, asyncio.IncompleteReadError) as error:
            log.note(job, "cut", repr(error))
            stays = False
        if not stays:
            writer.close()
            connection = None
    if connection is not None:
        connection[1].close()
        with suppress(OSError):
            await connection[1].wait_closed()


async def _ask(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int, job: Job, log: ClientLog
) -> bool:
    """Return whether the connection can be used again."""
    kind = "Sec-Fetch-Dest: script\r\n" if job.part == "scripts" else ""
    length = f"Content-Length: {len(job.body)}\r\n" if job.body else ""
    head = (
        f"{job.method} {job.path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nAccept: */*\r\n"
        f"{kind}{length}\r\n"
    )
    writer.write(head.encode() + job.body)
    if job.act == "leave_at_once":
        await writer.drain()
        return _leave(writer, job, log, "left_at_once")
    fields = _fields(await reader.readuntil(b"\r\n\r\n"))
    if job.act == "leave":
        return _leave(writer, job, log, "left")
    if fields.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(await reader.readuntil(b"\r\n"), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readexactly(2)
    else:
        body = await _body(reader, int(fields.get("content-length", 0)), slow=job.act == "slow")
    log.note_response(job, fields.get("x-site"), body)
    return fields.get("connection") != "close"


def _leave(writer: asyncio.StreamWriter, job: Job, log: ClientLog, outcome: RequestOutcome) -> bool:
    reset(writer)
    log.note(job, outcome)
    return False


async def _body(reader: asyncio.StreamReader, length: int, *, slow: bool) -> bytes:
    if not slow:
        return await reader.readexactly(length)
    pieces: list[bytes] = []
    while length:
        pieces.append(await reader.readexactly(min(length, _PIECE)))
        length -= len(pieces[-1])
        await asyncio.sleep(0.01)
    return b"".join(pieces)


def _fields(head: bytes) -> dict[str, str]:
    lines = (line.partition(":") for line in head.decode("latin-1").split("\r\n")[1:])
    return {name.lower(): value.strip().lower() for name, _, value in lines}


async def websocket(route: ProxyRoute, session: Session, log: ClientLog) -> None:
    """Send messages, each of which must come back; then close or abort the connection."""
    path = f"{WEBSOCKET_PATH}{session.number}"
    try:
        async with connect(
            f"wss://{HOST}:{route.websocket_port}{path}",
            ssl=route.context("http/1.1"),
            proxy=f"http://127.0.0.1:{route.proxy}",
            open_timeout=_SECONDS,
            ping_interval=None,
            close_timeout=_SECONDS,
        ) as channel:
            for number, size in enumerate(session.messages):
                sent: str | bytes = bytes(size) if number % 2 else "a" * size
                async with asyncio.timeout(_SECONDS):
                    await channel.send(sent)
                    if await channel.recv() != sent:
                        log.mistakes.append(f"{path}: message {number} came back changed")
            log.sent[path] = len(session.messages)
            if not session.closes:
                channel.transport.abort()
    except (OSError, ConnectionClosed, InvalidHandshake, TimeoutError) as error:
        log.mistakes.append(f"{path}: {type(error).__name__}: {error}")
