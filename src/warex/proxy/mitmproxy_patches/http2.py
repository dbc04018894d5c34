"""Parts of HTTP/2 that mitmproxy lacks: resets, GOAWAY and informational responses.

mitmproxy 12 replaces the error code of a reset stream, ends every stream at a GOAWAY, drops
informational responses, and does not know when the end of a response has passed flow control.
Source: ``proxy/layers/http/_http2.py`` and ``_http_h2.py``.
"""

from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.stream
from hyperframe.frame import Frame, GoAwayFrame, RstStreamFrame
from mitmproxy import http
from mitmproxy.connection import ConnectionState
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import http as http_layer
from mitmproxy.proxy.layers.http import _http2
from mitmproxy.proxy.layers.http._base import HttpEvent, ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
    RequestEndOfMessage,
    RequestHeaders,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
)
from mitmproxy.proxy.layers.http._http_h2 import BufferedH2Connection, SendH2Data

from warex.proxy.exchange.client_status import ClientStatus
from warex.proxy.mitmproxy_patches.http_events import (
    InformationalResponse,
    RequestReset,
    RequestUnprocessed,
    ResponseReset,
    error_name,
)

type _Commands = layer.CommandGenerator[None]
type _Handled = layer.CommandGenerator[bool]
type _Received = tuple[list[Frame], list[h2.events.Event]]

_FRAME = 16_384
"""Bytes in a DATA frame that every peer must accept (RFC 9113 §4.2)."""
_BY_RESET = (h2.stream.StreamClosedBy.RECV_RST_STREAM, h2.stream.StreamClosedBy.SEND_RST_STREAM)


class GoAwayReceived(h2.events.Event):
    """The peer accepts no new streams; those up to its last one continue (RFC 9113 §6.8)."""

    def __init__(self, frame: GoAwayFrame) -> None:
        self.last_stream_id: int = frame.last_stream_id
        self.h2_code: int = frame.error_code

    def __repr__(self) -> str:
        return f"GOAWAY {error_name(self.h2_code)}, last stream {self.last_stream_id}"


class WarexH2Connection(BufferedH2Connection):
    """Survives a GOAWAY, reports every reset, and handles negative flow control windows."""

    def __init__(self, config: h2.config.H2Configuration) -> None:
        super().__init__(config)
        self.on_reset: Callable[[int], None] = lambda stream_id: None
        """Called for a stream that the peer resets, even after its end was sent."""

    @property
    def max_outbound_frame_size(self) -> int:
        """Bytes in a frame at most: a peer may lower its limit while data is queued."""
        return _FRAME

    @max_outbound_frame_size.setter
    def max_outbound_frame_size(self, size: int) -> None:
        pass

    def send_data(  # type: ignore[override] # as mitmproxy has it
        self, stream_id: int, data: bytes, end_stream: bool = False, pad_length: None = None
    ) -> None:
        """Send data, or queue it if the window is negative (RFC 9113 §6.9.2)."""
        if len(data) <= _FRAME and self.local_flow_control_window(stream_id) < 0:
            self.stream_buffers[stream_id].append(SendH2Data(data, end_stream))
            return
        super().send_data(stream_id, data, end_stream, pad_length)

    def stream_window_updated(self, stream_id: int) -> bool:
        """Send what the window allows; an empty frame needs no window (RFC 9113 §6.9.1)."""
        sent: bool = super().stream_window_updated(stream_id)
        kept = self.stream_buffers.get(stream_id)
        if not kept or kept[0].data or self.local_flow_control_window(stream_id) < 0:
            return sent
        end = self.stream_buffers.pop(stream_id)[0]
        h2.connection.H2Connection.send_data(self, stream_id, b"", end.end_stream)
        return True

    def reset_stream(self, stream_id: int, error_code: int = 0) -> None:
        """Reset a stream and drop its queued trailers."""
        self.stream_trailers.pop(stream_id, None)
        super().reset_stream(stream_id, error_code)

    def _receive_rst_stream_frame(self, frame: RstStreamFrame) -> _Received:
        self.on_reset(frame.stream_id)
        self.stream_trailers.pop(frame.stream_id, None)
        return super()._receive_rst_stream_frame(frame)

    def _receive_goaway_frame(self, frame: GoAwayFrame) -> _Received:
        return [], [GoAwayReceived(frame)]


class _Http2Connection(_http2.Http2Connection):
    """The common base of both sides."""

    h2_conn: WarexH2Connection
    _peer_has_gone: ErrorCode
    _is_closed = False

    def _send_reset(self, stream_id: int, h2_code: int) -> _Commands:
        if not self.is_closed(stream_id):
            self.h2_conn.reset_stream(stream_id, h2_code)
            yield commands.SendData(self.conn, self.h2_conn.data_to_send())

    def close_connection(self, msg: str) -> _Commands:
        """Close the connection, and end its open exchanges."""
        streams, self.streams = list(self.streams), {}
        # Set first: notifying the streams may call this method again.
        self._is_closed = True
        self._handle_event = self.done  # type: ignore[method-assign]
        yield commands.CloseConnection(self.conn)
        for stream_id in streams:
            yield ReceiveHttp(self.ReceiveProtocolError(stream_id, msg, self._peer_has_gone))


class WarexHttp2Server(_Http2Connection, _http2.Http2Server):
    """The client's side of an HTTP/2 connection."""

    _peer_has_gone = ErrorCode.CLIENT_DISCONNECTED

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.h2_conn.on_reset = self._reset_by_client
        self._statuses: WeakValueDictionary[int, ClientStatus] = WeakValueDictionary()
        self._ending: set[int] = set()
        """Streams whose response is complete, but may wait for flow control."""
        self._queued: set[int] = set()
        """Streams a part of whose response waits for flow control."""
        self._going_away = False

    def client_status(self, stream_id: int) -> ClientStatus:
        """Return a new status of a stream's client, which this connection updates."""
        status = self._statuses[stream_id] = ClientStatus()
        if self.is_closed(stream_id):  # Opened and reset in one write.
            status.mark_reset()
        return status

    def _reset_by_client(self, stream_id: int) -> None:
        status = self._statuses.get(stream_id)
        if status is not None:
            status.mark_reset()

    def _handle_event(self, event: events.Event) -> _Commands:
        match event:
            case ResponseReset():
                yield from self._send_reset(event.stream_id, event.h2_code)
            case InformationalResponse():
                yield from self._send_informational(event)
            case _:
                yield from super()._handle_event(event)
        if isinstance(event, ResponseEndOfMessage | ResponseProtocolError):
            self._ending.add(event.stream_id)
        if isinstance(event, ResponseData) and self.h2_conn.stream_buffers.get(event.stream_id):
            self._queued.add(event.stream_id)
            if (status := self._statuses.get(event.stream_id)) is not None:
                status.unqueued.clear()
        if self._queued:
            self._note_unqueued()
        if self._ending:
            self._end_streams()
        if self._going_away and not self.streams and not self._is_closed:
            yield from self.close_connection("the client went away")

    def _send_informational(self, event: InformationalResponse) -> _Commands:
        if self.is_open_for_us(event.stream_id):
            head = ResponseHeaders(event.stream_id, event.response)
            headers = yield from _http2.format_h2_response_headers(self.context, head)
            self.h2_conn.send_headers(event.stream_id, headers)
            yield commands.SendData(self.conn, self.h2_conn.data_to_send())

    def _note_unqueued(self) -> None:
        """Note the streams that no longer wait for flow control."""
        for stream_id in list(self._queued):
            if self.h2_conn.stream_buffers.get(stream_id):
                continue
            self._queued.discard(stream_id)
            if (status := self._statuses.get(stream_id)) is not None:
                status.unqueued.set()

    def _end_streams(self) -> None:
        """Forget the streams whose last frame is sent."""
        for stream_id in list(self._ending):
            if self.is_open_for_us(stream_id):
                continue
            status = self._statuses.get(stream_id)
            if status is not None and not status.has_reset:
                status.mark_sent()
            if self.is_closed(stream_id):
                self._ending.discard(stream_id)
                self.streams.pop(stream_id, None)

    def handle_h2_event(self, event: h2.events.Event) -> _Handled:
        """Handle an event of the client; return True if nothing more is to be read."""
        match event:
            case h2.events.StreamReset():
                if self.streams.pop(event.stream_id, None) is not None:
                    yield ReceiveHttp(RequestReset(event.stream_id, int(event.error_code)))
                return False
            case h2.events.StreamEnded():
                # mitmproxy drops the reset of a stream that ends in the same write.
                if event.stream_id in self.streams:
                    yield ReceiveHttp(RequestEndOfMessage(event.stream_id))
                return False
            case GoAwayReceived():
                self._going_away = True
                if event.h2_code != h2.errors.ErrorCodes.NO_ERROR:
                    yield from self.close_connection(f"the client sent {event}")
                    return True
                return False
            case _:
                return (yield from super().handle_h2_event(event))

    def close_connection(self, msg: str) -> _Commands:
        """Close the connection, and mark the clients of unsent responses as left."""
        for status in list(self._statuses.values()):
            if not status.is_sent:
                status.mark_left()
        yield from super().close_connection(msg)


class WarexHttp2Client(_Http2Connection, _http2.Http2Client):
    """The site's side of an HTTP/2 connection."""

    _peer_has_gone = ErrorCode.GENERIC_SERVER_ERROR

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._going_away: GoAwayReceived | None = None
        self._ended: set[int] = set()
        """The site's streams whose response has ended."""
        self._unsent: list[int] = []
        """The client's streams that were queued when the site sent GOAWAY."""

    def _handle_event(self, event: events.Event) -> _Commands:
        if isinstance(event, HttpEvent) and not self._is_known(event):
            if isinstance(event, RequestHeaders) and self._going_away:
                yield self._unprocessed(event.stream_id)
            return
        yield from super()._handle_event(event)
        for stream_id in list(self._ended):
            if self.is_closed(stream_id) and stream_id not in self.streams:
                self._forget(stream_id)
        unsent, self._unsent = self._unsent, []
        for stream_id in unsent:
            yield self._unprocessed(stream_id)
        if self._going_away and not self.streams and not self._is_closed:
            yield from self.close_connection("the site went away")

    def _is_known(self, event: HttpEvent) -> bool:
        """Whether an event belongs to a stream, or opens one."""
        if event.stream_id in self.our_stream_id or event.stream_id in self.stream_queue:
            return True
        return isinstance(event, RequestHeaders) and self._going_away is None

    def _handle_event2(self, event: events.Event) -> _Commands:
        if isinstance(event, RequestReset):
            yield from self._send_reset(event.stream_id, event.h2_code)
            self.streams.pop(event.stream_id, None)
            self._ended.add(event.stream_id)
            return
        for command in super()._handle_event2(event):
            if isinstance(command, ReceiveHttp) and isinstance(
                command.event, ResponseEndOfMessage | ResponseProtocolError
            ):
                self._ended.add(command.event.stream_id)
            yield command
        if isinstance(event, RequestEndOfMessage) and self.is_closed(event.stream_id):
            self.streams.pop(event.stream_id, None)

    def _forget(self, stream_id: int) -> None:
        """Forget a closed stream."""
        self._ended.discard(stream_id)
        theirs = self.their_stream_id.pop(stream_id, None)
        if theirs is not None:
            del self.our_stream_id[theirs]

    def close_connection(self, msg: str) -> _Commands:
        """Close the connection; queued requests were never sent."""
        self._unsent += self.stream_queue
        self.stream_queue.clear()
        yield from super().close_connection(msg)

    def _unprocessed(self, stream_id: int) -> ReceiveHttp:
        away = self._going_away
        why = "the site went away" + (f" ({away})" if away else "")
        did_others = away is not None and away.last_stream_id > 0
        return ReceiveHttp(RequestUnprocessed(stream_id, why, did_others=did_others))

    def handle_h2_event(self, event: h2.events.Event) -> _Handled:
        """Handle an event of the site; return True if nothing more is to be read."""
        match event:
            case h2.events.StreamReset():
                if self.streams.pop(event.stream_id, None) is not None:
                    yield ReceiveHttp(ResponseReset(event.stream_id, int(event.error_code)))
                return False
            case h2.events.StreamEnded():
                if self.streams.get(event.stream_id) is not None:
                    yield ReceiveHttp(ResponseEndOfMessage(event.stream_id))
                stream = self.h2_conn.streams.get(event.stream_id)
                if self.is_closed(event.stream_id) and not (
                    stream is not None and stream.closed_by in _BY_RESET
                ):
                    self.streams.pop(event.stream_id, None)
                return False
            case h2.events.InformationalResponseReceived():
                yield from self._informational(event)
                return False
            case GoAwayReceived():
                return (yield from self._go_away(event))
            case _:
                return (yield from super().handle_h2_event(event))

    def _informational(self, event: h2.events.InformationalResponseReceived) -> _Commands:
        try:
            status, headers = _http2.parse_h2_response_headers(event.headers)
        except ValueError:
            return
        response = http.Response(b"HTTP/2.0", status, b"", headers, None, None, 0, 0)
        yield ReceiveHttp(InformationalResponse(event.stream_id, response))

    def _go_away(self, event: GoAwayReceived) -> _Handled:
        self._going_away = event
        # The connection stays open, but mitmproxy uses it for no further request.
        self.conn.state &= ~ConnectionState.CAN_WRITE
        self._unsent += self.stream_queue
        self.stream_queue.clear()
        for stream_id in [it for it in self.streams if it > event.last_stream_id]:
            del self.streams[stream_id]
            self._ended.add(stream_id)
            yield from self._send_reset(stream_id, h2.errors.ErrorCodes.CANCEL)
            yield self._unprocessed(stream_id)
        if event.h2_code == h2.errors.ErrorCodes.NO_ERROR and self.streams:
            return False
        for stream_id in list(self.streams):
            del self.streams[stream_id]
            self._ended.add(stream_id)
            message = f"the site went away ({event})"
            yield ReceiveHttp(ResponseReset(stream_id, event.h2_code, message))
        return False


def install() -> None:
    """Have mitmproxy use our connections."""
    module: Any = _http2
    module.BufferedH2Connection = WarexH2Connection
    layers: Any = http_layer
    layers.Http2Server, layers.Http2Client = WarexHttp2Server, WarexHttp2Client
