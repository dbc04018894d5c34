"""A connection to a site: requests go in, and each exchange gets its own events."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from msgspec.structs import replace

from warex.engine.ends import End
from warex.engine.http.connection import ClientConnection
from warex.engine.http.events import (
    ConnectionEnded,
    DataQueueEmptied,
    DataReceived,
    ExchangeFailed,
    GoingAway,
    InformationalReceived,
    MessageEnded,
    ResponseEvent,
    ResponseReceived,
)
from warex.engine.http.heads import NO_FIELDS, Headers, HttpVersion, RequestHead
from warex.engine.sockets.buffers import Intake
from warex.engine.sockets.turns import Peer, Turns


class Sink(Protocol):
    """Takes the parts of a body as they come."""

    def take(self, part: DataReceived) -> None:
        """Take a part."""

    def flush(self) -> bool:
        """Send what was taken; return whether more is taken now."""


class Inbox[T]:
    """The events of one exchange from one side, which waits for the exchange to take them."""

    def __init__(self, intake: Intake) -> None:
        """``intake``: what waits on the connection."""
        self._intake = intake
        self._events: deque[T] = deque()
        self._size = 0
        self._waiter: asyncio.Future[None] | None = None
        """What the exchange waits for, until it is woken."""
        self._sink: Sink | None = None
        """What takes parts at once, while the exchange waits."""

    def put(self, event: T) -> bool:
        """Add an event, or give it to the sink; return whether the sink has it."""
        if isinstance(event, DataReceived):
            if self._sink is not None and self._is_waiting:
                try:
                    self._sink.take(event)
                except Exception as error:  # noqa: BLE001 - for the exchange
                    self._wake(error)
                return True
            self._size += len(event.payload)
            self._intake.add(len(event.payload))
        self._events.append(event)
        if self._waiter is not None:
            self._wake()
        return False

    def flush(self) -> None:
        """Have the sink send what it was given, unless an end is to leave with it."""
        if self._sink is None or not self._is_waiting:
            return
        try:
            if not self._sink.flush():
                self._wake()
        except Exception as error:  # noqa: BLE001 - for the exchange
            self._wake(error)

    @property
    def _is_waiting(self) -> bool:
        return self._waiter is not None and not self._waiter.done()

    def _wake(self, error: Exception | None = None) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is None or waiter.done():
            return
        if error is None:
            waiter.set_result(None)
        else:
            waiter.set_exception(error)

    @property
    def has_events(self) -> bool:
        """Whether an event waits."""
        return bool(self._events)

    async def get(self) -> T:
        """Return the next event; wait for it."""
        while not self._events:
            await self._wait()
        return self.take()

    async def deliver(self, sink: Sink) -> T | None:
        """Give the parts of a body to a sink, those to come at once as they come.

        Return the first other event, or None where the sink takes no more now. What comes
        with the end is not flushed.
        """
        while self._events:
            event = self.take()
            if not isinstance(event, DataReceived):
                return event
            sink.take(event)
            ends_next = self._events and isinstance(self._events[0], MessageEnded)
            if not ends_next and not sink.flush():
                return None
        if not sink.flush():
            return None
        self._sink = sink
        try:
            await self._wait()
        finally:
            self._sink = None
        # More may have come since the sink took no more.
        is_over = self._events and not isinstance(self._events[0], DataReceived)
        return self.take() if is_over else None

    async def _wait(self) -> None:
        self._waiter = asyncio.Future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def take(self) -> T:
        """Return the next event, which must be there."""
        event = self._events.popleft()
        if isinstance(event, DataReceived):
            self._size -= len(event.payload)
            self._intake.remove(len(event.payload))
        return event

    def close(self) -> None:
        """Drop what waits, and let the peer go on."""
        self._events.clear()
        if self._size:
            size, self._size = self._size, 0
            self._intake.remove(size)


CANCEL: Final = 8
"""RFC 9113 §7: the exchange is not wanted any more."""

type SiteInbox = Inbox[ResponseEvent]


class SiteSide:
    """One connection to a site, of either version of HTTP."""

    def __init__(
        self,
        end: End,
        http: ClientConnection,
        version: HttpVersion,
        broke: Callable[[Exception], None],
        turns: Turns,
    ) -> None:
        """``broke`` is called when our own code fails on what arrives."""
        self.end, self.http, self.version = end, http, version
        self._broke = broke
        self.has_served = False
        """Whether an exchange was complete on it before."""
        self.on_served: Callable[[], None] | None = None
        """Called once an exchange was."""
        self._intake = Intake(end, end.buffers, has_windows=version == "HTTP/2.0")
        self._inboxes: dict[int, SiteInbox] = {}
        self._emptied: dict[int, asyncio.Future[None]] = {}
        self._is_going_away = False
        self._peer = Peer(turns, end, self)
        self._late = b""
        """Received bytes that wait for the site's turn."""
        self._flushes = False
        """Whether it flushes at the end of this turn."""
        end.on_end = self._ended
        end.start(self._received)
        self.flush()

    @property
    def is_usable(self) -> bool:
        """Whether another request may be sent now."""
        end = self.end
        if end.has_ended or end.is_closed or self._is_going_away:
            return False
        return self.http.reusable

    @property
    def is_busy(self) -> bool:
        """Whether an exchange is open on it."""
        return bool(self._inboxes)

    def allows_retry(self, *, again: bool) -> bool:
        """Whether a request that it has left undone may be sent on another (RFC 9113 §8.7).

        That is so where the site takes no more on this one: again and again while each connection
        serves some requests, otherwise once. A single refused request is the client's to repeat.
        """
        return not self.is_usable and (self.has_served or not again)

    def request(
        self, head: RequestHead, *, has_body: bool, raw_body: bool
    ) -> tuple[int, SiteInbox]:
        """Send a request's head; return its stream, and the inbox of its response."""
        stream = self.http.send_request(head, has_body=has_body, raw_body=raw_body)
        inbox: SiteInbox = Inbox(self._intake)
        self._inboxes[stream] = inbox
        if has_body:
            # It leaves with the part of the body that has come with it.
            self._flush_after_turn()
        else:
            self.http.send_end(stream)
            self.flush_soon()
        return stream, inbox

    async def send_data(self, stream: int, payload: bytes, raw: bytes = b"") -> None:
        """Send a part of the request's body, and wait until there may be more."""
        self.write_data(stream, payload, raw)
        await self.drain(stream)

    def write_data(self, stream: int, payload: bytes, raw: bytes = b"") -> None:
        """Send a part of the request's body."""
        self.http.send_data(stream, payload, raw)
        self.flush()

    async def drain(self, stream: int) -> None:
        """Wait until little waits for the site."""
        await self.end.drain()
        if waiting := self.http.queued(stream):
            with self.end.buffers.holding(waiting):
                while self.http.queued(stream) and stream in self._inboxes:
                    await self._queue_emptied(stream)

    def send_end(self, stream: int, trailers: Headers = NO_FIELDS) -> None:
        """Complete the request."""
        self.http.send_end(stream, trailers)
        self.flush_soon()

    def end_switched(self, stream: int) -> None:
        """Send no more on an upgraded connection; the site may go on."""
        self.http.send_end(stream)
        self.flush()
        self.end.end_writing()

    def acknowledge(self, stream: int, size: int) -> None:
        """Let the site send as many bytes more."""
        if size:
            self.http.acknowledge(stream, size)
            self.flush_soon()

    def release(self, stream: int, code: int | None = None, *, is_complete: bool) -> None:
        """Forget an exchange; give up one that is not complete both ways, with an error code."""
        inbox = self._inboxes.pop(stream, None)
        if inbox is None:
            return
        inbox.close()
        if is_complete:
            self.has_served = True
            on_served, self.on_served = self.on_served, None
            if on_served is not None:
                on_served()
        elif not self.end.is_closed:
            self.http.reset(stream, CANCEL if code is None else code)
            self.flush()
        waiting = self._emptied.pop(stream, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)
        if self.http.must_close or (self.version != "HTTP/2.0" and not is_complete):
            self.end.close()

    def close(self) -> None:
        """Close the connection."""
        if not self._inboxes:
            self.end.on_end = None  # No exchange waits for the connection's end.
        self.end.close()

    def flush(self) -> None:
        """Write what the HTTP connection has to send."""
        self._flushes = False
        data = self.http.data_to_send()
        if data:
            self.end.write(data)

    def flush_soon(self) -> None:
        """Write at the end of the turn, together with other exchanges."""
        if self.version != "HTTP/2.0":
            self.flush()
        else:
            self._flush_after_turn()

    def _flush_after_turn(self) -> None:
        if not self._flushes:
            self._flushes = True
            asyncio.get_running_loop().call_soon(self.flush)

    async def _queue_emptied(self, stream: int) -> None:
        waiting = self._emptied.get(stream)
        if waiting is None or waiting.done():
            waiting = self._emptied[stream] = asyncio.get_running_loop().create_future()
        await asyncio.shield(waiting)

    def _received(self, data: bytes) -> None:
        if self._peer.must_wait:
            self._late += data
            self._peer.wait()
        else:
            self._read(data)

    def go_on(self) -> None:
        """Process the bytes that were left, once others had their turn."""
        data, self._late = self._late, b""
        self._read(data)
        if self.end.has_ended:
            self._ended()

    def _read(self, data: bytes) -> None:
        began = time.monotonic()
        try:
            self._dispatch(self.http.receive(data))
            self.flush()
        except Exception as error:  # noqa: BLE001 - fail closed
            self._fail(error)
            return
        if self.http.has_more:
            self._peer.wait()
        self._peer.served(began, time.monotonic())
        if self.http.must_close and not self._inboxes:
            self.end.close()

    def _ended(self) -> None:
        if self._peer.is_waiting:
            return  # The connection ends once the rest is processed.
        try:
            events = self.http.receive_eof()
            if self.end.error is not None:
                events = [_with_reason(event, self.end.error) for event in events]
            self._dispatch(events)
            self.flush()
        except Exception as error:  # noqa: BLE001 - fail closed
            self._fail(error)
        if not self._inboxes:
            self.end.close()

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, OSError):  # The site may leave at any time.
            self._broke(error)
        self.end.reset()
        for stream, inbox in self._inboxes.items():
            inbox.put(ExchangeFailed(stream, "the proxy broke"))

    def _dispatch(self, events: list[ResponseEvent]) -> None:
        touched: list[SiteInbox] = []
        """Inboxes whose sink took a part immediately."""
        for event in events:
            match event:
                case (
                    DataReceived()
                    | MessageEnded()
                    | ResponseReceived()
                    | InformationalReceived()
                    | ExchangeFailed()
                ):
                    inbox = self._inboxes.get(event.stream)
                    if inbox is None:
                        if isinstance(event, DataReceived):  # Of an exchange that is given up.
                            self.http.acknowledge(event.stream, event.flow)
                    elif inbox.put(event):
                        touched.append(inbox)
                case DataQueueEmptied(stream):
                    waiting = self._emptied.pop(stream, None)
                    if waiting is not None and not waiting.done():
                        waiting.set_result(None)
                case GoingAway():
                    self._is_going_away = True
                case ConnectionEnded(message):
                    self._is_going_away = True
                    for stream, inbox in self._inboxes.items():
                        inbox.put(ExchangeFailed(stream, message or "the site closed it"))
        for inbox in touched:
            inbox.flush()


def _with_reason(event: ResponseEvent, reason: str) -> ResponseEvent:
    """Return an event of the connection's end with the reason for that, an alert or a reset."""
    if isinstance(event, ExchangeFailed):
        return replace(event, message=f"{event.message}: {reason}")
    return event
