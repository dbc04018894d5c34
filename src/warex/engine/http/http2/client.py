"""HTTP/2 towards a site: sends requests, receives responses (RFC 9113)."""

from collections import deque
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, ClassVar, Final

from warex.engine.http.events import (
    TOO_MANY_HINTS,
    ExchangeFailed,
    GoingAway,
    InformationalReceived,
    ResponseReceived,
)
from warex.engine.http.exchange import IDLE, ExchangeState, Step
from warex.engine.http.heads import RequestHead
from warex.engine.http.http2 import header_lists
from warex.engine.http.http2.compression import MAX_HEADER_LIST
from warex.engine.http.http2.connection import (
    ENHANCE_YOUR_CALM,
    LONG_FIELDS,
    Http2Connection,
    Stream,
)
from warex.engine.http.http2.header_lists import MalformedMessage
from warex.engine.http.http2.library import MAX_STREAMS, GoAwayReceived, frame_events

_CANCEL: Final = 8
_REFUSED_STREAM: Final = 7
_LAST_NUMBER: Final = 2**31 - 1


class Http2Client(Http2Connection):
    """The connection towards a site."""

    _peer = "the site"
    _sends = staticmethod(ExchangeState.request_step)
    _receives = staticmethod(ExchangeState.response_step)
    _read_trailers = staticmethod(header_lists.trailers)
    _handlers: ClassVar[Mapping[type, str]] = {
        **Http2Connection._handlers,
        frame_events.InformationalResponseReceived: "_informational",
        frame_events.ResponseReceived: "_response",
        GoAwayReceived: "_go_away",
    }

    def __init__(self, clock: Callable[[], float]) -> None:
        """``clock``: seconds that only grow."""
        super().__init__(is_client=True, clock=clock)
        self._next = 1
        self._waiting: deque[int] = deque()
        """Streams that are not opened; they are so in order."""

    @property
    def reusable(self) -> bool:
        """Whether another request may be sent now; the site may let it wait."""
        return not self.is_ended and not self._going_away and self._next < _LAST_NUMBER

    # ---- the request

    def send_request(self, head: RequestHead, *, raw_body: bool = False, has_body: bool) -> int:
        """Send the head of a request and return its stream."""
        assert self.reusable
        number, self._next = self._next, self._next + 2
        stream = self._streams[number] = Stream()
        stream.state.request_step(Step.HEAD)
        stream.heads.append(header_lists.request_list(head))
        self._waiting.append(number)
        self._to_write[number] = None
        return number

    def _may_write(self, number: int) -> bool:
        waiting = self._waiting
        if not waiting or number < waiting[0]:
            return self._frames.is_open(number)
        limit = min(self._frames.remote_settings.max_concurrent_streams, MAX_STREAMS)
        if number != waiting[0] or not self._frames.may_open(limit):
            return False
        waiting.popleft()
        return True

    def _wake_waiting(self) -> None:
        self._to_write |= dict.fromkeys(self._waiting)

    def go_away(self, code: int = 0) -> None:
        """Send no further request."""
        self._going_away = True

    # ---- the response

    def receive(self, data: bytes) -> list[Any]:
        """Return the events of the next bytes."""
        return self._read(data)

    def _open(self, number: int) -> Stream | None:
        stream = self._streams.get(number)
        return None if stream is None or stream.state.is_over else stream

    def _informational(self, frame: Any) -> None:
        number = frame.stream_id
        stream = self._open(number)
        if stream is None:
            return
        try:
            head = header_lists.response_head(frame.headers)
        except MalformedMessage as error:
            self._break(number, str(error))
            return
        stream.informational += sum(map(len, chain.from_iterable(frame.headers)))
        if stream.informational > MAX_HEADER_LIST:
            self._break(number, TOO_MANY_HINTS, ENHANCE_YOUR_CALM)
            return
        self._events.append(InformationalReceived(number, head))

    def _response(self, frame: Any) -> None:
        number = frame.stream_id
        stream = self._open(number)
        if stream is None:
            return
        if not self._has_room(number, frame.headers):
            self._break(number, LONG_FIELDS, ENHANCE_YOUR_CALM)
            return
        try:
            head = header_lists.response_head(frame.headers)
        except MalformedMessage as error:
            self._break(number, str(error))
            return
        stream.state.response_step(Step.HEAD)
        self._events.append(ResponseReceived(number, head, frame.stream_ended is None))

    def _end(self, frame: Any) -> None:
        stream = self._open(frame.stream_id)
        if stream is not None and stream.state.response is IDLE:
            self._break(frame.stream_id, "the stream ended before its answer")
        else:
            super()._end(frame)
        self._wake_waiting()

    def _reset_received(self, frame: Any) -> None:
        super()._reset_received(frame)
        self._wake_waiting()

    def _drop(self, number: int, stream: Stream) -> None:
        if number in self._waiting:
            self._waiting.remove(number)
        super()._drop(number, stream)

    def _is_refusal(self, code: int) -> bool:
        return code == _REFUSED_STREAM

    def _settings_changed(self, frame: Any) -> None:
        super()._settings_changed(frame)
        self._wake_waiting()

    def _go_away(self, frame: GoAwayReceived) -> None:
        self._going_away = True
        self._events.append(GoingAway(frame.code))
        message = f"the site went away ({frame})"
        for number in [it for it in self._streams if it > frame.last_stream]:
            stream = self._streams[number]
            if not stream.state.is_over:
                self._events.append(
                    ExchangeFailed(number, message, _REFUSED_STREAM, unprocessed=True)
                )
                self.reset(number, _CANCEL)
        if frame.code:
            self._fail_all(message, code=frame.code)

    def receive_eof(self) -> list[Any]:
        """Return the events of the end of what the site sends."""
        if not self.is_ended:
            for number in list(self._waiting):
                # It was never sent.
                message = "peer closed connection"
                self._events.append(ExchangeFailed(number, message, unprocessed=True))
                self._drop(number, self._streams[number])
        return super().receive_eof()
