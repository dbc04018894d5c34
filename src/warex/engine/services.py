"""What every connection of an engine uses."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from msgspec import Struct

from warex.clock import Clock
from warex.engine.handler import Connection, Handler, Handlers
from warex.engine.routes import Route
from warex.engine.sockets.turns import Turns
from warex.engine.tls.certificates import ServerContexts
from warex.engine.tls.site_contexts import SiteContexts
from warex.engine.tls.site_sessions import SiteSessions


class Services(Struct, frozen=True):
    """What every connection of an engine uses."""

    handlers: Handlers
    clock: Clock
    server_contexts: ServerContexts
    site_contexts: SiteContexts
    turns: Turns
    protocols: tuple[bytes, ...]
    """What is offered to sites by ALPN, where a client offers it."""
    site_sessions: dict[int, SiteSessions] = {}
    """By the ``id`` of their handler."""

    def sessions_of(self, handler: Handler) -> SiteSessions:
        """Return a handler's sessions with sites."""
        return self.site_sessions.setdefault(id(handler), SiteSessions())


class Share(Struct, frozen=True, eq=False):
    """What one handler has of a client's connection."""

    handler: Handler
    connection: Connection
    route: Route


def eager_task[T](work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Run a coroutine as a task, at once until it waits."""
    return asyncio.Task(work, loop=asyncio.get_running_loop(), eager_start=True)
