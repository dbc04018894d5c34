"""A connection to a client: its requests become exchanges, whose answers go back on it."""

import asyncio
import base64
import binascii
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final, Protocol

from msgspec.structs import replace

from warex.engine import handler
from warex.engine.ends import End
from warex.engine.handler import AbortHow, Exchange, Handler, Rejection
from warex.engine.http.connection import ServerConnection
from warex.engine.http.events import (
    ConnectionEnded,
    DataQueueEmptied,
    DataReceived,
    ExchangeFailed,
    GoingAway,
    MessageEnded,
    RequestEvent,
    RequestReceived,
    RequestRejected,
)
from warex.engine.http.heads import RequestHead, ResponseHead
from warex.engine.services import Services, Share
from warex.engine.sites import Inbox
from warex.engine.sockets.buffers import Intake
from warex.engine.sockets.turns import SLICE_S, Peer

_INTERNAL_ERROR: Final = 2
"""RFC 9113 §7: how an exchange ends that is cut."""
_UNWRITTEN: Final = 64 * 1024
"""Bytes that wait for the end of a turn at most."""
_LATE_READING_S: Final = 1.0
"""Seconds in which a client may send the rest of a request that is not read."""


type RequestPart = DataReceived | MessageEnded


class Run(Protocol):
    """An exchange while it lasts, as its client's connection sees it."""

    exchange: Exchange
    share: Share
    stream: int
    requests: Inbox[RequestPart]

    def start(self) -> None:
        """Begin."""

    def client_left(self) -> None:
        """Note that the client's connection has ended."""

    def client_gave_up(self, error: str, code: int | None, rejection: Rejection | None) -> None:
        """Note that the client has ended this exchange, or sent what is refused."""

    def interrupt(self, end: handler.End, error: str) -> None:
        """End the exchange where it waits."""

    def abort(self, how: AbortHow) -> None:
        """End the exchange without more of its answer."""

    def push(self, piece: bytes) -> bool:
        """Insert a piece into the response's body; False if none is being relayed."""

    def add_frames(self, steps: Iterable[handler.FrameStep], *, from_client: bool) -> None:
        """Do further steps for a side of a WebSocket."""


class ClientSide:
    """One connection of a client, of either version of HTTP."""

    def __init__(
        self,
        services: Services,
        own: Share,
        end: End,
        http: ServerConnection,
        begin: Callable[["ClientSide", RequestReceived], Run],
        *,
        is_redirected: bool = False,
    ) -> None:
        """``begin`` makes the run of an exchange; ``is_redirected``: the client knows no proxy."""
        self._loop = asyncio.get_running_loop()
        self.services, self.connection = services, own.connection
        self.end, self.http = end, http
        self.is_redirected = is_redirected
        self.is_multiplexed = self.connection.version == "HTTP/2.0"
        self.intake = Intake(end, end.buffers, has_windows=self.is_multiplexed)
        self.runs: dict[int, Run] = {}
        self._own = own
        self._others: dict[int, Share] = {}
        """The shares of other handlers, by their ``id``."""
        self._make_run = begin
        self._begun: deque[Run] = deque()
        self._peer = Peer(services.turns, end, self)
        self._late = b""
        """Received bytes that wait for the client's turn."""
        self._is_free = False
        """Whether an exchange of HTTP/1 has ended, and the next one is not looked for."""
        self._is_dispatching = False
        self._unwritten: list[bytes] = []
        """Bytes to write at the end of this turn."""
        self._waits = False
        """Whether the client waits until an earlier request is answered."""
        self._rejections: dict[int, Rejection] = {}
        self._tunnels = False
        self._emptied: dict[int, asyncio.Future[None]] = {}
        self._closing = False
        self._lingers = False
        """Whether the client may still be sending a request that is not read."""
        self._tunnel: asyncio.Future[RequestReceived | None] | None = None

    async def serve(self, *, tunnels: bool = False) -> RequestReceived | None:
        """Serve requests until the connection ends; return a CONNECT, if ``tunnels``."""
        self._tunnel = self._loop.create_future()
        self._tunnels = tunnels
        self.end.on_end = self._ended
        self.end.on_lost = self._lost
        try:
            self.end.start(self._received)
            self.flush()
            if self.end.has_ended:
                self._ended()
            if self.end.is_lost:
                self._lost()
            return await self._tunnel
        finally:
            self.end.on_end = self.end.on_lost = None
            self.end.stop()
            await self._finish()

    async def _finish(self) -> None:
        """Wait until every exchange has ended."""
        while self._begun:
            await self._peer.turn()
            began = now = time.monotonic()
            while self._begun and now < began + SLICE_S:
                self._begun.popleft().start()
                now = time.monotonic()
            self._peer.served(began, now)
        while self.runs:
            for run in list(self.runs.values()):
                run.interrupt("shut_down", "the proxy ended")
            await asyncio.sleep(0)
        for share in list(self._others.values()):
            self._close_share(share)

    # ---- to which handler exchanges belong

    def share_of(self, head: RequestHead) -> Share:
        """Return the share of the handler to which a request belongs."""
        handler = self.services.handlers.of_request(self.connection, head)
        if handler is self._own.handler:
            return self._own
        share = self._others.get(id(handler))
        if share is None:
            connection = replace(self.connection, state=None)
            route = self._own.route.another(handler.broke, self.services.sessions_of(handler))
            share = Share(handler, connection, route)
            self._others[id(handler)] = share
            handler.connected(connection)
        return share

    async def drop(self, handler: Handler) -> None:
        """End the exchanges of a handler that has only a share of the connection."""
        share = self._others.get(id(handler))
        if share is None:
            return
        while runs := [run for run in self.runs.values() if run.share is share]:
            for run in runs:
                run.interrupt("shut_down", "the proxy ended")
            await asyncio.sleep(0)
        if id(handler) in self._others:
            self._close_share(share)

    def _close_share(self, share: Share) -> None:
        del self._others[id(share.handler)]
        share.route.close()
        share.handler.closed(share.connection)

    # ---- received bytes

    def _received(self, data: bytes) -> None:
        if self._peer.must_wait:
            self._late += data
            self._peer.wait()
            return
        began = time.monotonic()
        self._dispatch(self.http.receive(data), began)

    def go_on(self) -> None:
        """Process the bytes that were left, once others had their turn."""
        if self._tunnel is None or self._tunnel.done():
            return  # The connection is not served any more.
        began = time.monotonic()
        data, self._late, self._is_free = self._late, b"", False
        self._dispatch(self.http.receive(data), began)
        if self.end.has_ended:
            self._ended()
        if self.end.is_lost:
            self._lost()

    def take_waiting(self) -> None:
        """Take what came before the connection was upgraded: no request has to wait any more."""
        data, self._late = self._late, b""
        self._dispatch(self.http.receive(data), time.monotonic())

    def _ended(self) -> None:
        if self._peer.must_wait:
            self._peer.wait()  # The connection ends once the rest is processed.
            return
        self._dispatch(self.http.receive_eof(), time.monotonic())
        for run in list(self.runs.values()):
            run.client_left()
        self._peer.charge(len(self.runs))
        self._close_if_idle()

    def _lost(self) -> None:
        if self._peer.must_wait:
            self._peer.wait()
            return
        for stream in list(self._emptied):
            self._queue_emptied(stream)
        for run in list(self.runs.values()):
            run.client_left()
        self._peer.charge(len(self.runs))
        self._resolve(None)

    def _dispatch(self, events: list[RequestEvent], began: float) -> None:
        """Process received bytes; ``began``: when this was started."""
        now, self._is_dispatching = began, True
        try:
            self._take(events)
            while (self._begun or self._is_free) and now < began + SLICE_S:
                if self._begun:
                    # Body bytes that came with a head are processed before the head is decided on.
                    self._begun.popleft().start()
                else:
                    self._is_free = False
                    self._take(self.http.receive(b""))
                now = time.monotonic()
        except Exception as error:  # noqa: BLE001 - fail closed
            self.broke(error)
            return
        finally:
            self._is_dispatching = False
        self.flush()
        if self._begun or self._is_free or self.http.has_more:
            self._peer.wait()
        self._pace()
        if not self.is_multiplexed:
            self._close_if_idle()
        self._peer.served(began, time.monotonic())

    def _take(self, events: list[RequestEvent]) -> None:
        for event in events:
            if isinstance(event, RequestRejected):
                self._reject(event)
        for event in events:
            self._handle(event)

    def _pace(self) -> None:
        """Let a client wait that sends requests before the answers to earlier ones."""
        if self.is_multiplexed or self.http.wants_data is not self._waits:
            return
        self._waits = not self._waits
        if self._waits:
            self.end.pause(self)
        else:
            self.end.resume(self)

    def _handle(self, event: RequestEvent) -> None:
        match event:
            case RequestReceived():
                self._begin(event)
            case DataReceived() | MessageEnded():
                run = self.runs.get(event.stream)
                if run is not None:
                    run.requests.put(event)
                elif isinstance(event, DataReceived) and event.flow:
                    self.http.acknowledge(event.stream, event.flow)
            case ExchangeFailed():
                run = self.runs.get(event.stream)
                if run is not None:
                    rejection = self._rejections.pop(event.stream, None)
                    run.client_gave_up(event.message, event.code, rejection)
                    self._peer.charge(1)
            case RequestRejected():
                rejection = self._rejections.pop(event.stream, None)
                if rejection is not None:
                    self._own.handler.rejected(self.connection, rejection)
            case DataQueueEmptied(stream):
                self._queue_emptied(stream)
            case GoingAway():
                pass
            case ConnectionEnded():
                self._closing = True

    def _reject(self, event: RequestRejected) -> None:
        """Note a refusal, which is reported within its exchange if there is one."""
        self._lingers = True
        self._rejections[event.stream] = Rejection(event.status, event.line, event.reason)

    def _begin(self, event: RequestReceived) -> None:
        if self._tunnels and event.head.method == "CONNECT":
            self._resolve(event)
            return
        if self._tunnels and not self.is_redirected:
            self.connection.proxy_user = proxy_user(event.head)
        run = self.runs[event.stream] = self._make_run(self, event)
        self._begun.append(run)

    # ---- sent bytes

    def flush(self) -> None:
        """Write what the HTTP connection has to send."""
        data = self.http.data_to_send()
        if data or self._unwritten:
            self.write(data)
        if self.http.must_close and not self.runs:
            self._close()

    def write(self, data: bytes) -> None:
        """Write bytes of the HTTP connection, after those that wait for the end of the turn."""
        if self._unwritten:
            data = b"".join((*self._unwritten, data))
            self._unwritten.clear()
        if data:
            self.end.write(data)

    def write_soon(self, data: bytes) -> None:
        """Write bytes with those of other exchanges, at the end of the turn."""
        if not self.is_multiplexed or len(data) > _UNWRITTEN:
            self.write(data)
            return
        if not self._unwritten:
            self._loop.call_soon(self.flush)
        self._unwritten.append(data)
        if sum(map(len, self._unwritten)) > _UNWRITTEN:
            self.write(b"")

    def send_informational(self, stream: int, head: ResponseHead) -> None:
        """Send an informational response."""
        self.http.send_informational(stream, head)
        self.flush()

    def send_response(self, stream: int, head: ResponseHead, *, raw_body: bool = False) -> None:
        """Send the head of the final response; it leaves with what follows."""
        self.http.send_response(stream, head, raw_body=raw_body)

    def send_data(self, stream: int, payload: bytes, raw: bytes = b"") -> None:
        """Send a part of a body."""
        self.http.send_data(stream, payload, raw)
        self.flush()

    def takes_all(self, stream: int) -> bool:
        """Whether the client is there, and nothing waits for it but what is to be written."""
        end = self.end
        return not (self.http.queued(stream) or end.unsent) and end.is_established()

    async def drain(self, stream: int) -> None:
        """Wait until little waits for the client."""
        await self.end.drain()
        if waiting := self.http.queued(stream):
            with self.end.buffers.holding(waiting):
                while self.http.queued(stream) and stream in self.runs:
                    await self._wait_emptied(stream)

    async def sent(self, stream: int) -> None:
        """Wait until everything has passed flow control, and gone to the kernel."""
        if waiting := self.http.queued(stream):
            with self.end.buffers.holding(waiting):
                while self.http.queued(stream) and not self.end.is_lost:
                    await self._wait_emptied(stream)
        if self.end.unsent:
            await self.end.flush()

    def abort(self, stream: int, how: AbortHow, code: int | None = None) -> None:
        """End an exchange; ``reset`` ends the connection with every other one of its handler.

        ``code``: the error code of HTTP/2.
        """
        if how == "reset":
            self._reset(stream)
        elif self.is_multiplexed:
            self.http.reset(stream, _INTERNAL_ERROR if code is None else code)
            self.flush()
        else:
            self.write(self.http.data_to_send())
            self._close()

    def _reset(self, stream: int) -> None:
        """Reset the connection; while others share it, the streams of one handler only."""
        run = self.runs.get(stream)
        runs = [it for it in self.runs.values() if run is None or it.share is run.share]
        is_shared = self.is_multiplexed and len(runs) < len(self.runs)
        if not is_shared:
            self.write(b"")
            self.end.reset()
        for each in runs:
            if is_shared:
                self.http.reset(each.stream, _INTERNAL_ERROR)
            if each.stream != stream:
                each.interrupt("aborted", "the connection was reset")
        if is_shared:
            self.flush()

    def ended(self, stream: int, *, unread: bool) -> None:
        """Forget an exchange; ``unread``: its request has not been read to its end."""
        self.runs.pop(stream, None)
        self._queue_emptied(stream)
        if self.end.is_lost or self.end.is_closed:
            self._resolve(None)
            return
        if not self.is_multiplexed:
            if unread:
                self._lingers = True
                self._close()
                return
            self._is_free = True
            if self._is_dispatching:
                return  # The next exchange is looked for there.
            if self._peer.must_wait:
                self._peer.wait()
                return
            self._is_free, began = False, time.monotonic()
            if events := self.http.receive(b""):
                self._dispatch(events, began)
            self._pace()
        elif not self._unwritten:
            self.flush()
        self._close_if_idle()

    def close_when_idle(self) -> None:
        """Close the connection once its exchanges have ended."""
        self._closing = True
        if self.is_multiplexed:
            self.http.go_away()
            self.flush()
        self._close_if_idle()

    def broke(self, error: Exception, run: Run | None = None) -> None:
        """Fail closed: our own machinery broke in an exchange, or for the whole connection."""
        if run is not None:
            run.share.handler.broke(error)
            self._reset(run.stream)
            return
        for share in (self._own, *self._others.values()):
            share.handler.broke(error)
        self.end.reset()

    # ----

    def _close_if_idle(self) -> None:
        if self.runs or self._is_free or self._peer.is_waiting:
            return
        if self._closing or self.http.must_close or self.end.has_ended:
            self._close()

    def _close(self) -> None:
        self.write(b"")
        if self._lingers:
            self.end.linger(_LATE_READING_S)
        else:
            self.end.close()
        self._resolve(None)

    def _resolve(self, event: RequestReceived | None) -> None:
        if self._tunnel is not None and not self._tunnel.done():
            self._tunnel.set_result(event)

    async def _wait_emptied(self, stream: int) -> None:
        waiting = self._emptied.get(stream)
        if waiting is None or waiting.done():
            waiting = self._emptied[stream] = asyncio.get_running_loop().create_future()
        await asyncio.shield(waiting)

    def _queue_emptied(self, stream: int) -> None:
        waiting = self._emptied.pop(stream, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)


def proxy_user(head: RequestHead) -> str:
    """Return the user name of ``Proxy-Authorization: Basic`` (RFC 7617); empty without one."""
    scheme, _, encoded = head.headers.get("proxy-authorization").partition(" ")
    if scheme.lower() != "basic":
        return ""
    with suppress(binascii.Error, ValueError):
        return base64.b64decode(encoded.strip()).decode().partition(":")[0]
    return ""
