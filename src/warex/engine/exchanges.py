"""One exchange: what its handler plans is done to client and site, and told as an outcome."""

import asyncio
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Final, Self, assert_never

from warex.engine.clients import ClientSide, RequestPart
from warex.engine.handler import (
    MAX_WHOLE_REQUEST,
    Abort,
    AbortHow,
    End,
    Exchange,
    ExchangeTimings,
    Forward,
    Outcome,
    Plan,
    ReadWhole,
    Relay,
    Respond,
    Site,
)
from warex.engine.http.events import (
    DataReceived,
    ExchangeFailed,
    InformationalReceived,
    MessageEnded,
    RequestReceived,
    ResponseReceived,
)
from warex.engine.http.heads import Headers, RequestHead, ResponseHead
from warex.engine.net.connector import SiteUnreachable
from warex.engine.routes import site_of
from warex.engine.sites import Inbox, SiteInbox, SiteSide

_PIECE: Final = 64 * 1024
"""Bytes of a body that are written at once."""
_MOST_RETRIES: Final = 2
"""Times that a request which a site has refused unprocessed is sent again."""
_BODILESS: Final = frozenset((204, 304))


class _Over(Exception):
    """The exchange ends here."""

    def __init__(self, end: End, error: str | None = None) -> None:
        super().__init__(error)
        self.end, self.error = end, error


class ExchangeRun:
    """An exchange while it lasts: one task, which the client's leaving interrupts."""

    def __init__(
        self, client: ClientSide, stream: int, exchange: Exchange, *, has_body: bool
    ) -> None:
        self.client, self.stream, self.exchange = client, stream, exchange
        self.requests: Inbox[RequestPart] = Inbox(client.end, pauses=not client.is_multiplexed)
        self._has_body = has_body
        self._handler, self._clock = client.services.handler, client.services.clock
        self._task: asyncio.Task[None] | None = None
        self._interruption: _Over | None = None
        self._received: list[RequestPart] = []
        """What was read of the request before it is sent on."""
        self._request_ended = False
        self._upload: asyncio.Task[None] | None = None
        self._site: tuple[SiteSide, int] | None = None
        self._site_done = False
        self._relaying: bool | None = None
        """Whether pieces may be pushed into the response; None unless it is relayed."""
        # The outcome.
        self._held_s = self._held_since = 0.0
        self._is_holding = False
        self._head_sent = self._is_sent = self._arrived = self._is_complete = False
        self._is_told = False
        """Whether the outcome is told; an upgraded connection goes on after that."""
        self._response_bytes = 0
        self._copies_sent = 0
        self._refused_unprocessed = self._unreachable = False
        self._started = self._clock.wall()
        self._request_complete: float | None = None
        self._opened: tuple[float, float, float | None] | None = None
        self._response_started: float | None = None

    @classmethod
    def begin(cls, client: ClientSide, request: RequestReceived) -> Self:
        """Make the run of a client's request."""
        exchange = Exchange(client.connection, request.head)
        return cls(client, request.stream, exchange, has_body=request.has_body)

    def start(self) -> None:
        """Begin; what needs no waiting is done at once."""
        loop = asyncio.get_running_loop()
        self._task = asyncio.Task(self._run(), loop=loop, eager_start=True)

    # ---- interruptions

    def client_left(self, error: str | None) -> None:
        """Note that the client has given up the exchange, or left."""
        if not self._is_sent:
            self.interrupt("client_left", error or "the client left")

    def interrupt(self, end: End, error: str) -> None:
        """End the exchange where it waits."""
        if self._interruption is None and self._task is not None and not self._task.done():
            self._interruption = _Over(end, error)
            self._task.cancel()

    def abort(self, how: AbortHow) -> None:
        """End the exchange without more of its answer, as ``Control`` asks."""
        self._arrived = self.client.end.is_established()
        self.client.abort(self.stream, how)
        self.interrupt("aborted", "the exchange was aborted")

    def push(self, piece: bytes) -> bool:
        """Insert a piece into the response's body; False if none is being relayed."""
        if not self._relaying:
            return False
        self._send(piece)
        return True

    async def _run(self) -> None:
        over: _Over | None = None
        try:
            await self._serve()
            over = _Over("complete")
        except _Over as ended:
            over = ended
        except asyncio.CancelledError:
            over = self._interruption or _Over("shut_down", "the proxy ended")
        except Exception as error:  # noqa: BLE001 - fail closed
            over = _Over("aborted", "the proxy broke")
            self.client.broke(error)
        finally:
            self._finish(over or _Over("aborted", "the proxy broke"))

    def _finish(self, over: _Over) -> None:
        self._relaying = None
        self._is_sent = True
        if self._upload is not None and not self._upload.done():
            self._upload.cancel()
        if self._site is not None:
            side, stream = self._site
            complete = self._site_done and (self._upload is None or self._upload.done())
            side.release(stream, is_complete=complete)
        if over.end in ("client_left", "site_failed", "shut_down") and not self._is_complete:
            self._give_up(over.end)
        try:
            if self._is_told:
                self._handler.upgrade_closed(self.exchange)
            else:
                self._handler.ended(self.exchange, self._outcome(over))
        except Exception as error:  # noqa: BLE001 - fail closed
            self.client.broke(error)
        self.requests.close()
        self.client.ended(self.stream, unread=not self._request_ended)

    def _give_up(self, end: End) -> None:
        """End what the client has begun, as the network would."""
        how: AbortHow = "close"
        if end == "site_failed" and self._unreachable and self.client.is_redirected:
            how = "reset"  # The nearest equivalent of a refusal.
        if not self.client.end.is_closed:
            self.client.abort(self.stream, how)

    def _outcome(self, over: _Over) -> Outcome:
        held = self._held_s
        if self._is_holding:
            held += self._clock.now() - self._held_since
        connect, connected, secured = self._opened or (None, None, None)
        return Outcome(
            end=over.end,
            error=over.error,
            held_s=held,
            left_while_held=self._is_holding and over.end == "client_left",
            head_sent=self._head_sent,
            request_bytes=self.exchange.request_bytes,
            response_bytes=self._response_bytes,
            arrived=self._arrived,
            copies_sent=self._copies_sent,
            refused_unprocessed=self._refused_unprocessed,
            unreachable=self._unreachable,
            timings=ExchangeTimings(
                started=self._started,
                request_complete=self._request_complete,
                connect_started=connect,
                connected=connected,
                secured=secured,
                response_started=self._response_started,
                ended=self._clock.wall(),
            ),
        )

    # ---- the request

    async def _serve(self) -> None:
        need = self._handler.request_head(self.exchange)
        if not self._has_body:
            self._take_request(await self.requests.get())
            self.exchange.request_body = b""
        elif need == "whole":
            await self._read_request()
        plan = self._handler.request(self.exchange)
        await self._hold(plan)
        match plan.then:
            case Forward():
                await self._forward(plan.then)
            case Respond():
                await self._respond(plan.then)
            case Abort(how):
                self._cut(how)
            case _:
                assert_never(plan.then)

    async def _read_request(self) -> None:
        """Read the request's body, unless it is too long to be kept."""
        if self.exchange.request.headers.get("expect").lower() == "100-continue":
            self.client.send_informational(self.stream, _CONTINUE)
        size = 0
        while not self._request_ended:
            part = await self.requests.get()
            self._received.append(part)
            self._take_request(part)
            size += len(part.payload) if isinstance(part, DataReceived) else 0
            if size > MAX_WHOLE_REQUEST:
                return
        self.exchange.request_body = b"".join(
            it.payload for it in self._received if isinstance(it, DataReceived)
        )

    def _take_request(self, part: RequestPart) -> None:
        if isinstance(part, MessageEnded):
            self._request_ended = True
            self._request_complete = self._clock.wall()
        else:
            self.exchange.request_bytes += len(part.payload)
            if part.flow:
                self.client.http.acknowledge(self.stream, part.flow)
                self.client.flush()

    async def _hold(self, plan: Plan[object]) -> None:
        if not plan.hold_s:
            return
        for seconds in plan.hold_s:
            await self._pause(seconds)
        if not self.client.end.is_established():
            raise _Over("client_left", "the client left")
        self._handler.held(self.exchange)

    async def _pause(self, seconds: float) -> None:
        self._is_holding, self._held_since = True, self._clock.now()
        await asyncio.sleep(seconds)
        self._held_s += self._clock.now() - self._held_since
        self._is_holding = False

    # ---- the site

    async def _forward(self, forward: Forward) -> None:
        site = forward.site or self.client.route.site
        if site is None:
            site = site_of(self.exchange.request.scheme, self.exchange.request.authority)
        for _ in range(forward.copies):
            await self._send_copy(site, forward)
        retries = 0
        while True:
            inbox = await self._ask(site, forward)
            failed = await self._answer(inbox)
            if failed is None:
                return
            self._refused_unprocessed = failed.unprocessed
            if not self._may_retry(failed, retries):
                raise _Over("site_failed", failed.message)
            retries += 1
            self._leave_site()

    def _may_retry(self, failed: ExchangeFailed, retries: int) -> bool:
        whole = not self._has_body or self.exchange.request_body is not None
        return failed.unprocessed and whole and retries < _MOST_RETRIES

    async def _ask(self, site: Site, forward: Forward) -> SiteInbox:
        side = await self._connect(site)
        head, parts = self._request_to_send(forward, side)
        has_body = parts is not None or not self._request_ended
        stream, inbox = side.request(head, has_body=has_body, raw_body=self._is_raw(forward, side))
        self._site, self._site_done = (side, stream), False
        if has_body:
            loop = asyncio.get_running_loop()
            upload = self._send_request(side, stream, parts)
            self._upload = asyncio.Task(upload, loop=loop, eager_start=True)
        return inbox

    async def _connect(self, site: Site) -> SiteSide:
        try:
            side, opened = await self.client.route.ready(site)
        except SiteUnreachable as error:
            self._unreachable = True
            raise _Over("site_failed", str(error)) from None
        if opened is not None:
            self._opened = opened.started, opened.connected, opened.secured
        return side

    def _is_raw(self, forward: Forward, side: SiteSide) -> bool:
        both = side.version != "HTTP/2.0" and not self.client.is_multiplexed
        return both and forward.body is None

    def _request_to_send(
        self, forward: Forward, side: SiteSide
    ) -> tuple[RequestHead, list[RequestPart] | None]:
        """Return the head, and the parts of the body that are there; None without a body."""
        head = forward.head or self.exchange.request
        if forward.body is not None:
            headers = head.headers.without("transfer-encoding")
            if forward.body or "content-length" in headers.by_name:
                headers = headers.with_field("content-length", str(len(forward.body)))
            head = _with_headers(head, headers)
            ended: RequestPart = MessageEnded(self.stream)
            if not forward.body:
                return head, None
            return head, [DataReceived(self.stream, forward.body), ended]
        if not self._has_body:
            return head, None
        if self._received and head.headers.get("expect"):
            # The client has been told to go on, and its body is here.
            head = _with_headers(head, head.headers.without("expect"))
        return head, self._received

    async def _send_request(
        self, side: SiteSide, stream: int, parts: list[RequestPart] | None
    ) -> None:
        """Send the body: what was read, then what comes."""
        for part in parts or ():
            if not await self._send_part(side, stream, part):
                return
        while not self._request_ended:
            part = await self.requests.get()
            self._take_request(part)
            if not await self._send_part(side, stream, part):
                return

    async def _send_part(self, side: SiteSide, stream: int, part: RequestPart) -> bool:
        if isinstance(part, MessageEnded):
            side.send_end(stream, part.trailers)
            return False
        if part.raw or len(part.payload) <= _PIECE:
            await side.send_data(stream, part.payload, part.raw)
        else:
            for piece in _split(part.payload):
                await side.send_data(stream, piece)
        return not side.end.is_closed

    async def _send_copy(self, site: Site, forward: Forward) -> None:
        """Send the request, and read the answer to its end."""
        inbox = await self._ask(site, forward)
        while True:
            event = await inbox.get()
            if isinstance(event, ExchangeFailed):
                break
            if isinstance(event, DataReceived) and self._site is not None:
                self._site[0].acknowledge(self._site[1], event.flow)
            if isinstance(event, MessageEnded):
                self._copies_sent += 1
                self._site_done = True
                break
        self._leave_site()

    def _leave_site(self) -> None:
        if self._site is not None:
            side, stream = self._site
            side.release(stream, is_complete=self._site_done)
        if self._upload is not None:
            self._upload.cancel()
        self._site = self._upload = None

    # ---- the response

    async def _answer(self, inbox: SiteInbox) -> ExchangeFailed | None:
        """Pass on the site's answer; return why there is none."""
        while True:
            event = await inbox.get()
            match event:
                case InformationalReceived():
                    self.client.send_informational(self.stream, event.head)
                case ResponseReceived():
                    await self._answered(event, inbox)
                    return None
                case ExchangeFailed():
                    return event
                case _:
                    raise TypeError(f"{event} before a response's head")

    async def _answered(self, event: ResponseReceived, inbox: SiteInbox) -> None:
        self.exchange.response = event.head
        self._response_started = self._clock.wall()
        plan = self._handler.response(self.exchange)
        await self._hold(plan)
        match plan.then:
            case Relay():
                await self._relay(plan.then, event, inbox)
            case ReadWhole(limit):
                await self._read_whole(limit, event, inbox)
            case Respond():
                await self._respond(plan.then)
            case Abort(how):
                self._cut(how)
            case _:
                assert_never(plan.then)

    async def _read_whole(self, limit: int, answered: ResponseReceived, inbox: SiteInbox) -> None:
        """Read the response, or its beginning; then decide again."""
        parts: list[DataReceived | MessageEnded] = []
        body: list[bytes] = []
        size = 0
        while size < limit and not self._site_done:
            event = await inbox.get()
            match event:
                case DataReceived():
                    parts.append(event)
                    body.append(event.payload)
                    size += len(event.payload)
                    self._acknowledge(event)
                case MessageEnded():
                    parts.append(event)
                    self._site_done = True
                case ExchangeFailed():
                    raise _Over("site_failed", event.message)
                case _:
                    raise TypeError(f"{event} within a response's body")
        self.exchange.response_body = b"".join(body)
        self.exchange.response_complete = self._site_done
        plan = self._handler.whole_response(self.exchange)
        await self._hold(plan)
        match plan.then:
            case Relay():
                await self._relay(plan.then, answered, inbox, parts)
            case Respond():
                await self._respond(plan.then)
            case Abort(how):
                self._cut(how)
            case _:
                assert_never(plan.then)

    async def _relay(
        self,
        relay: Relay,
        answered: ResponseReceived,
        inbox: SiteInbox,
        parts: Iterable[DataReceived | MessageEnded] = (),
    ) -> None:
        assert self._site is not None
        head = relay.head or answered.head
        if relay.changes_length:
            head = _with_new_length(head)
        both = self._site[0].version != "HTTP/2.0" and not self.client.is_multiplexed
        raw = both and not relay.changes_length
        if head.status == 101:
            await self._switch(head, inbox)
            return
        self.client.send_response(self.stream, head, raw_body=raw)
        self._head_sent = True
        self._relaying = relay.changes_length
        for part in parts:
            if await self._relay_part(relay, part, raw):
                return
        if not answered.has_body:
            self.client.flush()
        while True:
            event = await inbox.get()
            match event:
                case DataReceived() | MessageEnded():
                    if await self._relay_part(relay, event, raw):
                        return
                    if isinstance(event, DataReceived):
                        self._acknowledge(event)
                case ExchangeFailed():
                    self.client.flush()
                    raise _Over("site_failed", event.message)
                case _:
                    raise TypeError(f"{event} within a response's body")

    async def _relay_part(self, relay: Relay, part: DataReceived | MessageEnded, raw: bool) -> bool:
        """Send a part of the body; return whether it was the last."""
        if isinstance(part, MessageEnded):
            self._site_done = True
            if relay.tap:
                for piece in self._handler.response_piece(self.exchange, b"", last=True):
                    if piece:
                        self._send(piece)
            self._relaying = None
            await self._complete(part)
            return True
        payload = part.payload
        if not relay.tap:
            self._send(payload, part.raw)
        else:
            pieces = self._handler.response_piece(self.exchange, payload, last=False)
            if not raw:
                for piece in pieces:
                    if piece:
                        self._send(piece)
                        await self.client.drain(self.stream)
                return False
            changed = b"".join(pieces)
            self._send(changed, _spliced(part, changed))
        await self.client.drain(self.stream)
        return False

    def _acknowledge(self, event: DataReceived) -> None:
        if event.flow and self._site is not None:
            self._site[0].acknowledge(self._site[1], event.flow)

    def _send(self, payload: bytes, raw: bytes = b"") -> None:
        self._response_bytes += len(payload)
        self.client.send_data(self.stream, payload, raw)

    async def _complete(self, end: MessageEnded | None = None) -> None:
        """Complete the response, and see whether it has left."""
        if end is None:
            self.client.send_end(self.stream)
        else:
            self.client.send_end(self.stream, end.trailers)
        self._is_sent = self._is_complete = True
        await self.client.sent(self.stream)
        self._arrived = self.client.end.has_arrived()
        if not self._arrived:
            raise _Over("client_left", self.client.end.error or "the client left")

    async def _respond(self, respond: Respond) -> None:
        """Answer in the site's place."""
        if not self.client.end.is_established():
            raise _Over("client_left", "the client left")
        head, pieces = _response_to_send(self.exchange.request, respond)
        self.exchange.response = head
        if self._response_started is None:
            self._response_started = self._clock.wall()
        self.client.send_response(self.stream, head)
        self._head_sent = True
        for number, piece in enumerate(pieces):
            if number and respond.pause_s:
                await self._pause(respond.pause_s)
            for part in self._tapped(respond, piece):
                self._send(part)
                await self.client.drain(self.stream)
        if respond.cut is None:
            if respond.tap:
                for last in self._handler.response_piece(self.exchange, b"", last=True):
                    self._send(last)
            await self._complete()
            return
        self.client.flush()
        await self.client.sent(self.stream)
        await self.client.end.acknowledged()
        self._cut(respond.cut)

    def _tapped(self, respond: Respond, piece: bytes) -> Iterable[bytes]:
        if not respond.tap:
            return _split(piece)
        return self._handler.response_piece(self.exchange, piece, last=False)

    def _cut(self, how: AbortHow) -> None:
        """End the exchange without more."""
        if not self.client.end.is_established():
            raise _Over("client_left", "the client left")
        self._arrived = self._is_complete = True
        self.client.abort(self.stream, how)
        raise _Over("aborted", "WAREX cut the connection")

    # ---- after 101

    async def _switch(self, head: ResponseHead, inbox: SiteInbox) -> None:
        """Pass on both directions of an upgraded connection until it ends."""
        assert self._site is not None
        side, site_stream = self._site
        self.client.send_response(self.stream, head, raw_body=True)
        self.client.flush()
        self._head_sent = self._is_complete = True
        self._arrived = self.client.end.has_arrived()
        self._handler.ended(self.exchange, self._outcome(_Over("complete")))
        self._is_told = True
        if self._upload is not None:
            self._upload.cancel()
        self._request_ended = False
        loop = asyncio.get_running_loop()
        self._upload = asyncio.Task(self._pass_up(side, site_stream), loop=loop, eager_start=True)
        while True:
            event = await inbox.get()
            match event:
                case DataReceived():
                    self._send(event.payload, event.raw)
                    await self.client.drain(self.stream)
                    self._acknowledge(event)
                case MessageEnded() | ExchangeFailed():
                    break
                case _:
                    raise TypeError(f"{event} after a switch")
        await self.client.sent(self.stream)
        self.client.abort(self.stream, "close")

    async def _pass_up(self, side: SiteSide, stream: int) -> None:
        while True:
            part = await self.requests.get()
            if isinstance(part, MessageEnded):
                side.send_end(stream)
                return
            self.exchange.request_bytes += len(part.payload)
            await side.send_data(stream, part.payload, part.raw)


_CONTINUE: Final = ResponseHead(100, b"Continue", "HTTP/1.1", Headers())


def _with_headers(head: RequestHead, headers: Headers) -> RequestHead:
    return RequestHead(head.method, head.scheme, head.authority, head.path, head.version, headers)


def _with_new_length(head: ResponseHead) -> ResponseHead:
    """Return a head whose body may have any length."""
    if "content-length" not in head.headers.by_name:
        return head
    headers = head.headers.without("content-length")
    return ResponseHead(head.status, head.reason, head.version, headers)


def _response_to_send(
    request: RequestHead, respond: Respond
) -> tuple[ResponseHead, Sequence[bytes]]:
    headers, pieces = respond.headers, respond.pieces
    if respond.status in _BODILESS or respond.status < 200:
        pieces = ()
    elif not {"content-length", "transfer-encoding"} & headers.by_name.keys():
        headers = headers.with_added("content-length", str(sum(map(len, pieces))))
    if request.method == "HEAD":
        pieces = ()  # A body would be taken for the next response (RFC 9110 §9.3.2).
    try:
        reason = HTTPStatus(respond.status).phrase.encode()
    except ValueError:
        reason = b""
    return ResponseHead(respond.status, reason, "HTTP/1.1", headers), pieces


def _split(payload: bytes) -> Iterable[bytes]:
    if len(payload) <= _PIECE:
        return (payload,) if payload else ()
    view = memoryview(payload)
    return (bytes(view[at : at + _PIECE]) for at in range(0, len(payload), _PIECE))


def _spliced(part: DataReceived, changed: bytes) -> bytes:
    """Return the raw form of a part whose content was changed, but not its length."""
    if changed == part.payload:
        return part.raw
    if len(changed) != len(part.payload):
        raise ValueError("a piece has another length, though its plan says that none has")
    before, _, after = part.raw.partition(part.payload)
    return before + changed + after
