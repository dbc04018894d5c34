"""A body that is sent at the pace of its plan: at a rate, with pauses, silences and a cut."""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import Final

from warex.engine.clients import ClientSide
from warex.engine.exchange_record import ExchangeRecord
from warex.engine.handler import AbortHow, Pace, Stop
from warex.engine.http.byte_rate import CATCH_UP_S
from warex.engine.http.heads import ResponseHead
from warex.engine.planned_messages import PIECE

_AT_ONCE: Final = Pace()


class PacedBody:
    """Sends one body; the last part stays with the connection, to leave with the end."""

    def __init__(
        self,
        client: ClientSide,
        stream: int,
        record: ExchangeRecord,
        pace: Pace | None,
        on_stop: Callable[[Stop], None],
        cut: Callable[[AbortHow], None],
    ) -> None:
        """``on_stop`` is called before a cut, or a silence for good; ``cut`` ends the exchange."""
        pace = pace or _AT_ONCE
        self._client, self._stream, self._record = client, stream, record
        self._on_stop, self._cut = on_stop, cut
        self._limits, self._pause_s, self._piece = pace.limits, pace.pause_s, pace.piece
        self._stops = deque(pace.stops)
        self._at_once = min([PIECE, *(limit.piece for limit in pace.limits)])
        self._sent = 0
        self._left = self._piece
        """Bytes until the next pause, if pauses are counted in bytes."""
        self._pauses = False
        """Whether a pause comes before the next byte."""
        self._since = record.clock.now()
        """Since when there has been something to send."""
        self._behind = 0.0
        """Seconds by which the last part was late for the limits."""

    async def begin(self) -> None:
        """Stop before the body, if that is planned."""
        await self._stop()

    async def send(self, payload: bytes) -> None:
        """Send a part of the body. Raises Over where it is cut."""
        at = 0
        while at < len(payload):
            if self._pauses:
                self._pauses = False
                await self._wait(self._pause_s)
                self._since = self._record.clock.now()
            size = self._next_size(len(payload) - at)
            if self._limits:
                await self._await_limits(size)
            if self._sent:  # The head leaves with the first part.
                await self.flush()
            self._record.response_bytes += size
            self._client.http.send_data(self._stream, payload[at : at + size])
            at += size
            self._sent += size
            if self._piece:
                self._left -= size
                if not self._left:
                    self._left, self._pauses = self._piece, True
            await self._stop()

    async def stop(self, stop: Stop) -> None:
        """Do a stop that was not planned ahead. Raises Over where the body is cut."""
        await self.arrive()
        if math.isinf(stop.silence_s):
            self._record.begin_hold()
            await asyncio.get_running_loop().create_future()
        if stop.silence_s:
            await self._wait(stop.silence_s)
            self.had_nothing()
        if stop.then != "go_on":
            self._on_stop(stop)
            self._cut(stop.then)

    async def arrive(self) -> None:
        """Wait until the client's system has all that was sent, for a while."""
        self._client.flush()
        await self._client.sent(self._stream)
        await self._client.end.acknowledged()

    def end_piece(self) -> None:
        """Note the end of a piece of the plan."""
        self._pauses = self._pauses or (self._pause_s > 0 and not self._piece)

    def had_nothing(self) -> None:
        """Note that there was nothing to send until now."""
        self._since = self._record.clock.now() - min(self._behind, CATCH_UP_S)

    async def flush(self) -> None:
        """Write what was sent, and wait until little waits for the client."""
        client, stream = self._client, self._stream
        client.flush()
        if client.end.is_full or client.http.queued(stream):
            await client.drain(stream)
            self._since = max(self._since, self._record.clock.now() - CATCH_UP_S)

    def _next_size(self, size: int) -> int:
        size = min(size, self._at_once)
        if self._piece:
            size = min(size, self._left)
        if self._stops:
            size = min(size, self._stops[0].at - self._sent)
        return size

    async def _await_limits(self, size: int) -> None:
        now = self._record.clock.now()
        seconds = max([limit.reserve(size, now, self._since) for limit in self._limits])
        if seconds > 0:
            await self._wait(seconds)
            seconds += now - self._record.clock.now()
        self._behind = -seconds

    async def _wait(self, seconds: float) -> None:
        self._client.flush()
        self._record.begin_hold()
        await asyncio.sleep(seconds)
        self._record.end_hold()

    async def _stop(self) -> None:
        """Do what is planned at this place."""
        while self._stops and self._stops[0].at <= self._sent:
            stop = self._stops.popleft()
            await self._silence(stop)
            if stop.then != "go_on":
                self._cut(stop.then)

    async def _silence(self, stop: Stop) -> None:
        try:
            await self.arrive()
        except asyncio.CancelledError:  # The client has left; it may have read all of it before.
            self._record.stops += self._client.end.has_arrived()
            raise
        self._record.stops += 1
        if math.isinf(stop.silence_s):
            self._on_stop(stop)
            self._record.begin_hold()
            await asyncio.get_running_loop().create_future()
        if stop.silence_s:
            await self._wait(stop.silence_s)
            self._since = self._record.clock.now()
        if stop.then != "go_on":
            self._on_stop(stop)


async def send_beginning(client: ClientSide, stream: int, head: ResponseHead, size: int) -> None:
    """Send the first bytes of a head, which stays incomplete; on HTTP/2 none, as it is a frame."""
    if not size or client.is_multiplexed:
        return
    client.flush()
    client.send_response(stream, head)
    client.write(client.http.data_to_send()[:-1][:size])
    await client.sent(stream)
    await client.end.acknowledged()
