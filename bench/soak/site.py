"""The site of a soak: HTTP/1.1, HTTP/2 and WebSocket over TLS, with counts of its requests.

It runs in the clients' event loop, so that both counts can be compared directly.
"""

import asyncio
import socket
import ssl
import struct
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as serve_websockets
from websockets.exceptions import ConnectionClosed

from bench.soak.jobs import KINDS, Job, bodies

WEBSOCKET_PATH = "/socket/"
_LATE = 0.05
"""Seconds of delay in the middle of an answer."""
_CONNECTION_ERRORS = (OSError, asyncio.IncompleteReadError, h2.exceptions.ProtocolError)


class Site:
    """Answers as the path says, and counts requests."""

    def __init__(self) -> None:
        self.port = self.websocket_port = 0
        self.open = 0
        """How many connections are open now."""
        self.seen: Counter[str] = Counter()
        """How often each path was asked for."""

        self.messages: Counter[str] = Counter()
        """How many messages came on each WebSocket."""

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection until its end."""
        self.open += 1
        chosen = writer.get_extra_info("ssl_object").selected_alpn_protocol()
        try:
            with suppress(*_CONNECTION_ERRORS):
                await (self._http2 if chosen == "h2" else self._http1)(reader, writer)
        finally:
            self.open -= 1
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def echo(self, connection: ServerConnection) -> None:
        """Send every message back."""
        self.open += 1
        path = connection.request.path if connection.request else ""
        self.seen[path] += 1
        try:
            with suppress(ConnectionClosed):  # Some clients abort.
                async for message in connection:
                    self.messages[path] += 1
                    await connection.send(message)
        finally:
            self.open -= 1

    # ---- HTTP/1.1

    async def _http1(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            path, length = _path_and_length(head)
            await reader.readexactly(length)
            self.seen[path] += 1
            job = job_of(path)
            if job.kind == "reset":
                return reset(writer)
            pieces = bodies(job)
            chunked = job.kind in ("chunked", "late")
            framing = (
                "Transfer-Encoding: chunked"
                if chunked
                else f"Content-Length: {sum(map(len, pieces))}"
            )
            writer.write(
                f"HTTP/1.1 200 OK\r\nContent-Type: {_media_type(job)}\r\nX-Site: {job.number}\r\n"
                f"{framing}\r\n\r\n".encode()
            )
            for number, piece in enumerate(pieces):
                if job.kind == "half":
                    writer.write(piece[: len(piece) // 2])
                    await writer.drain()
                    return reset(writer)
                if job.kind == "late" and number:
                    await asyncio.sleep(_LATE / 2)
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            if chunked:
                writer.write(b"0\r\n\r\n")
            await writer.drain()

    # ---- HTTP/2

    async def _http2(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h2.connection.H2Connection(
            h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
        )
        connection.initiate_connection()
        connection.increment_flow_control_window(1 << 24)
        writer.write(connection.data_to_send())
        paths: dict[int, str] = {}
        pending: dict[int, bytes] = {}
        answering: set[asyncio.Task[None]] = set()

        def flush() -> None:
            for stream in list(pending):
                try:
                    self._send(connection, stream, pending)
                except h2.exceptions.ProtocolError:
                    pending.pop(stream, None)  # The proxy has reset it.
            if not writer.is_closing():
                writer.write(connection.data_to_send())

        async def late(stream: int) -> None:
            await asyncio.sleep(_LATE)
            self._answer(connection, stream, pending, job_of(paths[stream]))
            flush()

        try:
            while data := await reader.read(65536):
                for event in connection.receive_data(data):
                    match event:
                        case h2.events.RequestReceived(stream_id=int(stream), headers=headers):
                            paths[stream] = _path(headers or ())
                        case h2.events.DataReceived(stream_id=int(stream)):
                            connection.acknowledge_received_data(
                                event.flow_controlled_length or 0, stream
                            )
                        case h2.events.StreamEnded(stream_id=int(stream)):
                            self.seen[paths[stream]] += 1
                            job = job_of(paths[stream])
                            if job.kind == "late":
                                answering.add(task := asyncio.create_task(late(stream)))
                                task.add_done_callback(answering.discard)
                            else:
                                self._answer(connection, stream, pending, job)
                        case h2.events.StreamReset(stream_id=int(stream)):
                            pending.pop(stream, None)
                        case _:
                            pass
                flush()
                await writer.drain()
        finally:
            for task in answering:
                task.cancel()

    def _answer(
        self,
        connection: h2.connection.H2Connection,
        stream: int,
        pending: dict[int, bytes],
        job: Job,
    ) -> None:
        with suppress(h2.exceptions.ProtocolError):
            if job.kind == "reset":
                connection.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
                return
            body = b"".join(bodies(job))
            connection.send_headers(
                stream,
                [
                    (":status", "200"),
                    ("content-type", _media_type(job)),
                    ("x-site", str(job.number)),
                    ("content-length", str(len(body))),
                ],
            )
            if job.kind == "half":
                connection.send_data(stream, body[: len(body) // 2])
                connection.reset_stream(stream, h2.errors.ErrorCodes.INTERNAL_ERROR)
                return
            pending[stream] = body

    def _send(
        self,
        connection: h2.connection.H2Connection,
        stream: int,
        pending: dict[int, bytes],
    ) -> None:
        """Send as much as flow control allows."""
        while body := pending[stream]:
            room = min(
                connection.local_flow_control_window(stream), connection.max_outbound_frame_size
            )
            if room <= 0:
                return
            connection.send_data(stream, body[:room])
            pending[stream] = body[room:]
        del pending[stream]
        connection.end_stream(stream)


def job_of(path: str) -> Job:
    """Return the job of a path; its ``act`` is unknown to the site."""
    _, part, name, number = path.split("/")
    kind = next(kind for kind in KINDS if kind == name)
    return Job(int(number.removesuffix(".js")), part, kind, "read")


def reset(writer: asyncio.StreamWriter) -> None:
    """Reset a TCP connection."""
    raw: socket.socket = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _path(headers: Iterable[tuple[str | bytes, str | bytes]]) -> str:
    return next(str(value) for name, value in headers if name == ":path")


def _path_and_length(head: bytes) -> tuple[str, int]:
    line, *fields = head.decode("latin-1").split("\r\n")
    named = (field.partition(":") for field in fields)
    lengths = [int(value) for name, _, value in named if name.lower() == "content-length"]
    return line.split(" ")[1], lengths[0] if lengths else 0


def _media_type(job: Job) -> str:
    return "text/javascript" if job.part == "scripts" else "text/html"


@asynccontextmanager
async def serve_site(certificate: str, key: str) -> AsyncIterator[Site]:
    """Serve on two free ports of loopback."""
    site = Site()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    plain = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    plain.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2", "http/1.1"])
    async with (
        await asyncio.start_server(site.accept, "127.0.0.1", 0, ssl=context) as pages,
        serve_websockets(
            site.echo, "127.0.0.1", 0, ssl=plain, open_timeout=None, ping_interval=None
        ) as sockets,
    ):
        site.port = pages.sockets[0].getsockname()[1]
        site.websocket_port = next(iter(sockets.sockets)).getsockname()[1]
        yield site
