"""The HTTP/2 library, jh2, as a proxy needs it.

jh2 has the interface of hyper-h2, so this file would hold for either. Changed are: events before an
error are kept, a GOAWAY ends nothing by itself, frames that cost a peer nothing are counted, and a
body's length is not compared with its field (browsers do not).
"""

from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from types import MethodType
from typing import Any, Final

import jh2.events
from jh2.config import H2Configuration
from jh2.connection import AllowedStreamIDs, ConnectionInputs, H2Connection
from jh2.errors import ErrorCodes
from jh2.exceptions import DenialOfServiceError, H2Error
from jh2.frame_buffer import FrameBuffer
from jh2.hyperframe.frame import (
    DataFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    RstStreamFrame,
    SettingsFrame,
)
from jh2.settings import SettingCodes, Settings
from jh2.stream import StreamClosedBy

from warex.engine.http.http2.compression import MAX_HEADER_LIST, FieldEncoder, decode_fields

frame_events: Final = jh2.events
"""What the library reports."""

MAX_FRAME: Final = 16_384
"""Bytes in a frame that every peer must accept (RFC 9113 §4.2)."""
MAX_STREAMS: Final = 100
STREAM_WINDOW: Final = 64 * 1024
"""Bytes of a stream that may wait at first."""
STREAM_WINDOWS: Final = 12 * 1024 * 1024
"""Bytes of all streams that may wait, so that none waits for others."""
CONNECTION_WINDOW: Final = 2 * STREAM_WINDOWS + STREAM_WINDOW
"""jh2 tells a peer of what was taken once that is half of it."""
_INITIAL_CONNECTION_WINDOW: Final = 65_535
_FRAMES_A_READ: Final = 64
_FIELDS_A_READ: Final = 64 * 1024
"""Bytes of decompressed fields, from which on the frames behind them wait for the next read."""

_COUNTED: Final[dict[type[Frame], str]] = {
    RstStreamFrame: "RST_STREAM",
    SettingsFrame: "SETTINGS",
    PingFrame: "PING",
    PriorityFrame: "PRIORITY",
}


class FrameError(Exception):
    """The peer has broken the protocol; the connection's GOAWAY is written."""


class GoAwayReceived:
    """The peer accepts no new streams; those up to its last one continue (RFC 9113 §6.8)."""

    def __init__(self, last_stream: int, code: int) -> None:
        self.last_stream = last_stream
        self.code = code

    def __str__(self) -> str:
        return f"GOAWAY {error_name(self.code)}, last stream {self.last_stream}"


def error_name(code: int) -> str:
    """Return the name of an error code, or its number if it has none (RFC 9113 §7)."""
    try:
        return str(ErrorCodes(code).name)
    except ValueError:
        return str(code)


class _Frames(FrameBuffer):  # type: ignore[misc] # jh2 ships no types
    """The frames of what came: some in each read, as others wait for it."""

    def __init__(self, *, server: bool) -> None:
        super().__init__(server=server)
        self.left = 0
        """How many may still be taken in this read."""
        self.has_more = False
        """Whether some may be left for the next one."""

    def __next__(self) -> Frame:
        if self.left <= 0:
            self.has_more = True
            raise StopIteration
        self.left -= 1
        at = self._data_offset
        if len(self._data) >= at + 3:
            # Before the frame is there: nothing of a longer one is kept.
            self._validate_frame_length(int.from_bytes(self._data[at : at + 3]))
        frame: Frame = super().__next__()
        return frame

    def _update_header_buffer(self, frame: Frame) -> Frame | None:
        complete: Frame | None = super()._update_header_buffer(frame)
        # Before the block is complete: nothing of a longer one is kept.
        if sum(len(it.data) for it in self._headers_buffer) > MAX_HEADER_LIST:
            raise DenialOfServiceError("Oversized header block")
        return complete


class _Methods:
    """Functions by their frames, as methods of a connection."""

    __slots__ = ("_connection", "_functions")

    def __init__(
        self, connection: "FrameConnection", functions: dict[type[Frame], Callable[..., Any]]
    ) -> None:
        self._connection, self._functions = connection, functions

    def __getitem__(self, kind: type[Frame]) -> MethodType:
        return MethodType(self._functions[kind], self._connection)


class FrameConnection(H2Connection):  # type: ignore[misc] # jh2 ships no types
    """One HTTP/2 connection: frames and flow control."""

    # What a late frame's stream was closed by is remembered for as many.
    MAX_CLOSED_STREAMS = 8192

    def __init__(self, *, is_client: bool, on_frame: Callable[[str], None]) -> None:
        """``on_frame``: called for frames that cost a peer nothing; it may raise FrameError."""
        super().__init__(
            H2Configuration(
                client_side=is_client,
                header_encoding=None,
                validate_inbound_headers=False,
                validate_outbound_headers=False,
                normalize_inbound_headers=False,
                normalize_outbound_headers=False,
            )
        )
        self._on_frame = on_frame
        self._events: list[Any] = []
        self.incoming_buffer = _Frames(server=not is_client)
        values = {
            SettingCodes.INITIAL_WINDOW_SIZE: STREAM_WINDOW,
            SettingCodes.MAX_HEADER_LIST_SIZE: MAX_HEADER_LIST,
        }
        if is_client:
            values[SettingCodes.ENABLE_PUSH] = 0
        else:
            values[SettingCodes.MAX_CONCURRENT_STREAMS] = MAX_STREAMS
        self.local_settings = Settings(client=is_client, initial_values=values)
        self.decoder.max_header_list_size = MAX_HEADER_LIST
        self.encoder: FieldEncoder = FieldEncoder(self.encoder)
        self._is_closed = False
        self._decoded = 0
        """Bytes of fields in this read."""
        self.initiate_connection()
        self.increment_flow_control_window(CONNECTION_WINDOW - _INITIAL_CONNECTION_WINDOW)

    @property
    def max_outbound_frame_size(self) -> int:
        """Bytes in a frame at most: a peer may lower its limit while data is queued."""
        return MAX_FRAME

    @max_outbound_frame_size.setter
    def max_outbound_frame_size(self, size: int) -> None:
        pass

    @property
    def _frame_dispatch_table(self) -> "_Methods":
        """What reads each frame.

        The library keeps bound methods, a cycle: a connection that is over would stay, with its
        streams, until the garbage collector comes.
        """
        return _Methods(self, self._functions)

    @_frame_dispatch_table.setter
    def _frame_dispatch_table(self, methods: dict[type[Frame], MethodType]) -> None:
        self._functions = {kind: method.__func__ for kind, method in methods.items()}

    def read(self, data: bytes) -> tuple[list[Any], FrameError | None]:
        """Return the events of the next bytes, and what ended the connection."""
        error = None
        frames = self.incoming_buffer
        frames.left, frames.has_more = _FRAMES_A_READ, False
        self._decoded = 0
        try:
            self.receive_data(data)
        except FrameError as flood:
            error = flood
        except H2Error as broken:
            error = FrameError(f"HTTP/2 protocol error: {broken}")
        except Exception as broken:  # noqa: BLE001 - a peer's bytes may break any parser
            self.terminate(ErrorCodes.PROTOCOL_ERROR)
            error = FrameError(f"HTTP/2 protocol error: {type(broken).__name__}")
        events, self._events = self._events, []
        return events, error

    @property
    def has_more(self) -> bool:
        """Whether frames are left for the next read, so that other connections come between."""
        return self.incoming_buffer.has_more and not self._is_closed

    def terminate(self, code: int) -> None:
        """Write a GOAWAY, after which nothing can be sent."""
        self._terminate_connection(code)

    def warn(self) -> None:
        """Write a GOAWAY for new streams; open ones continue."""
        frame = GoAwayFrame(0, last_stream_id=self.highest_inbound_stream_id)
        self._prepare_for_sending([frame])

    def acknowledge(self, size: int, stream_id: int) -> None:
        """Let the peer send as many bytes more."""
        with suppress(H2Error):  # A window cannot grow beyond 2 GB.
            self.acknowledge_received_data(size, stream_id)

    def widen(self, size: int, stream_id: int) -> None:
        """Let as many bytes more of a stream wait from now on."""
        with suppress(H2Error):  # It has ended.
            self.increment_flow_control_window(size, stream_id)

    def is_open(self, stream_id: int) -> bool:
        """Whether anything may still be sent on a stream."""
        stream = self.streams.get(stream_id)
        return not self._is_closed and stream is not None and not stream.closed

    def may_open(self, limit: int) -> bool:
        """Whether fewer streams than a limit are open; clients open all of them."""
        # Counting also forgets those that are closed, which need not be while there are few.
        return len(self.streams) < limit or self._open_streams(AllowedStreamIDs.ODD) < limit

    def send_headers(self, stream_id: int, headers: Any, end_stream: bool = False) -> None:
        """Write a head; the caller knows that the stream ``may_open``."""
        self.state_machine.process_input(ConnectionInputs.SEND_HEADERS)
        stream = self._get_or_create_stream(stream_id, AllowedStreamIDs(self.config.client_side))
        self._prepare_for_sending(stream.send_headers(headers, self.encoder, end_stream))

    def reset(self, stream_id: int, code: int) -> None:
        """Reset a stream, if it is open."""
        if self.is_open(stream_id):
            self.reset_stream(stream_id, code)

    def _receive_frame(self, frame: Frame) -> tuple[()]:
        kind = _COUNTED.get(frame.__class__)
        if kind is None:
            if frame.__class__ is DataFrame and not frame.data and "END_STREAM" not in frame.flags:
                self._count("empty DATA")
        elif not (kind in ("SETTINGS", "PING") and "ACK" in frame.flags):
            self._count(kind)
        self._events += super()._receive_frame(frame)
        return ()

    def _count(self, kind: str) -> None:
        try:
            self._on_frame(kind)
        except FrameError:
            self.terminate(ErrorCodes.ENHANCE_YOUR_CALM)
            raise

    def _receive_goaway_frame(self, frame: GoAwayFrame) -> tuple[list[Frame], list[Any]]:
        return [], [GoAwayReceived(frame.last_stream_id, frame.error_code)]

    def _receive_headers_frame(self, frame: HeadersFrame) -> tuple[list[Frame], list[Any]]:
        number, is_client = frame.stream_id, self.config.client_side
        fields = decode_fields(self.decoder, bytes(frame.data))
        self._decoded += sum(map(len, chain.from_iterable(fields)))
        if self._decoded > _FIELDS_A_READ:
            self.incoming_buffer.left = self._decoded = 0
        events = self.state_machine.process_input(ConnectionInputs.RECV_HEADERS)
        is_new = not is_client and number > self.highest_inbound_stream_id
        if is_new and not self.may_open(MAX_STREAMS):
            return self._refuse(number), events
        stream = self._get_or_create_stream(number, AllowedStreamIDs(not is_client))
        frames, stream_events = stream.receive_headers(fields, "END_STREAM" in frame.flags, None)
        # Priorities are not used.
        return frames, events + stream_events

    def _refuse(self, stream_id: int) -> list[Frame]:
        """Refuse a stream too many (RFC 9113 §5.1.2)."""
        self._count("streams beyond the limit")
        self.highest_inbound_stream_id = stream_id
        self._closed_streams[stream_id] = StreamClosedBy.SEND_RST_STREAM
        return [RstStreamFrame(stream_id, error_code=ErrorCodes.REFUSED_STREAM)]

    def _terminate_connection(self, error_code: int) -> None:
        self._is_closed = True
        super()._terminate_connection(error_code)

    def _begin_new_stream(self, stream_id: int, allowed_ids: Any) -> Any:
        stream = super()._begin_new_stream(stream_id, allowed_ids)
        stream._initialize_content_length = _ignore_length
        return stream


def _ignore_length(headers: Any) -> None:
    """Leave the length of a body to its reader."""
