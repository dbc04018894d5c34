"""A connection handler that calls hooks inline, and fails closed when mitmproxy itself raises.

mitmproxy starts an asyncio task and takes a lock for each of the four hooks of an exchange. Calling
them inline saves about a quarter of the time of a request (``bench/``). A hook that returns an
awaitable is awaited in a task of its own, as in mitmproxy.

``_perform`` follows mitmproxy 12's ``ConnectionHandler.server_event``;
``test_connection_handler.py`` checks that it handles the same commands.
"""

import asyncio
import ctypes
import gc
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from mitmproxy.proxy import commands, events, mode_servers
from mitmproxy.proxy import server as proxy_server
from mitmproxy.utils import asyncio_utils

from warex.proxy.net.client_socket import reset_writer

type Hook = Callable[[Any], Awaitable[None] | None]

logger = logging.getLogger(__name__)


class WarexConnectionHandler(mode_servers.ProxyConnectionHandler):
    """Handles one client connection's events and commands, with inline hooks."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[no-untyped-call]
        self._queue: deque[events.Event] = deque()
        self._busy = False
        self.sent = 0
        """Bytes that the client sent on the wire."""
        self.received = 0
        """Bytes that sites sent on the wire."""

    async def handle_client(self) -> None:
        """Serve the client until it disconnects, and free the connection's memory."""
        await super().handle_client()
        # This connection is still in ``connections``.
        _closed.count(idle=len(self.master.addons.get("proxyserver").connections) <= 1)

    async def server_event(self, event: events.Event) -> None:
        """Pass an event to the layers and perform their commands.

        A command may cause the next event; it is queued, so that no layer is reentered (mitmproxy
        issue 7027, solved there by a lock).
        """
        self._queue.append(event)
        if self._busy:
            return
        self._busy = True
        try:
            while self._queue:
                current = self._queue.popleft()
                if isinstance(current, events.DataReceived):
                    self.timeout_watchdog.register_activity()
                    if current.connection is self.client:
                        self.sent += len(current.data)
                    else:
                        self.received += len(current.data)
                for command in self.layer.handle_event(current):
                    self._perform(command)
        except Exception:  # noqa: BLE001 - mitmproxy may raise anything: fail closed
            self._queue.clear()
            self._abort()
        finally:
            self._busy = False

    def _perform(self, command: commands.Command) -> None:
        match command:
            case commands.StartHook():
                self._call(command)
            case commands.OpenConnection():
                handler = asyncio_utils.create_task(
                    self.open_connection(command),
                    name=f"server connection handler {command.connection.address}",
                    keep_ref=False,
                    client=self.client.peername,
                )
                self.transports[command.connection] = proxy_server.ConnectionIO(handler=handler)
            case commands.RequestWakeup():
                task = asyncio_utils.create_task(
                    self.wakeup(command),
                    name="wakeup timer",
                    keep_ref=False,
                    client=self.client.peername,
                )
                self.wakeup_timer.add(task)
            case commands.ConnectionCommand() if command.connection not in self.transports:
                pass  # The connection has been closed already.
            case commands.SendData():
                writer = self.transports[command.connection].writer
                if writer is not None and not writer.is_closing():
                    writer.write(command.data)
            case commands.CloseTcpConnection():
                self.close_connection(command.connection, command.half_close)
            case commands.CloseConnection():
                self.close_connection(command.connection, False)
            case commands.Log():
                self.log(command.message, command.level)
            case _:
                raise RuntimeError(f"mitmproxy asks for an unknown command: {command}")

    def _call(self, hook: commands.StartHook) -> None:
        (data,) = hook.args()
        pending = []
        for call in hooks_for(self.master, hook.name):
            result = call(data)
            if result is not None and inspect.isawaitable(result):
                pending.append(result)
        if pending:
            asyncio_utils.create_task(
                self._await(hook, pending),
                name=f"handle_hook({hook.name})",
                keep_ref=True,
                client=self.client.peername,
            )
        elif hook.blocking:
            self._queue.append(events.HookCompleted(hook))

    async def _await(self, hook: commands.StartHook, pending: list[Awaitable[None]]) -> None:
        try:
            with self.timeout_watchdog.disarm():
                for awaitable in pending:
                    await awaitable
        except Exception:  # noqa: BLE001 - mitmproxy's own addons may raise anything
            self._abort()
            return
        if hook.blocking:
            await self.server_event(events.HookCompleted(hook))

    def _abort(self) -> None:
        """Reset the connection: the exchange must not look healthy."""
        logger.exception("mitmproxy broke on a connection")
        client = self.transports.get(self.client)
        if client is not None and isinstance(client.writer, asyncio.StreamWriter):
            reset_writer(client.writer)
        for io in list(self.transports.values()):
            if io.handler is not None:
                io.handler.cancel("the proxy broke")


class _ClosedConnectionCleanup:
    """Frees the memory of closed connections from time to time (``test_client_memory.py``).

    mitmproxy's layers form reference cycles, and Python's thresholds do not count the OpenSSL
    memory that they hold, so hundreds of connections would wait to be collected. The freed memory
    is fragmented; malloc_trim(3) returns it to the system.
    """

    MANY, FEW = 32, 4

    def __init__(self) -> None:
        self._number = 0
        self._trim = getattr(ctypes.CDLL(None), "malloc_trim", lambda _: None)

    def count(self, *, idle: bool) -> None:
        """Count a closed connection; ``idle``: no other connection is open."""
        self._number += 1
        if self._number >= (self.FEW if idle else self.MANY):
            self._number = 0
            gc.collect()
            self._trim(0)


_closed = _ClosedConnectionCleanup()


def hooks_for(master: Any, name: str) -> tuple[Hook, ...]:
    """Return the addons' hooks of that name in order, cached for each master."""
    cache: dict[str, tuple[Hook, ...]] = master.__dict__.setdefault("warex_hooks", {})
    if name not in cache:
        found = (getattr(addon, name, None) for addon in master.addons.chain)
        cache[name] = tuple(filter(None, found))
    return cache[name]


def bytes_transferred(master: Any, connection_id: str) -> tuple[int, int]:
    """Return the bytes that a client and its sites sent on the wire of one connection."""
    handler = master.addons.get("proxyserver").connections.get(connection_id)
    if isinstance(handler, WarexConnectionHandler):
        return handler.sent, handler.received
    return 0, 0


def install() -> None:
    """Have mitmproxy use our handlers."""
    mode_servers.ProxyConnectionHandler = WarexConnectionHandler  # type: ignore[misc]
