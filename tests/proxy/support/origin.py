"""A site for the wire tests: HTTP/1.1 and HTTP/2, with or without TLS, on its own thread."""

import asyncio
import ssl
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import h2.exceptions

type Frames = Callable[[h2.connection.H2Connection, int], bytes | None]


@dataclass
class Seen:
    """A request as the site received it."""

    method: str
    target: str
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""
    head: bytes = b""
    """HTTP/1.1 only: the bytes of request line and headers."""
    trailers: bytes = b""
    connection: int = 0
    version: str = "HTTP/1.1"

    def header(self, name: str) -> str | None:
        results = [v for n, v in self.headers if n.lower() == name.encode()]
        return results[0].decode() if results else None


@dataclass
class Answer:
    """An answer of the site; ``raw`` is sent unchanged (HTTP/1.1)."""

    status: int = 200
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b"hello"
    raw: bytes | None = None
    trailers: list[tuple[bytes, bytes]] = field(default_factory=list)
    hold: asyncio.Event | None = None
    frames: Frames | None = None
    """HTTP/2 only: acts on the stream and returns bytes to send after that; None ends the
    connection."""


type Stream = Callable[[Seen, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Origin:
    """Answers each path by its route, other paths with 200 and ``hello``."""

    def __init__(
        self,
        tls: ssl.SSLContext | None = None,
        *,
        h2c: bool = False,
        host: str | None = "127.0.0.1",
        port: int = 0,
    ) -> None:
        """``host`` None: listen on every address of this machine, IPv4 and IPv6."""
        self.routes: dict[str, Answer | Stream] = {}
        self.at_headers: dict[str, Frames] = {}
        """HTTP/2 only: called by path as soon as the headers of a request have arrived."""
        self.seen: list[Seen] = []
        self.connections = 0
        self.alpn: list[str | None] = []
        self.resumed: list[bool] = []
        """Of each TLS connection."""
        self.resets: list[int] = []
        """The error codes of HTTP/2 streams that the client reset."""
        self._tls, self._h2c = tls, h2c
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._is_ending = False
        self._host, self.port = host, port
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait(5)

    def connections_of(self, *paths: str) -> int:
        """Return how many connections carried requests of these paths."""
        return len({seen.connection for seen in self.seen if seen.target in paths})

    @property
    def paths(self) -> list[str]:
        return [seen.target for seen in self.seen]

    def reset(self) -> None:
        self.routes.clear()
        self.at_headers.clear()
        self.seen.clear()
        self.alpn.clear()
        self.resumed.clear()
        self.resets.clear()

    def run(self, call: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(call)

    def close(self) -> None:
        self.run(self._loop.stop)
        self._thread.join(5)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._accept, self._host, self.port, ssl=self._tls, limit=2**22)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        self._is_ending = True
        server.close()
        # Some are asyncio's own, of connections that have just been accepted.
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self._loop.run_until_complete(asyncio.wait(tasks))
        if sys.version_info >= (3, 13):
            server.abort_clients()
        for _ in range(2):  # Transports close in the next turn; TLS closes the one below it.
            self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        try:
            tls = writer.get_extra_info("ssl_object")
            protocol = tls.selected_alpn_protocol() if tls else None
            self.alpn.append(protocol)
            if tls:
                self.resumed.append(tls.session_reused)
            speak = self._speak_h2 if protocol == "h2" or self._h2c else self._speak_h1
            with suppress(
                OSError,
                asyncio.IncompleteReadError,
                asyncio.CancelledError,
                # The client has reset a stream in the meantime.
                h2.exceptions.StreamClosedError,
            ):
                await speak(reader, writer, number)
        finally:
            writer.transport.abort() if self._is_ending else writer.close()

    async def _speak_h1(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            line, *fields = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
            method, target, _ = line.decode("latin-1").split(" ", 2)
            headers = [(n, v.strip()) for n, _, v in (f.partition(b":") for f in fields)]
            seen = Seen(method, target, headers, head=head, connection=number)
            if (seen.header("expect") or "").lower() == "100-continue":
                writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            await self._read_body(seen, reader)
            self.seen.append(seen)
            route = self.routes.get(target, Answer())
            if not isinstance(route, Answer):
                await route(seen, reader, writer)
                await writer.drain()
                if writer.is_closing():
                    return
                continue
            if route.raw is not None:
                writer.write(route.raw)
                await writer.drain()
                if b"onnection: close" in route.raw:
                    return
                continue
            writer.write(f"HTTP/1.1 {route.status} OK\r\n".encode())
            for name, value in route.headers:
                writer.write(name + b": " + value + b"\r\n")
            writer.write(b"Content-Length: %d\r\n\r\n" % len(route.body))
            if method != "HEAD":
                writer.write(route.body)
            await writer.drain()
            if (seen.header("connection") or "").lower() == "close":
                return

    async def _read_body(self, seen: Seen, reader: asyncio.StreamReader) -> None:
        if (seen.header("transfer-encoding") or "") == "chunked":
            while size := int((await reader.readline()).strip(), 16):
                seen.body += await reader.readexactly(size)
                await reader.readexactly(2)
            while (line := await reader.readline()) != b"\r\n":
                seen.trailers += line
        elif length := seen.header("content-length"):
            seen.body = await reader.readexactly(int(length))

    async def _speak_h2(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        config = h2.config.H2Configuration(client_side=False, header_encoding=None)
        conn = h2.connection.H2Connection(config)
        conn.initiate_connection()
        conn.increment_flow_control_window(2**24)
        writer.write(conn.data_to_send())
        streams: dict[int, Seen] = {}
        pending: dict[int, bytes] = {}

        def flush() -> None:
            for stream in list(pending):
                while pending[stream] and (
                    room := min(
                        conn.local_flow_control_window(stream), conn.max_outbound_frame_size
                    )
                ):
                    piece, pending[stream] = pending[stream][:room], pending[stream][room:]
                    conn.send_data(stream, piece)
                if not pending[stream]:
                    del pending[stream]
                    trailers = answers[stream].trailers
                    if trailers:
                        conn.send_headers(stream, trailers, end_stream=True)
                    else:
                        conn.end_stream(stream)
            writer.write(conn.data_to_send())

        answers: dict[int, Answer] = {}
        while data := await reader.read(65536):
            for event in conn.receive_data(data):
                match event:
                    case h2.events.RequestReceived():
                        fields = dict(event.headers)
                        streams[event.stream_id] = Seen(
                            fields[b":method"].decode(),
                            fields[b":path"].decode(),
                            [(n, v) for n, v in event.headers if not n.startswith(b":")],
                            connection=number,
                            version="HTTP/2.0",
                        )
                        at_once = self.at_headers.get(streams[event.stream_id].target)
                        if at_once is not None:
                            at_once(conn, event.stream_id)
                    case h2.events.DataReceived():
                        streams[event.stream_id].body += event.data
                        conn.acknowledge_received_data(
                            event.flow_controlled_length, event.stream_id
                        )
                    case h2.events.StreamReset():
                        self.resets.append(int(event.error_code))
                    case h2.events.StreamEnded():
                        seen = streams[event.stream_id]
                        self.seen.append(seen)
                        route = self.routes.get(seen.target, Answer())
                        assert isinstance(route, Answer)
                        if route.frames is not None:
                            more = route.frames(conn, event.stream_id)
                            writer.write(conn.data_to_send() + (more or b""))
                            if more is None:
                                return
                            continue
                        answers[event.stream_id] = route
                        status = str(route.status).encode()
                        conn.send_headers(event.stream_id, [(b":status", status), *route.headers])
                        pending[event.stream_id] = b"" if seen.method == "HEAD" else route.body
                    case _:
                        pass
            flush()
            await writer.drain()


def server_context(certificate: Path, key: Path, protocols: list[str]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(protocols)
    return context


@contextmanager
def served(
    tls: ssl.SSLContext | None = None, *, h2c: bool = False, port: int = 0
) -> Iterator[Origin]:
    """Serve a site; ``h2c``: HTTP/2 without TLS."""
    origin = Origin(tls, h2c=h2c, port=port)
    try:
        yield origin
    finally:
        origin.close()
