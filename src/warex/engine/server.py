"""The engine: accepts clients' connections and serves each, as its handler decides."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from warex.clock import Clock
from warex.engine.clients import Run
from warex.engine.connection import ConnectionRun
from warex.engine.ends import End
from warex.engine.handler import (
    AbortHow,
    Address,
    Connection,
    Exchange,
    FrameStep,
    Handler,
    Handlers,
    Timer,
)
from warex.engine.net.connector import Connector
from warex.engine.net.protocol_detection import DetectedProtocol
from warex.engine.net.redirected_connection import RedirectedConnection
from warex.engine.net.site_sockets import connect_socket
from warex.engine.routes import H1, H2
from warex.engine.services import Services, eager_task
from warex.engine.sockets.buffers import Buffers
from warex.engine.sockets.transport import abort_lingering
from warex.engine.sockets.turns import Turns
from warex.engine.tls.certificates import ServerContexts
from warex.engine.tls.site_contexts import SiteContexts, TrustStore

_ACCEPT_BATCH: Final = 16
"""Connections accepted in one turn of the event loop."""


class EngineConfig(Struct, frozen=True, kw_only=True):
    """What an engine serves with."""

    authority: Path
    """The file of the CA's key and certificate, PEM."""
    trust: TrustStore
    insecure: bool = False
    """Whether sites' certificates are taken unverified."""
    upstream: str | None = None
    """URL of a proxy through which sites are reached."""
    is_refused: Callable[[str], bool] = lambda host: False
    """Whether a host is never connected to."""
    buffered: int = 64 * 1024 * 1024
    """Bytes that may wait for peers on all connections before each may have little only."""


class Engine:
    """Serves the connections of handlers; it is their ``Control``."""

    def __init__(self, config: EngineConfig, handlers: Handlers, clock: Clock) -> None:
        site_contexts = SiteContexts(config.trust, insecure=config.insecure)
        self._services = Services(
            handlers, clock, ServerContexts(config.authority), site_contexts, Turns(), (H2, H1)
        )
        self.buffers = Buffers(config.buffered)
        """What waits for peers on all connections."""
        self._connector = Connector(
            config.upstream, site_contexts, config.is_refused, buffers=self.buffers
        )
        self._loop = asyncio.get_running_loop()
        self._numbered = 0
        self._runs: dict[int, ConnectionRun] = {}
        """By the number of the connection."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._listeners: list[socket.socket] = []

    # ---- connections

    def listen(self, listener: socket.socket) -> None:
        """Accept clients that know of the proxy."""
        listener.setblocking(False)
        self._listeners.append(listener)
        self._connector.own.add(listener.getsockname()[:2])
        self._listen_again(listener)

    def stop_listening(self, port: int) -> None:
        """Accept no more clients at a port."""
        for listener in [it for it in self._listeners if it.getsockname()[1] == port]:
            self._listeners.remove(listener)
            self._loop.remove_reader(listener)
            self._connector.own.discard(listener.getsockname()[:2])
            listener.close()

    def _accept(self, listener: socket.socket, port: int) -> None:
        for _ in range(_ACCEPT_BATCH):
            try:
                client, address = listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:
                # No file descriptor is left: retry later.
                self._loop.remove_reader(listener)
                self._loop.call_later(0.1, self._listen_again, listener)
                return
            task = eager_task(self._serve(client, Address(*address[:2]), port=port))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _listen_again(self, listener: socket.socket) -> None:
        if listener in self._listeners:
            self._loop.add_reader(listener, self._accept, listener, listener.getsockname()[1])

    async def serve_redirected(
        self, redirected: RedirectedConnection, detected: DetectedProtocol
    ) -> None:
        """Serve a redirected connection to its end."""
        client = redirected.client
        try:
            address = client.getpeername()
        except OSError:
            client.close()
            return
        await self._serve(client, Address(*address[:2]), redirected, detected)

    async def _serve(
        self,
        client: socket.socket,
        address: Address,
        redirected: RedirectedConnection | None = None,
        detected: DetectedProtocol | None = None,
        *,
        port: int = 0,
    ) -> None:
        end = End(client, buffers=self.buffers)
        self._numbered += 1
        connection = Connection(self._numbered, address, port=port)
        connector = self._connector
        if redirected is not None and detected == "proxied":
            # The client uses a proxy of its own, which becomes our upstream proxy.
            literal = f"[{redirected.host}]" if ":" in redirected.host else redirected.host
            connector = Connector(
                f"http://{literal}:{redirected.port}",
                self._services.site_contexts,
                is_clients=True,
                buffers=self.buffers,
            )
        elif redirected is not None:
            connection.destination = Address(redirected.host, redirected.port)
        is_redirected = connection.is_redirected = redirected is not None
        run = ConnectionRun(self._services, end, connection, connector, is_redirected=is_redirected)
        self._runs[connection.number] = run
        try:
            run.handler.connected(connection)
            try:
                if connection.destination is None:
                    await run.serve_proxy()
                else:
                    await run.serve_tunnel(detected)
            finally:
                end.close()
                del self._runs[connection.number]
                run.handler.closed(connection)
        except asyncio.CancelledError:
            end.abort()
            raise
        except Exception as error:  # noqa: BLE001 - fail closed
            run.handler.broke(error)
            end.reset()

    async def connect_socket(self, host: str, port: int) -> socket.socket:
        """Return a socket at a site, for what is relayed; raise OSError."""
        return await connect_socket(self._connector, host, port)

    async def drop(self, handler: Handler) -> None:
        """End the open exchanges and connections of one handler."""
        tasks = set[asyncio.Task[None]]()
        for run in list(self._runs.values()):
            if run.handler is not handler:
                if run.client is not None:
                    await run.client.drop(handler)
            elif run.task is not None:
                run.task.cancel()
                tasks.add(run.task)
        if tasks:
            await asyncio.wait(tasks)
        self._services.site_sessions.pop(id(handler), None)

    async def shut_down(self) -> None:
        """Stop accepting; end the open exchanges and connections."""
        for listener in self._listeners:
            self._loop.remove_reader(listener)
            listener.close()
        self._listeners.clear()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await abort_lingering()

    # ---- what a handler asks for

    def push(self, exchange: Exchange, piece: bytes) -> bool:
        """Insert a piece into a response body that is being relayed; False if it has ended."""
        run = self._run(exchange)
        return run is not None and run.push(piece)

    def add_frames(
        self, exchange: Exchange, steps: Iterable[FrameStep], *, from_client: bool
    ) -> None:
        """Do further steps for a side of an open WebSocket; nothing if it has ended."""
        run = self._run(exchange)
        if run is not None:
            run.add_frames(steps, from_client=from_client)

    def abort(self, exchange: Exchange, how: AbortHow) -> None:
        """End an open exchange."""
        run = self._run(exchange)
        if run is not None:
            run.abort(how)

    def close(self, connection: Connection) -> None:
        """Close a connection in order, once its open exchanges have ended."""
        run = self._runs.get(connection.number)
        # One that handlers share is closed by its own only.
        if run is not None and run.connection is connection and run.client is not None:
            run.client.close_when_idle()

    def call_later(self, seconds: float, function: Callable[[], None]) -> Timer:
        """Call a function once, after some time."""
        return self._loop.call_later(seconds, function)

    def _run(self, exchange: Exchange) -> Run | None:
        run = self._runs.get(exchange.connection.number)
        if run is None or run.client is None:
            return None
        return next((it for it in run.client.runs.values() if it.exchange is exchange), None)


@asynccontextmanager
async def serve(
    config: EngineConfig, handlers: Handlers, *, clock: Clock | None = None
) -> AsyncIterator[Engine]:
    """Run an engine in this event loop, without a listener; shut it down at the end."""
    engine = Engine(config, handlers, clock or Clock())
    try:
        yield engine
    finally:
        await engine.shut_down()
