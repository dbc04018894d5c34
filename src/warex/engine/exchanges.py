"""One exchange: does what its handler plans to client and site, and reports the outcome."""

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Final, assert_never

from warex.engine.clients import ClientSide
from warex.engine.exchange_record import ExchangeRecord, Over
from warex.engine.handler import (
    Abort,
    AbortHow,
    End,
    Exchange,
    Forward,
    FrameStep,
    Pace,
    Plan,
    ReadWhole,
    Rejection,
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
    ResponseEvent,
    ResponseReceived,
)
from warex.engine.http.heads import NO_FIELDS, ResponseHead
from warex.engine.net.connector import SiteUnreachable
from warex.engine.planned_messages import planned_response, with_any_length
from warex.engine.request_body import RequestBody
from warex.engine.response_body import ResponseBody, ResponsePart, read_beginning
from warex.engine.routes import site_of
from warex.engine.sending.malformed_answer import send_malformed
from warex.engine.sending.paced_body import PacedBody, send_beginning
from warex.engine.services import eager_task
from warex.engine.sites import SiteInbox, SiteSide
from warex.engine.upgrade.upgrade import Upgrade

_LEFT: Final = "Client disconnected."
_COMPLETE: Final = Over("complete")
_BROKE: Final = Over("aborted", "the proxy broke")


class ExchangeRun:
    """An exchange while it lasts: one task, which the client's leaving interrupts."""

    def __init__(self, client: ClientSide, request: RequestReceived) -> None:
        self.share = client.share_of(request.head)
        self.exchange = Exchange(self.share.connection, request.head)
        self.stream = request.stream
        self._client = client
        self._body = RequestBody(client, request.stream, self.exchange, may_follow=request.has_body)
        self.requests = self._body.inbox
        self._handler = self.share.handler
        self._record = ExchangeRecord(client.services.clock, client.services.clock.wall())
        self._task: asyncio.Task[None] | None = None
        self._upload: asyncio.Task[None] | None = None
        self._interruption: Over | None = None
        self._rejection: Rejection | None = None
        self._site: tuple[SiteSide, int] | None = None
        self._site_done = False
        self._takes_pushes = False
        self._has_reported = self._is_upgraded = self._site_ended_first = False
        """Whether the outcome is reported; and of a connection that goes on after that."""
        self._upgrade: Upgrade | None = None

    def start(self) -> None:
        """Begin; steps that need no waiting are done immediately."""
        self._task = eager_task(self._run())

    # ---- interruptions

    def client_left(self) -> None:
        """Note that the client's connection has ended."""
        client = self._client
        if self._is_upgraded:
            left = client.end.is_lost  # An upgraded connection may be half-closed.
        else:
            left = not self._record.is_sent or client.http.queued(self.stream) > 0
        if left:
            self.interrupt("client_left", _LEFT)

    def client_gave_up(self, error: str, code: int | None, rejection: Rejection | None) -> None:
        """Note that the client has ended this exchange, or sent what is refused."""
        self._rejection = rejection
        if not self._record.is_sent or self._client.is_multiplexed:
            self.interrupt("client_left", error, code)

    def interrupt(self, end: End, error: str, code: int | None = None) -> None:
        """End the exchange where it waits."""
        if self._interruption is not None or (self._task is not None and self._task.done()):
            return
        self._interruption = Over(end, error, code)
        if self._task is not None:
            self._task.cancel()

    def abort(self, how: AbortHow) -> None:
        """End the exchange without more of its answer, as ``Control`` asks."""
        self._record.arrived = self._client.end.is_established()
        self._client.abort(self.stream, how)
        self.interrupt("aborted", "the exchange was aborted")

    def push(self, piece: bytes) -> bool:
        """Insert a piece into the response's body; False if none can be."""
        if self._takes_pushes:
            self._send(piece)
        return self._takes_pushes

    def add_frames(self, steps: Iterable[FrameStep], *, from_client: bool) -> None:
        """Do further steps for a side of a WebSocket."""
        if self._upgrade is not None:
            self._upgrade.add_frames(steps, from_client=from_client)

    async def _run(self) -> None:
        over = _BROKE
        try:
            await self._serve()
            over = _COMPLETE
        except Over as ended:
            # The exception refers to this frame, and the frame to the exception.
            over = ended.with_traceback(None)
        except asyncio.CancelledError:
            over = self._interruption or Over("shut_down", "the proxy ended")
        except Exception as error:  # noqa: BLE001 - fail closed
            self._client.broke(error, self)
        finally:
            self._finish(over)

    def _finish(self, over: Over) -> None:
        record = self._record
        self._takes_pushes = False
        has_uploaded = self._upload is not None and self._upload.done()
        client_ended = has_uploaded and not self._site_ended_first
        self._leave_site(over.code)
        if self._upgrade is not None:
            self._upgrade.stop()
            self._upgrade = None  # The upgrade has a method of this object.
        if over.end in ("client_left", "site_failed", "shut_down") and not record.is_complete:
            self._give_up(over)
        record.is_sent = True
        try:
            if self._rejection is not None:
                self._handler.rejected(self.exchange.connection, self._rejection)
            if self._is_upgraded:
                by_client = client_ended or over.end == "client_left"
                self._handler.upgrade_closed(self.exchange, by_client=by_client)
            elif not self._has_reported:
                self._report_outcome(over)
        except Exception as error:  # noqa: BLE001 - fail closed
            self._client.broke(error, self)
        self.requests.close()
        self._client.ended(self.stream, unread=not self._body.is_complete)

    def _give_up(self, over: Over) -> None:
        """End what the client has begun, as the network would."""
        client = self._client
        how = self._record.how_it_breaks(
            over, refuses=client.is_redirected, has_streams=client.is_multiplexed
        )
        if not client.end.is_closed:
            client.abort(self.stream, how, over.code)

    def _report_outcome(self, over: Over) -> None:
        self._has_reported = True
        if self._client.is_multiplexed:
            self._record.response_bytes = self._client.http.sent(self.stream)
        size, completed = self.exchange.request_bytes, self._body.completed
        self._handler.ended(self.exchange, self._record.outcome(over, size, completed))

    # ---- the request

    async def _serve(self) -> None:
        self.exchange.is_given_up = self._interruption is not None
        need = self._handler.request_head(self.exchange)
        needs_body = need == "whole"
        # A client may give up what it asks in the same write; what is known is decided on.
        if self._interruption is not None and not self._body.take_available() and needs_body:
            raise self._interruption
        await self._body.read(until_complete=needs_body)
        plan = self._handler.request(self.exchange)
        if self._interruption is not None:
            raise self._interruption
        if plan.hold_s:
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

    async def _hold(self, plan: Plan[object]) -> None:
        for seconds in plan.hold_s:
            await self._pause(seconds)
        self._require_client()
        self._handler.hold_ended(self.exchange)

    async def _pause(self, seconds: float) -> None:
        self._record.begin_hold()
        await asyncio.sleep(seconds)
        self._record.end_hold()

    def _require_client(self) -> None:
        if not self._client.end.is_established():
            raise Over("client_left", _LEFT)

    # ---- the site

    async def _forward(self, forward: Forward) -> None:
        request = self.exchange.request
        site = forward.site or self.share.route.site
        if site is None:
            site = site_of(request.scheme, request.authority)
        for _ in range(forward.copies):
            await self._send_copy(site, forward)
        is_retry = False
        while (failed := await self._answer(await self._ask(site, forward))) is not None:
            self._record.refused_unprocessed = failed.unprocessed
            side = None if self._site is None else self._site[0]
            known = failed.unprocessed and self._body.is_known
            if side is None or not (known and side.allows_retry(again=is_retry)):
                raise Over("site_failed", failed.message, failed.code)
            is_retry = True
            self._leave_site()

    async def _ask(self, site: Site, forward: Forward, *, alone: bool = False) -> SiteInbox:
        """Send the request; ``alone``: on a connection of its own."""
        route = self.share.route
        try:
            if alone:
                side, opened = (await route.open(site)).side, None
            else:
                side, opened = await route.ready(site)
        except SiteUnreachable as error:
            self._record.unreachable = error.failure
            raise Over("site_failed", str(error)) from None
        self._record.opened = opened or self._record.opened
        head, parts = self._body.to_send(forward)
        raw = self._is_raw(side) and forward.body is None
        stream, inbox = side.request(head, has_body=parts is not None, raw_body=raw)
        self._site, self._site_done = (side, stream), False
        if parts is not None:
            self._upload = eager_task(self._body.send(side, stream, parts))
        return inbox

    def _is_raw(self, side: SiteSide) -> bool:
        """Whether both sides have the framing of HTTP/1, which can be passed on."""
        return side.version != "HTTP/2.0" and not self._client.is_multiplexed

    async def _send_copy(self, site: Site, forward: Forward) -> None:
        """Send the request, and read the answer to its end."""
        inbox = await self._ask(site, forward, alone=True)
        while not self._site_done:
            event = await inbox.get()
            match event:
                case ExchangeFailed():
                    break
                case DataReceived():
                    self._acknowledge(event.flow)
                case MessageEnded():
                    self._record.copies_sent += 1
                    self._site_done = True
                case _:
                    continue
        if self._site is not None:
            side, _ = self._site
            self._leave_site()
            side.close()

    def _leave_site(self, code: int | None = None) -> None:
        """Give the connection to the site back, or the exchange on it up."""
        upload, site = self._upload, self._site
        self._upload = self._site = None
        if site is not None:
            side, stream = site
            is_complete = self._site_done and (upload is None or upload.done())
            side.release(stream, code, is_complete=is_complete)
        if upload is not None:
            upload.cancel()

    # ---- the response

    async def _answer(self, inbox: SiteInbox) -> ExchangeFailed | None:
        """Pass on the site's answer; return why there is none."""
        while True:
            event = await inbox.get()
            match event:
                case InformationalReceived():
                    self._record.hints_sent = True
                    self._client.send_informational(self.stream, event.head)
                case ResponseReceived():
                    await self._answered(event, inbox)
                    return None
                case ExchangeFailed():
                    return event
                case _:
                    raise TypeError(f"{event} before a response's head")

    async def _answered(self, event: ResponseReceived, inbox: SiteInbox) -> None:
        self.exchange.response = event.head
        self._record.response_begins()
        plan = self._handler.response(self.exchange)
        if plan.hold_s:
            await self._hold(plan)
        match plan.then:
            case ReadWhole(limit):
                await self._read_beginning(limit, event, inbox)
            case _:
                await self._do(plan.then, event, inbox)

    async def _do(
        self,
        plan: Relay | Respond | Abort,
        answered: ResponseReceived,
        inbox: SiteInbox,
        parts: Iterable[ResponsePart] = (),
    ) -> None:
        match plan:
            case Relay() if answered.head.status == 101:
                await self._switch(plan.head or answered.head, inbox)
            case Relay():
                await self._relay(plan, plan.head or answered.head, inbox, parts)
            case Respond():
                await self._respond(plan)
            case Abort(how, head_bytes):
                await send_beginning(self._client, self.stream, answered.head, head_bytes)
                self._cut(how)
            case _:
                assert_never(plan)

    async def _read_beginning(
        self, limit: int, answered: ResponseReceived, inbox: SiteInbox
    ) -> None:
        """Read the response, or its beginning; then decide again."""
        next_part = partial(self._next_part, inbox)
        parts, body = await read_beginning(limit, next_part, self._acknowledge)
        self.exchange.response_body = body
        self.exchange.response_complete = self._site_done
        plan = self._handler.whole_response(self.exchange)
        if plan.hold_s:
            await self._hold(plan)
        await self._do(plan.then, answered, inbox, parts)

    async def _next_part(self, inbox: SiteInbox) -> ResponsePart:
        """Return the next part of a response's body; the last one is its end."""
        return self._part(await inbox.get())

    def _part(self, event: ResponseEvent) -> ResponsePart:
        match event:
            case MessageEnded():
                self._site_done = True
                return event
            case DataReceived():
                return event
            case ExchangeFailed():
                self._client.flush()
                raise Over("site_failed", event.message, event.code)
            case _:
                raise TypeError(f"{event} within a response's body")

    async def _relay(
        self, relay: Relay, head: ResponseHead, inbox: SiteInbox, parts: Iterable[ResponsePart]
    ) -> None:
        """Send the site's response on; first what was read of it."""
        assert self._site is not None
        is_paced = relay.pace is not None or relay.steps
        raw = self._is_raw(self._site[0]) and not (relay.changes_length or is_paced)
        head = with_any_length(head) if relay.changes_length else head
        self._client.send_response(self.stream, head, raw_body=raw)
        self._record.head_sent = True
        self._takes_pushes = relay.changes_length
        body = ResponseBody(
            self._client,
            self.stream,
            self.exchange,
            self._handler,
            self._record,
            relay,
            self._acknowledge,
            raw=raw,
            paced=self._paced(relay.pace) if is_paced else None,
        )
        end = self._part(await body.relay(inbox, parts))
        assert isinstance(end, MessageEnded)
        self._site_done = not body.ends_early
        self._send_last(tap=relay.tap and not relay.steps)
        self._takes_pushes = False
        await self._complete(end, may_tell_first=relay.only_reads or not relay.tap)

    def _paced(self, pace: Pace | None) -> PacedBody:
        on_stop = partial(self._handler.stopped, self.exchange)
        return PacedBody(self._client, self.stream, self._record, pace, on_stop, self._cut)

    def _send_last(self, *, tap: bool) -> None:
        """Send what the handler adds at the end of a body."""
        for piece in self._handler.response_piece(self.exchange, b"", last=True) if tap else ():
            self._send(piece)

    def _acknowledge(self, size: int) -> None:
        if self._site is not None:
            side, stream = self._site
            side.acknowledge(stream, size)

    def _send(self, payload: bytes, raw: bytes = b"") -> None:
        self._record.response_bytes += len(payload)
        self._client.send_data(self.stream, payload, raw)

    async def _complete(
        self, end: MessageEnded | None = None, *, may_tell_first: bool = False
    ) -> None:
        """Complete the response, and see whether it has left.

        ``may_tell_first``: report the outcome before the client can see the end, if nothing waits.
        """
        record, client = self._record, self._client
        client.http.send_end(self.stream, NO_FIELDS if end is None else end.trailers)
        data = client.http.data_to_send()
        record.is_sent = record.is_complete = True
        was_connected = client.takes_all(self.stream)
        if may_tell_first and was_connected:
            record.arrived = True
            self._report_outcome(_COMPLETE)
            client.write_soon(data)
            return
        client.write(data)
        await client.sent(self.stream)
        record.arrived = client.end.has_arrived(was_connected=was_connected)
        if client.is_multiplexed and client.http.sent(self.stream) < record.response_bytes:
            record.arrived = False
        if not record.arrived:
            raise Over("client_left", _LEFT)

    async def _respond(self, respond: Respond) -> None:
        """Answer in the site's place."""
        self._require_client()
        client, record = self._client, self._record
        head, pieces = planned_response(self.exchange.request, respond)
        self.exchange.response = head
        record.response_begins()
        body = self._paced(respond.pace)
        if respond.defect is not None:
            if await send_malformed(
                client, self.stream, record, body, head, b"".join(pieces), respond.defect
            ):
                self._cut("close")
            await self._complete()
            return
        client.send_response(self.stream, head)
        record.head_sent = True
        await body.begin()
        for piece in pieces:
            parts: Iterable[bytes] = (piece,)
            if respond.tap:
                parts = self._handler.response_piece(self.exchange, piece, last=False)
            for part in parts:
                await body.send(part)
            body.end_piece()
        self._send_last(tap=respond.tap)
        await self._complete()

    def _cut(self, how: AbortHow) -> None:
        """End the exchange without more."""
        self._require_client()
        self._record.arrived = self._record.is_complete = True
        self._client.abort(self.stream, how)
        raise Over("aborted", "WAREX cut the connection")

    # ---- after 101

    async def _switch(self, head: ResponseHead, inbox: SiteInbox) -> None:
        """Pass on both directions of an upgraded connection until it ends."""
        assert self._site is not None
        (side, stream), client, record = self._site, self._client, self._record
        client.send_response(self.stream, head, raw_body=True)
        client.flush()
        record.head_sent = record.is_complete = True
        record.arrived = client.end.has_arrived()
        self._report_outcome(_COMPLETE)
        self._is_upgraded = True
        self._upgrade = upgrade = Upgrade(
            self._handler, self.exchange, client, self.stream, side, stream, self.interrupt
        )
        self._upload = eager_task(self._body.pass_on(side, upgrade))
        client.take_waiting()
        while not isinstance(part := await self._next_part(inbox), MessageEnded):
            await upgrade.receive_from_site(part.payload)
            self._acknowledge(part.flow)
        self._site_ended_first = not self._upload.done()
        await upgrade.site_ended(self._upload)
        client.abort(self.stream, "close")
