"""HTTP/2 on one connection (RFC 9113): what both roles share."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, Final

from warex.engine.http.events import (
    ConnectionEnded,
    DataQueueEmptied,
    DataReceived,
    ExchangeFailed,
    GoingAway,
    InformationalReceived,
    MessageEnded,
    RequestReceived,
    RequestRejected,
    ResponseReceived,
)
from warex.engine.http.exchange import ExchangeState, Step
from warex.engine.http.heads import NO_FIELDS, Headers
from warex.engine.http.http2.floods import RateLimit
from warex.engine.http.http2.header_lists import HeaderList, MalformedMessage, trailer_list
from warex.engine.http.http2.library import (
    MAX_FRAME,
    MAX_STREAMS,
    STREAM_WINDOW,
    STREAM_WINDOWS,
    FrameConnection,
    FrameError,
    error_name,
    frame_events,
)

type Event = (
    RequestReceived
    | InformationalReceived
    | ResponseReceived
    | DataReceived
    | MessageEnded
    | RequestRejected
    | ExchangeFailed
    | DataQueueEmptied
    | GoingAway
    | ConnectionEnded
)

_USUAL_FIELDS: Final = 16 * 1024
_OPEN_FIELDS: Final = 1024 * 1024
"""Bytes of the longer heads and trailers of exchanges that are open at the same time: a byte of the
wire can stand for kilobytes of them (RFC 7541 §7.3)."""
LONG_FIELDS: Final = "open exchanges have long heads or trailers"
ENHANCE_YOUR_CALM: Final = 11
_MAX_WINDOW: Final = 1024 * 1024
"""Bytes that may wait of a stream whose data is taken."""
_REMEMBERED: Final = 256
"""Exchanges that are over and of which ``sent`` is still known."""


class Stream:
    """One exchange on its connection."""

    __slots__ = (
        "end",
        "has_ended",
        "heads",
        "informational",
        "is_head",
        "length",
        "pieces",
        "queued",
        "received",
        "sent",
        "state",
        "taken",
        "trailers",
        "unacknowledged",
        "waits",
        "window",
    )

    def __init__(self) -> None:
        self.state = ExchangeState()
        self.heads: list[HeaderList] = []
        """Heads that are not written."""
        self.pieces: deque[bytes] = deque()
        """Of the body, not written."""
        self.queued = 0
        self.waits = False
        """Whether flow control holds back a piece."""
        self.end: Headers | None = None
        """The trailers, once the message that is sent is complete and its end is not written."""
        self.sent = 0
        self.informational = 0
        """Bytes of the informational heads that came."""
        self.received = 0
        self.has_ended = False
        """Whether the end of what is received has come."""
        self.unacknowledged = 0
        self.window = STREAM_WINDOW
        """Bytes that may wait to be taken."""
        self.taken = 0
        """Bytes that were taken since the window was widened."""
        self.trailers = NO_FIELDS
        """Received behind the body."""
        self.length: int | None = None
        """What the request says that its body has."""
        self.is_head = False


class Http2Connection:
    """What both roles share."""

    version: Final = "HTTP/2.0"
    wants_data: Final = True
    _peer: str
    _sends: Callable[[ExchangeState, Step], None]
    _receives: Callable[[ExchangeState, Step], None]
    _read_trailers: Callable[[Sequence[tuple[bytes, bytes]]], Headers]
    _handlers: ClassVar[Mapping[type, str]] = {
        frame_events.DataReceived: "_data",
        frame_events.TrailersReceived: "_trailers",
        frame_events.StreamEnded: "_end",
        frame_events.StreamReset: "_reset_received",
        frame_events.WindowUpdated: "_window_updated",
        frame_events.RemoteSettingsChanged: "_settings_changed",
    }
    """The methods that read the library's events, by name: bound ones would be a cycle, which keeps
    a connection that is over, with its streams, until the garbage collector comes."""

    def __init__(self, *, is_client: bool, clock: Callable[[], float]) -> None:
        self._limit = RateLimit(clock)
        self._frames = FrameConnection(is_client=is_client, on_frame=self._count_with(self._limit))
        self._streams: dict[int, Stream] = {}
        self._spare = STREAM_WINDOWS - MAX_STREAMS * STREAM_WINDOW
        """Bytes by which the windows of streams may still be widened."""
        self._long_fields: dict[int, int] = {}
        """Bytes of the long heads and trailers of open exchanges, by their streams."""
        self._finished: deque[int] = deque()
        self._to_write: dict[int, None] = {}
        """Streams on which something is to be sent, in order."""
        self._events: list[Event] = []
        self._going_away = False
        self.is_ended = False

    @property
    def has_more(self) -> bool:
        """Whether bytes that were received are left for the next ``receive``."""
        return self._frames.has_more and not self.is_ended

    @classmethod
    def _count_with(cls, limit: RateLimit) -> Callable[[str], None]:
        """Return what counts a frame; it does not have the connection, which has it."""

        def count(kind: str) -> None:
            if not limit.allows(kind):
                raise FrameError(f"{cls._peer} floods the connection with {kind}")

        return count

    # ---- receiving

    def _read(self, data: bytes) -> list[Event]:
        if self.is_ended:
            return []
        frames, error = self._frames.read(data)
        for frame in frames:
            handle = self._handlers.get(type(frame))
            if handle is not None and not self.is_ended:
                getattr(self, handle)(frame)
        if error is not None:
            self._fail_all(str(error))
        elif self._to_write:
            self._write()
        return self._take_events()

    def _take_events(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def receive_eof(self) -> list[Any]:
        """Return the events of the end of what the peer sends."""
        if not self.is_ended:
            self._fail_all("peer closed connection", message="")
        return self._take_events()

    def _fail_all(
        self, reason: str, *, message: str | None = None, code: int | None = None
    ) -> None:
        """End the connection and every open exchange."""
        self.is_ended = True
        for number, stream in self._streams.items():
            if not stream.state.is_over:
                stream.state.fail()
                self._events.append(ExchangeFailed(number, reason, code))
        self._to_write.clear()
        self._events.append(ConnectionEnded(reason if message is None else message))

    def _data(self, frame: Any) -> None:
        stream = self._streams.get(frame.stream_id)
        flow = frame.flow_controlled_length
        if stream is None or stream.state.is_over:
            self._frames.acknowledge(flow, frame.stream_id)
            return
        payload = bytes(frame.data)
        stream.received += len(payload)
        stream.unacknowledged += flow
        if stream.length is not None and stream.received > stream.length:
            self._break(frame.stream_id, "the body is longer than its content-length")
            return
        self._events.append(DataReceived(frame.stream_id, payload, b"", flow))

    def _has_room(self, number: int, fields: Iterable[tuple[bytes, bytes]]) -> bool:
        """Note the fields of an open exchange; return whether all that are open may be kept."""
        size = sum(map(len, chain.from_iterable(fields)))
        if size <= _USUAL_FIELDS and number not in self._long_fields:
            return True
        self._long_fields[number] = self._long_fields.get(number, 0) + size
        return sum(self._long_fields.values()) <= _OPEN_FIELDS

    def _trailers(self, frame: Any) -> None:
        stream = self._streams.get(frame.stream_id)
        if stream is None or stream.state.is_over:
            return
        if not self._has_room(frame.stream_id, frame.headers):
            self._break(frame.stream_id, LONG_FIELDS, ENHANCE_YOUR_CALM)
            return
        try:
            stream.trailers = self._read_trailers(frame.headers)
        except MalformedMessage as error:
            self._break(frame.stream_id, str(error))

    def _end(self, frame: Any) -> None:
        number = frame.stream_id
        stream = self._streams.get(number)
        if stream is None or stream.state.is_over:
            return
        stream.has_ended = True
        if stream.length is not None and stream.received != stream.length:
            self._break(number, "the body is shorter than its content-length")
            return
        self._receives(stream.state, Step.END)
        self._events.append(MessageEnded(number, stream.trailers))
        if stream.state.is_over and stream.end is None and not stream.queued:
            self._finish(number, stream)

    def _window_updated(self, frame: Any) -> None:
        if frame.stream_id:
            self._wake(frame.stream_id)
        else:
            self._wake_all()

    def _settings_changed(self, frame: Any) -> None:
        self._wake_all()

    def _wake(self, number: int) -> None:
        stream = self._streams.get(number)
        if stream is not None and (stream.queued or stream.end is not None):
            self._to_write[number] = None

    def _wake_all(self) -> None:
        for number in self._streams:
            self._wake(number)

    def _break(self, number: int, message: str, code: int = 1) -> None:
        """End an exchange whose peer has broken the rules for it."""
        self._events.append(ExchangeFailed(number, message, code))
        self.reset(number, code)

    def _reset_received(self, frame: Any) -> None:
        number, code = frame.stream_id, int(frame.error_code)
        stream = self._streams.get(number)
        if stream is None:
            return
        over = stream.state.is_over and not stream.queued and stream.end is None
        self._drop(number, stream)
        if not over:
            message = f"stream reset by {self._peer} ({error_name(code)})"
            self._events.append(ExchangeFailed(number, message, code, self._is_refusal(code)))

    def _is_refusal(self, code: int) -> bool:
        return False

    def _drop(self, number: int, stream: Stream) -> None:
        """Forget what is not written on a stream that was reset."""
        stream.state.fail()
        stream.heads.clear()
        stream.pieces.clear()
        stream.queued = 0
        stream.end = None
        self._to_write.pop(number, None)
        self._acknowledge_rest(number, stream)
        self._finish(number, stream)

    def _finish(self, number: int, stream: Stream) -> None:
        """Note that an exchange is over and written; it is forgotten later."""
        self._long_fields.pop(number, None)
        self._spare += stream.window - STREAM_WINDOW
        stream.window = STREAM_WINDOW
        self._finished.append(number)
        while len(self._finished) > _REMEMBERED:
            number = self._finished.popleft()
            self._acknowledge_rest(number, self._streams.pop(number, None))

    def _acknowledge_rest(self, number: int, stream: Stream | None) -> None:
        if stream is not None and stream.unacknowledged:
            size, stream.unacknowledged = stream.unacknowledged, 0
            self._frames.acknowledge(size, number)

    # ---- sending

    def data_to_send(self) -> bytes:
        """Return what is to be written, once."""
        if self._to_write and not self.is_ended:
            self._write()
        data: bytes = self._frames.data_to_send()
        return data

    def _write(self) -> None:
        """Write what flow control lets through, a frame of each stream in turn."""
        todo = self._to_write
        while todo:
            again: dict[int, None] = {}
            self._to_write = again
            for number in todo:
                stream = self._streams.get(number)
                if stream is None:
                    continue
                if self._write_some(number, stream):
                    again[number] = None
                elif stream.waits and not stream.queued:
                    stream.waits = False
                    self._events.append(DataQueueEmptied(number))
            todo = again

    def _write_some(self, number: int, stream: Stream) -> bool:
        """Write heads and one frame of data; return whether there is more to write now."""
        frames = self._frames
        if not self._may_write(number):
            return False
        while stream.heads:
            head = stream.heads.pop(0)
            bare = not stream.heads and not stream.pieces and stream.end is not None
            ends = bare and stream.end == NO_FIELDS
            frames.send_headers(number, head, end_stream=ends)
            if ends:
                self._ended(number, stream)
                return False
        if stream.queued:
            window = frames.local_flow_control_window(number)
            if window <= 0:
                stream.waits = True
                return False
            piece = self._take_piece(stream, min(window, MAX_FRAME))
            ends = not stream.queued and stream.end is not None and stream.end == NO_FIELDS
            frames.send_data(number, piece, end_stream=ends)
            stream.sent += len(piece)
            if ends:
                self._ended(number, stream)
                return False
            if stream.queued:
                return True
        if stream.end is not None:
            if frames.local_flow_control_window(number) < 0:
                return False  # Some peers refuse even an empty frame then.
            if stream.end == NO_FIELDS:
                frames.end_stream(number)
            else:
                frames.send_headers(number, trailer_list(stream.end), end_stream=True)
            self._ended(number, stream)
        return False

    def _may_write(self, number: int) -> bool:
        """Whether a stream is open, or can be opened."""
        return self._frames.is_open(number)

    @staticmethod
    def _take_piece(stream: Stream, limit: int) -> bytes:
        pieces, size = stream.pieces, 0
        taken: list[bytes] = []
        while pieces and size < limit:
            piece = pieces.popleft()
            if size + len(piece) > limit:
                pieces.appendleft(piece[limit - size :])
                piece = piece[: limit - size]
            taken.append(piece)
            size += len(piece)
        stream.queued -= size
        return taken[0] if len(taken) == 1 else b"".join(taken)

    def _ended(self, number: int, stream: Stream) -> None:
        """Note that the end of what is sent on a stream is written."""
        stream.end = None
        if not stream.state.is_over:
            return
        # Nothing more is wanted of a request that was refused (RFC 9113 §8.1).
        self._frames.reset(number, 0)
        self._finish(number, stream)

    def send_data(self, stream: int, payload: bytes, raw: bytes = b"") -> None:
        """Send a part of a body; what flow control does not let through waits."""
        record = self._streams[stream]
        self._sends(record.state, Step.DATA)
        if payload and not record.is_head:
            record.pieces.append(payload)
            record.queued += len(payload)
            self._to_write[stream] = None

    def send_end(self, stream: int, trailers: Headers = NO_FIELDS) -> None:
        """Complete the message."""
        record = self._streams[stream]
        self._sends(record.state, Step.END)
        record.end = trailers
        self._to_write[stream] = None

    def reset(self, stream: int, code: int = 8) -> None:
        """End an exchange."""
        record = self._streams.get(stream)
        if record is None or self.is_ended:
            return
        if record.state.is_over and not record.queued and record.end is None:
            return
        self._frames.reset(stream, code)
        self._drop(stream, record)

    def acknowledge(self, stream: int, size: int) -> None:
        """Let the peer send as many bytes more."""
        record = self._streams.get(stream)
        if record is not None and size and not self.is_ended:
            size = min(size, record.unacknowledged)
            record.unacknowledged -= size
            self._frames.acknowledge(size, stream)
            record.taken += size
            if record.taken >= record.window // 2 and not record.has_ended:
                self._widen(stream, record)

    def _widen(self, number: int, stream: Stream) -> None:
        """Let more of a stream wait, as its data is taken; together no more than the connection."""
        more = min(stream.window, _MAX_WINDOW - stream.window, self._spare)
        stream.taken = 0
        if more > 0:
            stream.window += more
            self._spare -= more
            self._frames.widen(more, number)

    def queued(self, stream: int) -> int:
        """Return the bytes of a body that wait for flow control."""
        record = self._streams.get(stream)
        return 0 if record is None else record.queued

    def sent(self, stream: int) -> int:
        """Return the bytes of a body past flow control."""
        record = self._streams.get(stream)
        return 0 if record is None else record.sent

    @property
    def has_open_streams(self) -> bool:
        """Whether an exchange is not over, or not written."""
        return any(
            not it.state.is_over or it.queued or it.end is not None for it in self._streams.values()
        )

    @property
    def must_close(self) -> bool:
        """Whether the connection ends once ``data_to_send`` is written."""
        return self.is_ended or (self._going_away and not self.has_open_streams)
