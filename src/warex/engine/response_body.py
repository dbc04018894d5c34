"""The body of a site's response, sent on in the turn of the event loop in which it comes."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Final

from warex.engine.clients import ClientSide
from warex.engine.exchange_record import ExchangeRecord
from warex.engine.handler import (
    BodyStep,
    EndBody,
    Exchange,
    Handler,
    Happened,
    Relay,
    Stop,
)
from warex.engine.http.events import DataReceived, MessageEnded, ResponseEvent
from warex.engine.planned_messages import spliced
from warex.engine.sending.paced_body import PacedBody
from warex.engine.sites import SiteInbox

type ResponsePart = DataReceived | MessageEnded

_IN_ONE_TURN: Final = 64 * 1024
"""Bytes of what a handler makes of one part that are sent in one turn; a few may become many."""


class ResponseBody:
    """The body of one response that is relayed."""

    def __init__(
        self,
        client: ClientSide,
        stream: int,
        exchange: Exchange,
        handler: Handler,
        record: ExchangeRecord,
        relay: Relay,
        acknowledge: Callable[[int], None],
        *,
        raw: bool,
        paced: PacedBody | None,
    ) -> None:
        """``raw``: the site's framing is passed on; ``acknowledge`` lets the site send more."""
        self._client, self._stream = client, stream
        self._exchange, self._handler, self._record = exchange, handler, record
        self._taps, self._raw = relay.tap, raw
        self._acknowledge = acknowledge
        self._paced = paced
        self._has_steps, self._reads_on = relay.steps, relay.reads_on
        self.ends_early = False
        """Whether the handler has ended the body, and the site may go on."""
        self._flow = 0
        """Bytes that are not yet acknowledged to the site."""
        self._pieces: Iterator[bytes] | None = None
        """What is left of the part that is being sent."""
        self._is_behind = False
        """Whether the handler may have work left with what has passed."""
        self._later: deque[DataReceived] = deque()
        """Parts that arrived while a part is being sent."""

    async def relay(self, inbox: SiteInbox, parts: Iterable[ResponseEvent]) -> ResponseEvent:
        """Send what was read, then what comes; return the event that ends the body."""
        if self._paced is not None:
            return await self._relay_paced(self._paced, inbox, parts)
        for part in parts:
            if not isinstance(part, DataReceived):
                return part
            self.take(part)
            await self._send_rest()
            self._client.flush()
            await self._client.drain(self._stream)
        self._flow = 0  # What was read before is acknowledged.
        while (last := await inbox.deliver(self)) is None:
            await self._client.drain(self._stream)
            await self._send_rest()
        await self._send_rest()
        self._tell_site()
        return last

    async def _relay_paced(
        self, paced: PacedBody, inbox: SiteInbox, parts: Iterable[ResponseEvent]
    ) -> ResponseEvent:
        await paced.begin()
        for part in parts:  # These bytes are acknowledged.
            if not isinstance(part, DataReceived):
                return await self._end_paced(paced, part)
            await self._send_paced(paced, part.payload)
        while not self.ends_early:
            if not inbox.has_events:
                await paced.flush()
                part = await inbox.get()
                paced.had_nothing()
            else:
                part = await inbox.get()
            if not isinstance(part, DataReceived):
                return await self._end_paced(paced, part)
            await self._send_paced(paced, part.payload)
            self._acknowledge(part.flow)
        return MessageEnded(self._stream)

    async def _end_paced(self, paced: PacedBody, end: ResponseEvent) -> ResponseEvent:
        """Do what a handler adds at the end of a body that it changes step by step."""
        if self._has_steps and isinstance(end, MessageEnded):
            await self._send_paced(paced, b"", last=True)
        return end

    async def _send_paced(self, paced: PacedBody, payload: bytes, *, last: bool = False) -> None:
        if self._has_steps:
            for step in self._handler.body_steps(self._exchange, payload, last=last):
                await self._do(paced, step)
                if self.ends_early:
                    return
            return
        pieces: Iterable[bytes] = (payload,)
        if self._taps and payload:
            pieces = self._handler.response_piece(self._exchange, payload, last=False)
        for piece in pieces:
            await paced.send(piece)
        while self._reads_on and self._handler.read_on(self._exchange):
            await asyncio.sleep(0)

    async def _do(self, paced: PacedBody, step: BodyStep) -> None:
        match step:
            case Stop():
                await paced.stop(step)
            case EndBody():
                self.ends_early = True
            case Happened(note):
                await paced.arrive()
                arrived = self._client.end.is_established()
                self._handler.steps_done(self._exchange, note, arrived=arrived)
            case _:
                await paced.send(step)

    def take(self, part: DataReceived) -> None:
        """Send a part with the next ``flush``, or what one turn takes of it."""
        self._flow += part.flow
        if self._pieces is not None:
            self._later.append(part)
        else:
            self._begin(part)

    def _begin(self, part: DataReceived) -> None:
        payload, raw = part.payload, part.raw
        if not (self._taps and payload):
            self._send(payload, raw)
            return
        self._is_behind = self._reads_on
        pieces = self._handler.response_piece(self._exchange, payload, last=False)
        if self._raw:
            changed = b"".join(pieces)
            self._send(changed, spliced(part, changed))
            return
        self._pieces = iter(pieces)
        self._send_pieces()

    def _send_pieces(self) -> None:
        """Send what one turn takes of the part that is being sent."""
        assert self._pieces is not None
        size = 0
        for piece in self._pieces:
            if piece:
                self._send(piece, b"")
                size += len(piece)
            if size >= _IN_ONE_TURN:
                return
        self._pieces = None

    async def _send_rest(self) -> None:
        """Send what is left of the parts that were taken, as the client takes it."""
        while self._pieces is not None or self._later:
            if self._pieces is not None:
                self._send_pieces()
            else:
                self._begin(self._later.popleft())
            self._client.flush()
            await self._client.drain(self._stream)
            await asyncio.sleep(0)
        if self._is_behind:
            self._client.flush()
            while self._handler.read_on(self._exchange):
                await asyncio.sleep(0)
            self._is_behind = False

    def flush(self) -> bool:
        """Send what was taken; return whether the client takes more now."""
        client = self._client
        client.flush()
        if self._pieces is not None or self._is_behind:
            return False
        if client.http.queued(self._stream) or client.end.is_full:
            return False
        self._tell_site()
        return True

    def _send(self, payload: bytes, raw: bytes) -> None:
        self._record.response_bytes += len(payload)
        self._client.http.send_data(self._stream, payload, raw)

    def _tell_site(self) -> None:
        if self._flow:
            flow, self._flow = self._flow, 0
            self._acknowledge(flow)


async def read_beginning(
    limit: int, next_part: Callable[[], Awaitable[ResponsePart]], acknowledge: Callable[[int], None]
) -> tuple[list[ResponsePart], bytes]:
    """Read a body to its end, or until ``limit`` bytes came; return its parts, and the bytes."""
    parts: list[ResponsePart] = []
    body: list[bytes] = []
    size = 0
    while size < limit:
        part = await next_part()
        parts.append(part)
        if isinstance(part, MessageEnded):
            break
        body.append(part.payload)
        size += len(part.payload)
        acknowledge(part.flow)
    return parts, b"".join(body)
