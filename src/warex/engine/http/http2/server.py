"""HTTP/2 towards a client: receives requests, sends responses (RFC 9113)."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from warex.engine.http.error_page import error_body
from warex.engine.http.events import (
    GoingAway,
    RequestReceived,
    RequestRejected,
)
from warex.engine.http.exchange import ExchangeState, Step
from warex.engine.http.heads import NO_FIELDS, ResponseHead
from warex.engine.http.http2 import header_lists
from warex.engine.http.http2.connection import (
    ENHANCE_YOUR_CALM,
    LONG_FIELDS,
    Http2Connection,
    Stream,
)
from warex.engine.http.http2.floods import UNSEEN
from warex.engine.http.http2.header_lists import MalformedMessage
from warex.engine.http.http2.library import GoAwayReceived, frame_events

_REFUSED_STREAM: Final = 7
_MAX_LINE: Final = 8 * 1024


class Http2Server(Http2Connection):
    """The connection towards a client."""

    _peer = "client"
    _sends = staticmethod(ExchangeState.response_step)
    _receives = staticmethod(ExchangeState.request_step)
    _read_trailers = staticmethod(header_lists.request_trailers)
    _handlers: ClassVar[Mapping[type, str]] = {
        **Http2Connection._handlers,
        frame_events.RequestReceived: "_request",
        GoAwayReceived: "_go_away",
    }

    def __init__(self, clock: Callable[[], float]) -> None:
        """``clock``: seconds that only grow."""
        super().__init__(is_client=False, clock=clock)
        self._opened: set[int] = set()
        """Streams that were opened by the bytes of one read."""
        self._refuses = False
        """Whether new streams are refused; a client that goes away may still open some."""

    def receive(self, data: bytes) -> list[Any]:
        """Return the events of the next bytes."""
        if not self.has_more:
            self._opened.clear()
        return self._read(data)

    def _request(self, frame: Any) -> None:
        number = frame.stream_id
        if self._refuses:
            self._frames.reset(number, _REFUSED_STREAM)
            return
        self._opened.add(number)
        stream = self._streams[number] = Stream()
        stream.state.request_step(Step.HEAD)
        if not self._has_room(number, frame.headers):
            self._reject(number, stream, frame.headers, LONG_FIELDS, 431)
            return
        try:
            head = header_lists.request_head(frame.headers)
            stream.length = header_lists.content_length(head)
        except MalformedMessage as error:
            self._reject(number, stream, frame.headers, str(error))
            return
        stream.is_head = head.method == "HEAD"
        self._events.append(RequestReceived(number, head, frame.stream_ended is None))

    def _reject(
        self, number: int, stream: Stream, headers: Any, reason: str, status: int = 400
    ) -> None:
        line = header_lists.request_line(headers)[:_MAX_LINE]
        body = error_body(status)
        stream.heads.append(
            [
                (b":status", b"%d" % status),
                (b"content-type", b"text/html"),
                (b"content-length", b"%d" % len(body)),
            ]
        )
        stream.pieces.append(body)
        stream.queued = len(body)
        stream.end = NO_FIELDS
        stream.state.fail()
        self._to_write[number] = None
        self._events.append(RequestRejected(number, status, line, reason))

    def _reset_received(self, frame: Any) -> None:
        if frame.stream_id in self._opened and not self._limit.allows("unseen", UNSEEN):
            self._frames.terminate(ENHANCE_YOUR_CALM)
            self._fail_all("client floods the connection with streams that it resets at once")
            return
        super()._reset_received(frame)

    def _go_away(self, frame: GoAwayReceived) -> None:
        self._going_away = True
        self._events.append(GoingAway(frame.code))
        if frame.code:
            message = f"the client sent {frame}"
            self._fail_all(message, code=frame.code)

    # ---- the response

    def send_informational(self, stream: int, head: ResponseHead) -> None:
        """Send an informational response."""
        record = self._streams[stream]
        record.state.response_step(Step.INFORMATIONAL)
        record.heads.append(header_lists.response_list(head))
        self._to_write[stream] = None

    def send_response(self, stream: int, head: ResponseHead, *, raw_body: bool = False) -> None:
        """Send the head of the final response."""
        record = self._streams[stream]
        record.state.response_step(Step.HEAD)
        record.is_head = record.is_head or head.status in (204, 304)
        record.heads.append(header_lists.response_list(head))
        self._to_write[stream] = None

    def go_away(self, code: int = 0) -> None:
        """Take no further exchange; with a code, end the open ones."""
        if self.is_ended:
            return
        self._going_away = self._refuses = True
        if code:
            self._frames.terminate(code)
            self.is_ended = True
        else:
            self._frames.warn()
