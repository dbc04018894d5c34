"""WAREX's HTTP stream in mitmproxy: reports when a response is sent and when the client resets.

mitmproxy's ``response`` hook runs before the response is sent, and a reset is noticed only after a
waiting hook. WAREX must know what was delivered, and must not delay an exchange that the client has
left. Source: mitmproxy 12, ``proxy/layers/http/__init__.py``.
"""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Any

from h2.errors import ErrorCodes
from mitmproxy import connection, http
from mitmproxy.proxy import commands, events, layer, mode_specs
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import http as http_layer
from mitmproxy.proxy.layers.http._base import HttpEvent
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    RequestProtocolError,
    RequestTrailers,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
    ResponseTrailers,
)

from warex.lane.traffic.base import Traffic
from warex.lane.traffic.mcp import McpTraffic
from warex.lane.traffic.mcp_tap import McpTap
from warex.proxy.exchange.client_status import ClientStatus, attach_client_status
from warex.proxy.exchange.paced_response import (
    PacedResponse,
    ResponseCut,
    ResponsePiece,
    paced_response_of,
)
from warex.proxy.exchange.state import state_of
from warex.proxy.mitmproxy_patches.body_buffer import PIECE_SIZE, BodyBuffer, Upload, split
from warex.proxy.mitmproxy_patches.http2 import WarexHttp2Server
from warex.proxy.mitmproxy_patches.http_events import (
    InformationalResponse,
    RequestUnprocessed,
    ResponseReset,
)
from warex.proxy.net import check
from warex.proxy.net.client_socket import fire_wakeup, reset

_NO_TIMEOUT = 1e9
"""Seconds, in effect forever: the wakeup occurs only through ``fire_wakeup``."""


@dataclass
class WarexSentHook(commands.StartHook):
    """All of an injected response has been passed to the transport."""

    flow: http.HTTPFlow
    blocking = True


@dataclass
class WarexPieceHook(commands.StartHook):
    """A piece of a response is to be sent to the client, after a pause."""

    piece: ResponsePiece
    blocking = True


@dataclass
class WarexResponseCutHook(commands.StartHook):
    """The last piece of a cut response is sent."""

    broken_off: ResponseCut
    blocking = True


@dataclass
class WarexDrainHook(commands.StartHook):
    """A part of a response is written, and more follows."""

    flow: http.HTTPFlow
    blocking = True


@dataclass
class WarexUploadHook(commands.StartHook):
    """A piece of a request's body is written, and more follows."""

    upload: Upload
    blocking = True


class WarexStream(http_layer.HttpStream):
    """An HTTP stream that reports its end."""

    _retried = False
    _wakeup: commands.RequestWakeup | None = None
    _head: ResponseHeaders | None = None
    """The head of a response that may be rewritten, until its first bytes are here."""

    def __init__(self, context: Context, stream_id: int) -> None:
        super().__init__(context, stream_id)
        self.request_body_buf, self.response_body_buf = BodyBuffer(), BodyBuffer()
        self._client_status = ClientStatus()
        self._upload_settled = asyncio.Event()

    def handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        """Handle an event; mark the client as left when it gives the exchange up."""
        if isinstance(event, RequestProtocolError):
            self._client_status.mark_left()
        if isinstance(event, RequestProtocolError | ResponseProtocolError | ResponseHeaders):
            self._upload_settled.set()
        return super().handle_event(event)

    def _handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        if isinstance(event, events.Wakeup):
            yield from self._send_queued_events()
            return
        if isinstance(event, InformationalResponse):
            if self.server_state == self.state_wait_for_response_headers:
                yield http_layer.SendHttp(event, self.context.client)
            return
        if isinstance(event, ResponseHeaders) and self._needs_beginning(event):
            self._head = event
            return
        if self._head is not None and isinstance(event, _AFTER_HEAD):
            head, self._head = self._head, None
            state = state_of(self.flow)
            if state is not None and isinstance(event, ResponseData):
                state.beginning = event.data
            yield from super()._handle_event(head)
        yield from super()._handle_event(event)

    def _needs_beginning(self, head: ResponseHeaders) -> bool:
        """Whether a response may be rewritten, unless its first bytes are a decompression bomb."""
        state = state_of(self.flow)
        coded = "content-encoding" in head.response.headers
        return coded and not head.end_stream and state is not None and state.may_be_rewritten

    def state_wait_for_request_headers(self, event: RequestHeaders) -> layer.CommandGenerator[None]:
        """Begin the exchange, with the status of its client."""
        flow = event.replay_flow or http.HTTPFlow(self.context.client, self.context.server)
        if (h2 := self._client_connection()) is not None:
            self._client_status = h2.client_status(self.stream_id)
        attach_client_status(flow, self._client_status)
        event.replay_flow = flow
        yield from super().state_wait_for_request_headers(event)

    def check_killed(self, emit_error_hook: bool) -> layer.CommandGenerator[bool]:
        """Whether the exchange ends here; a complete request is decided on first."""
        at_headers = self.client_state == self.state_wait_for_request_headers
        is_whole = any(isinstance(it, RequestEndOfMessage) for it in self._paused_event_queue)
        if at_headers and is_whole and not self.flow.error and not self.flow.request.stream:
            return False  # It is recorded even if it was given up in the same write.
        return (yield from super().check_killed(emit_error_hook))

    def state_stream_response_body(self, event: events.Event) -> layer.CommandGenerator[None]:
        """Stream the response; prepare to insert events of our own if it carries MCP answers."""
        if isinstance(event, ResponseData):
            yield from self._stream_piece(event)
        else:
            yield from super().state_stream_response_body(event)
        if self._wakeup is None and isinstance(event, ResponseData):
            state = state_of(self.flow)
            tap = None if state is None else _mcp_tap(state.traffic)
            if tap is not None and tap.carries_answers:
                yield from self._request_wakeup(tap)

    def _stream_piece(self, event: ResponseData) -> layer.CommandGenerator[None]:
        """Send what becomes of a piece of the response; wait while the client is slower.

        A piece of a compressed body that is rewritten may become a thousand times as long.
        """
        written = 0
        for command in super().state_stream_response_body(event):
            if written > PIECE_SIZE:
                written = 0
                yield WarexDrainHook(self.flow)
                if self._client_status.left.is_set():
                    return
            sent = command.event if isinstance(command, http_layer.SendHttp) else None
            written += len(sent.data) if isinstance(sent, ResponseData) else 0
            yield command

    def _request_wakeup(self, tap: McpTap) -> layer.CommandGenerator[None]:
        """Request a wakeup for when the proxy has an event of its own to send."""
        self._wakeup = commands.RequestWakeup(_NO_TIMEOUT)
        tap.on_queued = partial(fire_wakeup, self.context.client, self._wakeup)
        yield self._wakeup

    def _send_queued_events(self) -> layer.CommandGenerator[None]:
        """Send the queued events between two events of the server."""
        state = state_of(self.flow)
        tap = None if state is None else _mcp_tap(state.traffic)
        if tap is None or self.server_state != self.state_stream_response_body:
            return
        if said := tap.take_queued():
            yield http_layer.SendHttp(ResponseData(self.stream_id, said), self.context.client)
        yield from self._request_wakeup(tap)

    def _client_connection(self) -> WarexHttp2Server | None:
        """Return the client's connection if it is HTTP/2, which updates the client's status."""
        parent = self.context.layers[self.context.layers.index(self) - 1]
        assert isinstance(parent, http_layer.HttpLayer)
        connection = parent.connections.get(self.context.client)
        return connection if isinstance(connection, WarexHttp2Server) else None

    def check_invalid(self, request: bool) -> layer.CommandGenerator[bool]:
        """Answer an invalid request as a site would; no exchange begins."""
        if not request:
            return False
        asked = self.flow.request
        flaw = check.invalid_reason(asked, in_tunnel=self.mode is http_layer.HTTPMode.transparent)
        if flaw is None:
            return False
        client = self.context.client
        line = b"%s %s" % (asked.data.method, asked.data.path or asked.data.authority)
        yield check.WarexRequestRejectedHook(check.RejectedRequest(client, 400, line, flaw))
        answer = check.error_response(400)
        body = answer.raw_content or b""
        if asked.is_http2:
            del answer.headers["connection"]
        yield http_layer.SendHttp(ResponseHeaders(self.stream_id, answer), client)
        if asked.method != "HEAD":
            yield http_layer.SendHttp(ResponseData(self.stream_id, body), client)
        yield http_layer.SendHttp(ResponseEndOfMessage(self.stream_id), client)
        self.flow.live = False
        self.client_state = self.server_state = self.state_errored
        return True

    def state_consume_request_body(self, event: events.Event) -> layer.CommandGenerator[None]:
        """Read the body; send a long one to the site piece by piece."""
        commands_of = super().state_consume_request_body(event)
        done: Any = None
        while True:
            try:
                command = commands_of.send(done)
            except StopIteration:
                return
            sent = command.event if isinstance(command, http_layer.SendHttp) else None
            if isinstance(sent, RequestData) and len(sent.data) > PIECE_SIZE:
                yield from self._upload(sent.data)
                done = None
            else:
                done = yield command

    def _upload(self, content: bytes) -> layer.CommandGenerator[None]:
        """Send a request's body; wait until each piece has left before writing the next."""
        server = self.context.server
        for piece in split(content):
            # The layers below use only the length of the view, so nothing is copied.
            data = RequestData(self.stream_id, piece)  # type: ignore[arg-type]
            yield http_layer.SendHttp(data, server)
            yield WarexUploadHook(Upload(self.flow, self._upload_settled))

    def send_response(self, already_streamed: bool = False) -> layer.CommandGenerator[None]:
        """Send the response, piece by piece and possibly cut if a fault says so."""
        commands_of = super().send_response(already_streamed)
        done: Any = None
        while True:
            try:
                command = commands_of.send(done)
            except StopIteration:
                return
            paced = paced_response_of(self.flow)
            sent = command.event if isinstance(command, http_layer.SendHttp) else None
            if paced is None or not isinstance(sent, ResponseData):
                done = yield command
                continue
            done = None
            if not (yield from self._send_pieces(paced)):
                return

    def _send_pieces(self, sending: PacedResponse) -> layer.CommandGenerator[bool]:
        """Send the pieces; return whether the response then ends regularly."""
        client = self.context.client
        for number, data in enumerate(sending.pieces):
            yield WarexPieceHook(ResponsePiece(self.flow, data, sending.pause if number else 0.0))
            if self._client_status.left.is_set():
                yield WarexSentHook(self.flow)
                return False
            yield http_layer.SendHttp(ResponseData(self.stream_id, data), client)
        if sending.cut is None:
            return True
        yield WarexResponseCutHook(ResponseCut(self.flow, sending.cut))
        self.flow.live = False
        self.client_state = self.server_state = self.state_errored
        end = ResponseProtocolError(self.stream_id, "cut", ErrorCode.KILL)
        yield http_layer.SendHttp(end, client)
        return False

    def flow_done(self) -> layer.CommandGenerator[None]:
        """Report the end of the response if an injection waits for it."""
        yield from super().flow_done()
        if self._client_connection() is None:
            self._client_status.mark_sent()  # HTTP/1 has no flow control.
        state = state_of(self.flow)
        if state is not None and state.awaits_sending:
            yield WarexSentHook(self.flow)

    def handle_protocol_error(
        self, event: RequestProtocolError | ResponseProtocolError
    ) -> layer.CommandGenerator[None]:
        """End the exchange as the network would, without an error page of the proxy.

        mitmproxy answers with its own 502 page if the site cannot be reached or fails. Without a
        proxy the agent sees a failed connection instead.
        """
        if isinstance(event, RequestUnprocessed) and self._may_retry(event):
            yield from self._retry()
            return
        if isinstance(event, ResponseReset):
            state = state_of(self.flow)
            if state is not None:
                state.stream_refused = event.h2_code in _RETRYABLE_CODES
            if self.server_state == self.state_done and self.client_state != self.state_errored:
                # The response is complete, and the site reads no more request (RFC 9113 §8.1).
                yield http_layer.SendHttp(ResponseEndOfMessage(self.stream_id), self.context.client)
        elif isinstance(event, ResponseProtocolError) and event.code in _SITE_UNREACHABLE_CODES:
            state = state_of(self.flow)
            if state is not None:
                state.unreachable = event.code is not ErrorCode.GENERIC_SERVER_ERROR
                if state.unreachable and _is_redirected(self.context.client):
                    reset(self.context.client)  # The nearest equivalent of a refusal.
            event = ResponseProtocolError(event.stream_id, event.message, ErrorCode.KILL)
        yield from super().handle_protocol_error(event)

    def _may_retry(self, event: RequestUnprocessed) -> bool:
        """Whether the complete request can be sent on another connection.

        That is possible repeatedly while each connection processes some requests, otherwise once.
        """
        return (
            (event.did_others or not self._retried)
            and self.client_state == self.state_done
            and self.server_state == self.state_wait_for_response_headers
            and not self.flow.request.stream
        )

    def _retry(self) -> layer.CommandGenerator[None]:
        """Retry on another connection, as every HTTP client does (RFC 9113 §8.7)."""
        self._retried = True
        request = self.flow.request
        if not (yield from self.make_server_connection()):
            return
        whole = not (request.raw_content or request.trailers)
        parts: list[HttpEvent] = [RequestHeaders(self.stream_id, request, whole)]
        if request.raw_content:
            parts.append(RequestData(self.stream_id, request.raw_content))
        if request.trailers:
            parts.append(RequestTrailers(self.stream_id, request.trailers))
        for part in (*parts, RequestEndOfMessage(self.stream_id)):
            yield http_layer.SendHttp(part, self.context.server)


_AFTER_HEAD = (ResponseData, ResponseTrailers, ResponseEndOfMessage, ResponseProtocolError)
_RETRYABLE_CODES = (ErrorCodes.REFUSED_STREAM, ErrorCodes.HTTP_1_1_REQUIRED)
"""Error codes after which a browser may silently retry a request (RFC 9113 §7)."""
_SITE_UNREACHABLE_CODES = (
    ErrorCode.CONNECT_FAILED,
    ErrorCode.GENERIC_SERVER_ERROR,
    ErrorCode.DESTINATION_UNKNOWN,
)


def _mcp_tap(traffic: Traffic) -> McpTap | None:
    return traffic.tap if isinstance(traffic, McpTraffic) else None


def _is_redirected(client: connection.Client) -> bool:
    """Whether the client is redirected, and does not know of the proxy."""
    return isinstance(client.proxy_mode, mode_specs.TransparentMode)


def install() -> None:
    """Have mitmproxy use our streams."""
    http_layer.HttpStream = WarexStream  # type: ignore[misc]
