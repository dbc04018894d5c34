"""The listener for redirected connections: HTTP and TLS go to the engine, the rest is relayed.

The first bytes are peeked at (MSG_PEEK), so that the next reader gets them again.

In some protocols the server sends first (SMTP, FTP, SSH, MySQL). If a client is silent for a
moment, the listener connects to the site and waits for either side. On ports where HTTP is usual
or was seen it does not: browsers open connections in advance, and the site would see each of them.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable
from contextlib import suppress
from typing import Any, Final, Literal

from warex.engine.net.protocol_detection import MAX_PEEK, DetectedProtocol, detect_protocol
from warex.engine.net.redirected_connection import (
    RedirectedConnection,
    close_with_reset,
    original_destination,
)
from warex.engine.net.relay import Relay
from warex.engine.sockets.buffers import Buffers
from warex.proxy.transparent.lateness import require_patience
from warex.text.latest import Latest

_SERVER_FIRST_DELAY: Final = 0.1
"""Seconds after which a silent client is assumed to wait for the server."""
_INCOMPLETE_TIMEOUT: Final = 1.0
"""Seconds after which an ambiguous beginning is assumed to be complete."""
_WELL_KNOWN_PORTS: Final = frozenset((80, 443))
"""Ports with HTTP only: a silent client is not connected to its site."""
_HTTP_PORTS: Final = frozenset((3000, 5000, 8000, 8008, 8080, 8081, 8443, 8888, 11434))
_LIKELY_HTTP_DELAY: Final = 2.0
"""``_SERVER_FIRST_DELAY`` on ports where HTTP is likely."""
_ACCEPT_BATCH: Final = 64
"""Connections accepted in one turn of the event loop."""
_REMEMBERED: Final = 1000
"""Hosts and ports that are known to use HTTP."""

type ServeCallback = Callable[[RedirectedConnection, DetectedProtocol], Awaitable[None]]
"""Serves HTTP on a connection, and closes it."""
type ConnectCallback = Callable[[str, int], Coroutine[Any, Any, socket.socket]]
"""Returns a socket at a site; raises OSError."""
type RelayCallback = Callable[[str, int, int, int, float], None]
"""Called for a relayed connection: host, port, bytes sent, bytes received, start in seconds of the
trial."""


class RedirectListener:
    """Accepts redirected connections, and serves or relays each."""

    def __init__(
        self,
        listeners: Iterable[socket.socket],
        *,
        name_of: Callable[[str], str | None],
        accepted: Callable[[RedirectedConnection], None],
        ended: Callable[[RedirectedConnection], None],
        serve: ServeCallback,
        relayed: RelayCallback,
        broke: Callable[[Exception], None],
        now: Callable[[], float],
        connect: ConnectCallback,
        buffers: Buffers,
        http_ports: Collection[int] = (),
    ) -> None:
        self._listeners = tuple(listeners)
        self._name_of, self._accepted, self._ended = name_of, accepted, ended
        self._serve, self._relayed = serve, relayed
        self._broke, self._now = broke, now
        self._connect, self._buffers = connect, buffers
        self._http_ports = _HTTP_PORTS | frozenset(http_ports)
        self._http_seen = Latest[tuple[str, int], None](_REMEMBERED)
        """Hosts and ports that have used HTTP."""
        self._loop = asyncio.get_running_loop()
        self._handlers: set[asyncio.Task[None]] = set()
        self._own = {listener.getsockname()[:2] for listener in self._listeners}

    def open(self) -> None:
        """Start to accept connections, including those in the backlog."""
        for listener in self._listeners:
            listener.setblocking(False)
            self._loop.add_reader(listener, self._accept, listener)

    async def close(self) -> None:
        """Stop accepting, and end the relayed connections."""
        for listener in self._listeners:
            self._loop.remove_reader(listener)
            listener.close()
        for handler in self._handlers:
            handler.cancel()
        if self._handlers:
            await asyncio.wait(self._handlers)

    def _accept(self, listener: socket.socket) -> None:
        for _ in range(_ACCEPT_BATCH):
            try:
                client, _ = listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:
                # No file descriptor is left: retry later.
                self._loop.remove_reader(listener)
                self._loop.call_later(0.1, self._loop.add_reader, listener, self._accept, listener)
                return
            client.setblocking(False)
            handler = self._loop.create_task(self._handle(client))
            if not handler.done():
                self._handlers.add(handler)
                handler.add_done_callback(self._handlers.discard)

    async def _handle(self, client: socket.socket) -> None:
        try:
            destination = original_destination(client)
            if destination is None or destination in self._own:
                close_with_reset(client)  # The connection was not redirected.
                return
            address, port = destination
            require_patience(client, f"a connection to port {port}")
            name = self._name_of(address) or address
            redirected = RedirectedConnection(client, name, address, port)
            self._accepted(redirected)
            try:
                await self._dispatch(redirected)
            finally:
                self._ended(redirected)
        except asyncio.CancelledError:
            client.close()
            raise
        except Exception as error:  # noqa: BLE001 - fail closed
            self._broke(error)
            with suppress(OSError):
                close_with_reset(client)

    async def _dispatch(self, redirected: RedirectedConnection) -> None:
        """Detect the protocol, and serve or relay the connection."""
        client = redirected.client
        site: socket.socket | None = None
        patience = self._first_byte_timeout(redirected)
        detected = await self._detect(client, patience, patience is not None)
        if detected == "silent":
            try:
                site = await self._connect_unless_client_sends(client, redirected)
            except OSError:
                close_with_reset(client)
                return
            if site is not None:
                await self._readable(client, site)
            # The side that sends first decides; the server, if both do.
            detected = "other" if site and _is_readable(site) else await self._detect(client, None)
        match detected:
            case "left" | "silent":
                _close(client, site)
            case "tls" | "http" | "proxied" | "h2c":
                _close(site)
                self._http_seen[redirected.host, redirected.port] = None
                await self._serve(redirected, detected)
            case _:
                await self._relay(redirected, site)

    def _first_byte_timeout(self, redirected: RedirectedConnection) -> float | None:
        """Return the seconds to wait for a client before connecting to its site; None: forever."""
        if (
            redirected.port in _WELL_KNOWN_PORTS
            or (redirected.host, redirected.port) in self._http_seen
        ):
            return None
        return _LIKELY_HTTP_DELAY if redirected.port in self._http_ports else _SERVER_FIRST_DELAY

    async def _detect(
        self, client: socket.socket, patience: float | None, quiet: bool = True
    ) -> DetectedProtocol | Literal["silent", "left"]:
        """Return the client's protocol; wait at most ``patience`` seconds for its first byte.

        ``quiet``: an ambiguous beginning times out, too.
        """
        seen = -1
        while True:
            try:
                first = client.recv(MAX_PEEK, socket.MSG_PEEK)
            except BlockingIOError:
                first = b""
            except OSError:
                return "left"
            else:
                if not first:
                    return "left"
            detected = detect_protocol(first)
            if detected is not None:
                return detected
            if len(first) == seen:
                return "other"  # Readable without new data: the client has sent its last byte.
            seen = len(first)
            # The peeked bytes must not count as readable.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, seen + 1)
            try:
                async with asyncio.timeout(
                    (_INCOMPLETE_TIMEOUT if quiet else None) if first else patience
                ):
                    await self._readable(client)
            except TimeoutError:
                return "other" if first else "silent"
            finally:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)

    async def _readable(self, *ends: socket.socket) -> None:
        """Wait until one of the sockets has something to read."""
        happened: asyncio.Future[None] = self._loop.create_future()

        def wake() -> None:
            if not happened.done():
                happened.set_result(None)

        for end in ends:
            self._loop.add_reader(end, wake)
        try:
            await happened
        finally:
            for end in ends:
                self._loop.remove_reader(end)

    async def _connect_unless_client_sends(
        self, client: socket.socket, redirected: RedirectedConnection
    ) -> socket.socket | None:
        """Connect to the site; return None if the client sends before that is done."""
        connecting = self._loop.create_task(self._connect(redirected.host, redirected.port))
        client_sends = self._loop.create_task(self._readable(client))
        try:
            await asyncio.wait((connecting, client_sends), return_when=asyncio.FIRST_COMPLETED)
            return connecting.result() if connecting.done() else None
        finally:
            connecting.cancel()
            client_sends.cancel()
            await asyncio.wait((connecting, client_sends))

    async def _relay(self, redirected: RedirectedConnection, site: socket.socket | None) -> None:
        began = self._now()
        if site is None:
            try:
                site = await self._connect(redirected.host, redirected.port)
            except OSError:
                # The nearest equivalent of the refusal that the client would have seen.
                close_with_reset(redirected.client)
                return
        relay = Relay(redirected.client, site, self._buffers)
        try:
            await relay.run()
        finally:
            self._relayed(redirected.host, redirected.port, relay.sent, relay.received, began)


def _is_readable(end: socket.socket) -> bool:
    """Whether a socket has data, its end or an error to read."""
    try:
        end.recv(1, socket.MSG_PEEK)
    except OSError as error:
        return not isinstance(error, BlockingIOError)
    return True


def _close(*ends: socket.socket | None) -> None:
    for end in ends:
        if end is not None:
            end.close()
