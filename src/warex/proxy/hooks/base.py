"""The base of WAREX's hooks: they fail closed.

mitmproxy logs an exception in an addon and forwards the flow, so that a failed fault would look
like a healthy page. Here the exchange is cut, ``harness_broke`` is written, and the trial is void.
"""

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from mitmproxy import connection, http, tcp, tls

from warex.errors import WarexError
from warex.lane.record.recorder import Recorder
from warex.proxy.exchange.paced_response import ResponseCut, ResponsePiece
from warex.proxy.exchange.state import state_of
from warex.proxy.mitmproxy_patches.body_buffer import Upload
from warex.proxy.mitmproxy_patches.websocket_layer import WebsocketEvent
from warex.proxy.net.check import RejectedRequest
from warex.proxy.net.client_socket import reset

type _Hook[T] = Callable[[Any, T], Awaitable[None] | None]


class Hooks:
    """An addon's hooks, and what happens when one of them raises."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def fail(self, data: object, error: Exception) -> None:
        """Cut the exchange and void the trial, since WAREX itself has failed."""
        flow = data.flow if isinstance(data, WebsocketEvent) else data
        state = state_of(flow) if isinstance(flow, http.HTTPFlow) else None
        reason = str(error)
        if not isinstance(error, WarexError):
            reason = f"{type(error).__name__}: {reason}"
        self.recorder.harness_broke(reason, state.exchange.id if state else None)
        client = client_of(data)
        if client is not None:
            reset(client)
        if isinstance(flow, http.HTTPFlow) and flow.killable:
            flow.kill()


def fail_closed[T](hook: _Hook[T]) -> _Hook[T]:
    """Cut the exchange and void the trial when a hook raises, now or while awaited."""

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


def client_of(data: object) -> connection.Client | None:
    """Return the client of a hook's data, if any."""
    match data:
        case http.HTTPFlow() | tcp.TCPFlow():
            return data.client_conn
        case tls.ClientHelloData() | tls.TlsData():
            return data.context.client
        case connection.Client():
            return data
        case RejectedRequest():
            return data.client
        case ResponsePiece() | ResponseCut() | Upload() | WebsocketEvent():
            return data.flow.client_conn
        case _:
            return None
