"""Both directions of an upgraded connection, until it ends."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from warex.engine.clients import ClientSide
from warex.engine.handler import End, EndSocket, Exchange, FrameStep, Handler
from warex.engine.http.websocket import CLOSE, Frame
from warex.engine.sites import SiteSide
from warex.engine.upgrade.frames import FrameRelay

_ANSWERS_WITHIN_S: Final = 3.0
"""Seconds for a client to answer a Close frame of ours before its connection is closed."""


class Upgrade:
    """The bytes of an upgraded connection, or the frames of a WebSocket if its handler asks."""

    def __init__(
        self,
        handler: Handler,
        exchange: Exchange,
        client: ClientSide,
        client_stream: int,
        site: SiteSide,
        site_stream: int,
        interrupt: Callable[[End, str], None],
    ) -> None:
        """``interrupt`` is called when a handler's plan has ended it."""
        self._handler, self._exchange = handler, exchange
        self._connection = exchange.connection
        self._client, self._client_stream = client, client_stream
        self._site, self._site_stream = site, site_stream
        self._interrupt = interrupt
        self._limit: asyncio.TimerHandle | None = None
        use = handler.wants_frames(exchange)
        self._of_client = self._of_site = None
        if use is not None:
            self._of_client = FrameRelay(
                handler,
                exchange,
                use,
                from_client=True,
                write=self._to_site,
                end=self._end,
                receiver=site.end,
                now=client.services.clock.now,
            )
            self._of_site = FrameRelay(
                handler,
                exchange,
                use,
                from_client=False,
                write=self._to_client,
                end=self._end,
                receiver=client.end,
                now=client.services.clock.now,
            )

    async def receive_from_client(self, data: bytes) -> None:
        """Send on what the client has sent, and wait until there may be more."""
        self._connection.sent_to_site += len(data)
        if self._of_client is None:
            self._to_site(data)
        else:
            self._of_client.receive(data)
            await self._of_client.has_room()
            if self._of_client.is_answered:
                self._finish()
        await self._site.drain(self._site_stream)

    async def receive_from_site(self, data: bytes) -> None:
        """Send on what the site has sent, and wait until there may be more."""
        self._connection.sent_to_client += len(data)
        if self._of_site is None:
            self._to_client(data)
        else:
            self._of_site.receive(data)
            await self._of_site.has_room()
        await self._client.drain(self._client_stream)

    async def client_ended(self) -> None:
        """End the direction to the site."""
        if self._of_client is not None:
            await self._of_client.ended()
            await self._site.drain(self._site_stream)
        self._site.end_switched(self._site_stream)
        if self._of_site is not None and self._of_site.is_holding:
            self._interrupt("client_left", "Client disconnected.")

    async def site_ended(self, upload: asyncio.Task[None]) -> None:
        """End the direction to the client, and wait for the end of the other one."""
        if self._of_site is not None:
            await self._of_site.ended()
        await self._client.sent(self._client_stream)
        if not upload.done():  # The client may go on.
            self._client.end.end_writing()
            await asyncio.wait([upload])

    def add_frames(self, steps: Iterable[FrameStep], *, from_client: bool) -> None:
        """Do further steps for a side."""
        relay = self._of_client if from_client else self._of_site
        if relay is not None:
            relay.add(steps)

    def stop(self) -> None:
        """Do nothing more: the connection has ended."""
        for relay in (self._of_client, self._of_site):
            if relay is not None:
                relay.stop()
        self._of_client = self._of_site = None  # They have methods of this object.
        if self._limit is not None:
            self._limit.cancel()

    def _end(self, step: EndSocket) -> None:
        """End it in both directions; a client that was there has met it."""
        was_connected = self._client.end.is_established()
        self._end_both(step)
        self._handler.steps_done(self._exchange, step.note, arrived=was_connected)

    def _end_both(self, step: EndSocket) -> None:
        if step.how == "reset":
            self._client.abort(self._client_stream, "reset")
            self._site.end.reset()
            self._finish()
            return
        frame = Frame(CLOSE, step.code.to_bytes(2) + step.reason.encode())
        for relay in (self._of_client, self._of_site):
            if relay is not None:
                relay.close(frame)
        loop = asyncio.get_running_loop()
        self._limit = loop.call_later(_ANSWERS_WITHIN_S, self._finish)

    def _finish(self) -> None:
        self._interrupt("aborted", "WAREX ended the WebSocket")

    def _to_client(self, data: bytes) -> None:
        if data:
            self._client.send_data(self._client_stream, data)

    def _to_site(self, data: bytes) -> None:
        if data:
            self._site.write_data(self._site_stream, data)
