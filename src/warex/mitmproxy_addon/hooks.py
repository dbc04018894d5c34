"""The base of the hooks: they fail closed.

mitmproxy logs an exception in an addon and goes on, so that a failed fault would look like a
healthy page. Here the client's connection is reset and the trial is void.
"""

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from mitmproxy import connection, http, tcp, tls

from warex.lane.lane import Lane
from warex.mitmproxy_addon.client_end import ClientEnd

type _Hook[T] = Callable[[Any, T], Awaitable[None] | None]


class Hooks:
    """Hooks of one trial."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane

    def fail(self, data: object, error: Exception) -> None:
        """Void the trial, since WAREX itself has failed, and reset the client."""
        self.lane.broke(error)
        if isinstance(data, http.HTTPFlow) and data.killable:
            data.kill()
        client = _client_of(data)
        if client is not None:
            ClientEnd(client).reset()


def fail_closed[T](hook: _Hook[T]) -> _Hook[T]:
    """Void the trial when a hook raises, now or while it is awaited."""

    @functools.wraps(hook)
    def closing(self: Hooks, data: T) -> Awaitable[None] | None:
        try:
            result = hook(self, data)
        except Exception as error:  # noqa: BLE001 - fail closed, see the module docstring
            self.fail(data, error)
            return None
        return None if result is None else awaited(self, data, result)

    async def awaited(self: Hooks, data: T, result: Awaitable[None]) -> None:
        try:
            await result
        except Exception as error:  # noqa: BLE001 - fail closed, see the module docstring
            self.fail(data, error)

    return closing


def _client_of(data: object) -> connection.Client | None:
    match data:
        case http.HTTPFlow() | tcp.TCPFlow():
            return data.client_conn
        case tls.ClientHelloData() | tls.TlsData():
            return data.context.client
        case connection.Client():
            return data
        case _:
            return None
