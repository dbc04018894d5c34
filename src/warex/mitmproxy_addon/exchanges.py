"""mitmproxy's hooks on requests: the handler plans, and the plan is done by changing the flow.

One flow: ``requestheaders`` → ``request`` (which may answer) → ``responseheaders`` → ``response`` →
``_follow``, which sees what reaches the client; or ``error``.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, override

from mitmproxy import http, tcp

from warex.engine.handler import (
    MAX_WHOLE_REQUEST,
    Abort,
    AbortHow,
    Connection,
    Control,
    End,
    Exchange,
    ExchangeTimings,
    Forward,
    FrameStep,
    Outcome,
    Plan,
    ReadWhole,
    Rejection,
    Relay,
    Respond,
    SiteFailure,
    Timer,
)
from warex.engine.http.websocket import BINARY, CLOSE, TEXT, Frame
from warex.lane.lane import Lane
from warex.mitmproxy_addon import messages
from warex.mitmproxy_addon.client_end import Http2Stream
from warex.mitmproxy_addon.connections import (
    ClientConnection,
    ConnectionHooks,
    address_of,
    hold,
    is_forward_proxy,
)
from warex.mitmproxy_addon.duplicates import send_copy
from warex.mitmproxy_addon.hooks import fail_closed

_LEFT: Final = "Client disconnected."
_CUT: Final = "WAREX cut the connection"
_BEFORE_LOOKING_AGAIN: Final = (0.0, 0.0, 0.001, 0.002, 0.005, 0.01)
_LOOKS_AGAIN_S: Final = 0.02
"""Seconds between two looks at whether a response has left: mitmproxy does not tell."""
_NO_STATUS, _ABNORMAL = 1005, 1006
"""Codes that no close frame has (RFC 6455 §7.4.1)."""


@dataclass(slots=True, eq=False)
class OpenFlow:
    """A flow and what was planned for it."""

    flow: http.HTTPFlow
    connection: ClientConnection
    wire: Exchange
    stream: Http2Stream | None
    is_decided: bool = False
    """Whether the handler has decided on the request."""
    relay: Relay | None = None
    streams: bool = False
    """Whether the response passes while it comes."""
    respond: Respond | None = None
    reads_at_most: int | None = None
    """Bytes of the response that the handler needs; None if it needs none."""
    over: End | None = None
    """How it ends, if it is known before mitmproxy knows."""
    was_connected: bool = False
    """Whether the client was there when it was cut, or when the response was sent."""
    has_waited: bool = False
    """Whether a part of the response has waited in this process for the client."""
    is_sent: bool = False
    """Whether mitmproxy sends all of the response."""
    is_upgraded: bool = False
    held_s: float = 0.0
    left_while_held: bool = False
    head_sent: bool = False
    response_bytes: int = 0
    copies_sent: int = 0

    def is_connected(self) -> bool:
        """Whether the client still awaits the response."""
        return self.connection.end.is_connected() and (self.stream is None or self.stream.is_open())


class ExchangeHooks(ConnectionHooks, Control):
    """Tells the handler of exchanges, and does what it plans for them."""

    def __init__(self, lane: Lane) -> None:
        super().__init__(lane)
        lane.engine.attach(self)
        self._open: dict[str, OpenFlow] = {}
        """By mitmproxy's identifiers of flows."""
        self._upgraded: dict[str, OpenFlow] = {}
        self._followed: set[asyncio.Task[None]] = set()

    # ---- the request

    @fail_closed
    async def requestheaders(self, flow: http.HTTPFlow) -> None:
        """Begin an exchange; decide now if its body is to pass while it comes."""
        if flow.is_replay:
            return  # A copy, or a user's.
        known = self.connection_of(flow.client_conn)
        if flow.error is not None:  # mitmproxy refuses it.
            head = messages.request_head(flow.request)
            line = f"{head.method} {head.path} {head.version}".encode("latin-1", "replace")
            self.lane.rejected(known.wire, Rejection(400, line[:8192], flow.error.msg))
            return
        messages.leave_out_h2c(flow.request)
        wire = known.wire
        wire.version = messages.version_of(flow.request)
        if not is_forward_proxy(flow.client_conn) and flow.server_conn.address is not None:
            wire.destination = wire.destination or address_of(flow.server_conn.address)
        exchange = Exchange(wire, messages.request_head(flow.request))
        it = OpenFlow(flow, known, exchange, known.end.stream_of(flow))
        self._open[flow.id] = it
        known.open_exchanges += 1
        if self.lane.request_head(exchange) == "stream":
            await self._decide(it)
            if flow.response is None and flow.killable and it.over is None:
                flow.request.stream = self._counting(it)

    def _counting(self, it: OpenFlow) -> Callable[[bytes], Sequence[bytes]]:
        def count(piece: bytes) -> Sequence[bytes]:
            it.wire.request_bytes += len(piece)
            return (piece,) if piece else ()

        return count

    @fail_closed
    async def request(self, flow: http.HTTPFlow) -> None:
        """Decide on a complete request."""
        it = self._open.get(flow.id)
        if it is None or it.is_decided:
            return
        body = flow.request.raw_content or b""
        it.wire.request_bytes = len(body)
        if len(body) <= MAX_WHOLE_REQUEST:
            it.wire.request_body = body
        await self._decide(it)

    async def _decide(self, it: OpenFlow) -> None:
        it.is_decided = True
        plan = self.lane.request(it.wire)
        if not await self._hold(it, plan):
            return
        match plan.then:
            case Forward() as forward:
                messages.change_request(it.flow.request, forward)
                for _ in range(forward.copies):
                    it.copies_sent += await send_copy(it.flow)
            case Respond() as respond:
                self._answer(it, respond)
                it.respond = respond
            case Abort(how):
                self._cut(it, how)

    async def _hold(self, it: OpenFlow, plan: Plan[object]) -> bool:
        """Wait as planned; return whether the client is still there."""
        messages.require_unpaced(plan.then)
        if not plan.hold_s:
            return True
        loop = asyncio.get_running_loop()
        began = loop.time()
        is_connected = await hold(it.is_connected, sum(plan.hold_s))
        it.held_s += loop.time() - began
        if is_connected:
            self.lane.hold_ended(it.wire)
        else:
            it.left_while_held = True
            self._end_early(it, "client_left")
        return is_connected

    # ---- the response

    @fail_closed
    async def responseheaders(self, flow: http.HTTPFlow) -> None:
        """Decide by the head of the site's response."""
        it = self._open.get(flow.id)
        if it is None or it.respond is not None or flow.response is None:
            return
        it.wire.response = messages.response_head(flow.response)
        plan = self.lane.response(it.wire)
        if not await self._hold(it, plan):
            return
        match plan.then:
            case ReadWhole(limit):
                it.reads_at_most = limit
            case Relay() as relay:
                self._relay(it, flow.response, relay)
            case Respond() as respond:
                it.respond = respond  # Once the site's has been read.
            case Abort(how):
                self._cut(it, how)

    def _relay(self, it: OpenFlow, response: http.Response, relay: Relay) -> None:
        """Send the site's response on while it comes."""
        it.relay = relay
        messages.change_head(response, relay.head)
        if response.status_code == messages.SWITCHING:
            return
        if relay.changes_length:
            messages.allow_any_length(it.flow.request, response)

        def passed(piece: bytes) -> Sequence[bytes]:
            it.streams = it.head_sent = True
            return self._passed(it, relay, piece)

        response.stream = passed

    def _passed(self, it: OpenFlow, relay: Relay, piece: bytes) -> Sequence[bytes]:
        """Return what is sent for a piece of a body; for an empty one, what is sent at its end."""
        pieces: Sequence[bytes] = (piece,)
        if relay.tap:
            pieces = list(self.lane.response_piece(it.wire, piece, last=not piece))
        # An empty chunk would end the body (RFC 9112 §7.1).
        pieces = [each for each in pieces if each]
        it.response_bytes += sum(map(len, pieces))
        return pieces

    @fail_closed
    async def response(self, flow: http.HTTPFlow) -> None:
        """Send a complete response, and follow it to the client."""
        it = self._open.get(flow.id)
        if it is None or flow.response is None:
            return
        if it.reads_at_most is not None:
            await self._decide_by_body(it, flow.response, it.reads_at_most)
        if it.over is not None:
            self._tell(it, it.over)
            return
        if it.respond is not None:
            self._answer(it, it.respond)
            content = self._tapped(it, it.respond, flow)
            it.response_bytes = len(content)
        elif it.relay is not None and not it.streams:
            body = flow.response.raw_content or b""
            pieces = [*self._passed(it, it.relay, body)] if body else []
            pieces += self._passed(it, it.relay, b"")
            messages.change_body(flow.response, b"".join(pieces))
        it.is_sent, it.was_connected = True, it.is_connected()
        task = asyncio.create_task(self._follow(it))
        self._followed.add(task)
        task.add_done_callback(self._followed.discard)

    async def _decide_by_body(self, it: OpenFlow, response: http.Response, limit: int) -> None:
        body = response.raw_content or b""
        it.wire.response_body = body
        it.wire.response_complete = limit == 1 or len(body) <= limit
        plan = self.lane.whole_response(it.wire)
        if not await self._hold(it, plan):
            return
        match plan.then:
            case Relay() as relay:
                messages.change_head(response, relay.head)
                it.relay = relay
            case Respond() as respond:
                it.respond = respond
            case Abort(how):
                self._cut(it, how)

    def _answer(self, it: OpenFlow, respond: Respond) -> None:
        """Answer in the site's place."""
        if it.flow.response is None or it.wire.response is not None:
            answer = messages.make_response(it.wire.request, respond)
            it.flow.response = answer
        it.wire.response = messages.response_head(it.flow.response)

    def _tapped(self, it: OpenFlow, respond: Respond, flow: http.HTTPFlow) -> bytes:
        """Have the handler read what is about to be sent; return the body."""
        assert flow.response is not None
        if respond.tap:
            for piece in respond.pieces:
                list(self.lane.response_piece(it.wire, piece, last=False))
            list(self.lane.response_piece(it.wire, b"", last=True))
        return flow.response.raw_content or b""

    # ---- the end

    async def _follow(self, it: OpenFlow) -> None:
        """Wait until a response has left or the client has; tell the handler."""
        try:
            pauses = iter(_BEFORE_LOOKING_AGAIN)
            while not self._tell_if_known(it):
                await asyncio.sleep(next(pauses, _LOOKS_AGAIN_S))
        except Exception as error:  # noqa: BLE001 - fail closed
            self.fail(it.flow, error)

    def _tell_if_known(self, it: OpenFlow) -> bool:
        """Tell the handler what has become of a response, if that is known; return whether it is.

        mitmproxy has given it to its connection, or given it up, when the flow is no longer live.
        """
        end = it.connection.end
        if it.over is None and it.flow.live:
            return it.flow.id not in self._open  # Its own hook reports an upgrade.
        if it.over is not None or it.flow.error is not None:
            self._tell(it, it.over or "client_left")
            return True
        it.head_sent = True
        if end.is_connected() and (
            end.unsent or (it.stream is not None and it.stream.has_queued())
        ):
            it.has_waited = True
            return False
        # A client that left since, with all of it in its system, may have read it to its end.
        arrived = end.has_arrived() or (it.was_connected and not it.has_waited)
        if arrived and (it.stream is None or not it.stream.was_reset()):
            self._tell(it, "complete", arrived=True)
        else:
            self._tell(it, "client_left")
        return True

    @fail_closed
    def error(self, flow: http.HTTPFlow) -> None:
        """Tell the handler of an exchange that failed."""
        it = self._open.get(flow.id)
        if it is None or flow.error is None:
            return
        if it.over is None:
            it.over = "site_failed" if it.is_connected() else "client_left"
        self._tell(it, it.over)

    def _end_early(self, it: OpenFlow, end: End) -> None:
        it.over = end
        if it.flow.killable:
            it.flow.kill()

    def _cut(self, it: OpenFlow, how: AbortHow) -> None:
        """End an exchange without an answer."""
        it.was_connected = it.is_connected()
        self._end_early(it, "aborted" if it.was_connected else "client_left")
        if how == "reset":
            it.connection.end.reset()

    def _tell(self, it: OpenFlow, end: End, *, arrived: bool = False) -> None:
        """Tell the handler how an exchange has ended, once."""
        if self._open.pop(it.flow.id, None) is None:
            return
        error = None
        if end == "aborted":
            error, arrived = _CUT, it.was_connected
        elif end == "client_left":
            error = _LEFT
        elif it.flow.error is not None:
            error = it.flow.error.msg
        outcome = Outcome(
            end=end,
            error=error,
            held_s=it.held_s,
            left_while_held=it.left_while_held,
            head_sent=it.head_sent,
            request_bytes=it.wire.request_bytes,
            response_bytes=it.response_bytes,
            arrived=arrived,
            copies_sent=it.copies_sent,
            unreachable=_failure(error, it.connection) if end == "site_failed" else None,
            timings=self._timings(it),
        )
        self.lane.ended(it.wire, outcome)
        if it.is_upgraded:
            self._upgraded[it.flow.id] = it
            return
        it.connection.open_exchanges -= 1
        self.end_if_idle(it.connection)

    def _timings(self, it: OpenFlow) -> ExchangeTimings:
        request, response, site = it.flow.request, it.flow.response, it.flow.server_conn
        began = request.timestamp_start
        opened = site.timestamp_start is not None and site.timestamp_start >= began
        return ExchangeTimings(
            started=began,
            request_complete=request.timestamp_end,
            connect_started=site.timestamp_start if opened else None,
            connected=site.timestamp_tcp_setup if opened else None,
            secured=site.timestamp_tls_setup if opened else None,
            response_started=None if response is None else response.timestamp_start,
            ended=self.lane.recorder.clock.wall(),
        )

    # ---- WebSockets, and other upgrades

    @fail_closed
    def websocket_start(self, flow: http.HTTPFlow) -> None:
        """Note that the connection is a WebSocket's from now on."""
        self._upgrade(flow.id)

    @fail_closed
    def tcp_start(self, flow: tcp.TCPFlow) -> None:
        """Note a connection that is not HTTP, or no longer."""
        switched = [
            it
            for it in self._open.values()
            if it.flow.client_conn is flow.client_conn and messages.switches(it.wire.response)
        ]
        for it in switched:
            self._upgrade(it.flow.id)
        if not switched:
            self.begin_other(flow)

    def _upgrade(self, name: str) -> None:
        if (it := self._open.get(name)) is not None:
            it.is_upgraded = it.head_sent = True
            self._tell(it, "complete", arrived=it.connection.end.has_arrived())

    @fail_closed
    def websocket_message(self, flow: http.HTTPFlow) -> None:
        """Have the handler see a message; mitmproxy has put it together, and decompressed it."""
        it = self._upgraded.get(flow.id)
        if it is None or flow.websocket is None:
            return
        message = flow.websocket.messages[-1]
        frame = Frame(TEXT if message.is_text else BINARY, message.content)
        self._pass_frame(it, frame, from_client=message.from_client)

    def _pass_frame(self, it: OpenFlow, frame: Frame, *, from_client: bool) -> None:
        if self.lane.wants_frames(it.wire):
            list(self.lane.frame(it.wire, frame, from_client=from_client))

    @fail_closed
    def websocket_end(self, flow: http.HTTPFlow) -> None:
        """Note the end of a WebSocket."""
        it = self._upgraded.pop(flow.id, None)
        if it is None or flow.websocket is None:
            return
        code, by_client = flow.websocket.close_code, bool(flow.websocket.closed_by_client)
        if code is not None and code != _ABNORMAL:
            payload = b"" if code == _NO_STATUS else code.to_bytes(2, "big")
            self._pass_frame(it, Frame(CLOSE, payload), from_client=by_client)
        self._close_upgraded(it, by_client=by_client)

    def _close_upgraded(self, it: OpenFlow, *, by_client: bool) -> None:
        self.lane.upgrade_closed(it.wire, by_client=by_client)
        it.connection.open_exchanges -= 1
        self.end_if_idle(it.connection)

    # ---- what the handler asks

    @override
    def push(self, exchange: Exchange, piece: bytes) -> bool:
        return False  # mitmproxy inserts nothing; such faults are refused when they are loaded.

    @override
    def add_frames(
        self, exchange: Exchange, steps: Iterable[FrameStep], *, from_client: bool
    ) -> None:
        """Messages pass unchanged; faults of them are refused when they are loaded."""

    @override
    def abort(self, exchange: Exchange, how: AbortHow) -> None:
        for it in list(self._open.values()):
            if it.wire is exchange:
                self._cut(it, how)
                # A response that is being streamed is not looked at again.
                it.connection.end.reset() if how == "reset" else it.connection.end.close()

    @override
    def close(self, connection: Connection) -> None:
        for known in list(self._connections.values()):
            if known.wire is connection:
                known.closes_when_idle = True
                self.end_if_idle(known)

    @override
    def call_later(self, seconds: float, function: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, function)

    # ---- the end of the trial

    def finish(self) -> None:
        """End the trial; exchanges that are still open are recorded so."""
        for task in self._followed:
            task.cancel()
        for it in [it for it in self._open.values() if it.is_sent]:
            self._tell_if_known(it)
        self._open.clear()
        self._upgraded.clear()
        self.lane.finish()


def _failure(error: str | None, client: ClientConnection) -> SiteFailure | None:
    known = client.site_errors.items()
    return next((failure for words, failure in known if words in (error or "")), None)
