"""The body of a request: read from the client, and sent to the site."""

from warex.engine.clients import ClientSide, RequestPart
from warex.engine.handler import MAX_WHOLE_REQUEST, Exchange, Forward
from warex.engine.http.events import DataReceived, MessageEnded
from warex.engine.http.heads import RequestHead
from warex.engine.http.http1.request_head import expects_continue
from warex.engine.planned_messages import (
    CONTINUE,
    PIECE,
    split,
    with_body,
    without_expectation,
)
from warex.engine.sites import Inbox, SiteSide
from warex.engine.upgrade.upgrade import Upgrade


class RequestBody:
    """The body of one exchange's request."""

    def __init__(
        self, client: ClientSide, stream: int, exchange: Exchange, *, may_follow: bool
    ) -> None:
        self.inbox: Inbox[RequestPart] = Inbox(client.intake)
        self.may_follow = may_follow
        """Whether there is one, perhaps empty."""
        self.is_complete = False
        """Whether it has been read to its end."""
        self.completed: float | None = None
        """When it was, in Unix time."""
        self._client, self._stream, self._exchange = client, stream, exchange
        self._read: list[RequestPart] = []
        """What was read before it is sent on."""
        self._is_continued = False
        """Whether the client was told to go on (RFC 9110 §10.1.1)."""

    @property
    def is_known(self) -> bool:
        """Whether all of it is kept, so that it can be sent again."""
        return self._exchange.request_body is not None

    def take_available(self) -> bool:
        """Take what has come, without waiting; return whether that is all of it."""
        while not self.is_complete and self.inbox.has_events:
            self._keep(self.inbox.take())
        return self.is_complete

    async def read(self, *, until_complete: bool) -> None:
        """Read what the handler needs: all of it, unless it is too long to be kept.

        What has come with the head is read in any case.
        """
        self.take_available()
        if not self.may_follow:
            while not self.is_complete:
                self._keep(await self.inbox.get())
            self._exchange.request_body = b""
            return
        if not (until_complete or self.is_complete):
            return
        if not self.is_complete and expects_continue(self._exchange.request):
            self._client.send_informational(self._stream, CONTINUE)
            self._is_continued = True
        while not self.is_complete:
            self._keep(await self.inbox.get())
            if self._exchange.request_bytes > MAX_WHOLE_REQUEST:
                return
        self._exchange.request_body = b"".join(
            it.payload for it in self._read if isinstance(it, DataReceived)
        )

    def to_send(self, forward: Forward) -> tuple[RequestHead, list[RequestPart] | None]:
        """Return the head, and the parts that are there; None without a body."""
        head = forward.head or self._exchange.request
        if forward.body is not None:
            head = with_body(head, forward.body)
            if not forward.body:
                return head, None
            return head, [
                DataReceived(self._stream, forward.body),
                MessageEnded(self._stream),
            ]
        if not self.may_follow:
            return head, None
        return without_expectation(head) if self._is_continued else head, self._read

    async def send(self, side: SiteSide, stream: int, parts: list[RequestPart]) -> None:
        """Send what is there, then what comes."""
        for part in parts:
            if not await _send_part(side, stream, part):
                return
        while not self.is_complete:
            part = await self.inbox.get()
            self._take(part)
            if not await _send_part(side, stream, part):
                return

    async def pass_on(self, side: SiteSide, upgrade: Upgrade) -> None:
        """Send what comes after an upgrade, until the client ends."""
        self.is_complete = False
        while True:
            part = await self.inbox.get()
            if isinstance(part, MessageEnded):
                await upgrade.client_ended()
                return
            self._take(part)
            await upgrade.receive_from_client(part.payload)
            if side.end.is_lost:
                return

    def _keep(self, part: RequestPart) -> None:
        self._read.append(part)
        self._take(part)

    def _take(self, part: RequestPart) -> None:
        if isinstance(part, MessageEnded):
            self.is_complete = True
            self.completed = self._client.services.clock.wall()
            return
        self._exchange.request_bytes += len(part.payload)
        if part.flow:
            self._client.http.acknowledge(self._stream, part.flow)
            self._client.flush()


async def _send_part(side: SiteSide, stream: int, part: RequestPart) -> bool:
    """Send a part; return whether more may follow."""
    if isinstance(part, MessageEnded):
        side.send_end(stream, part.trailers)
        return False
    if part.raw or len(part.payload) <= PIECE:
        await side.send_data(stream, part.payload, part.raw)
    else:
        for piece in split(part.payload):
            await side.send_data(stream, piece)
    return not side.end.is_closed
