"""HTTP/1.1 towards a client: receives requests, sends responses (RFC 9112)."""

import re
from typing import Final

from warex.engine.http.events import (
    ConnectionEnded,
    DataReceived,
    ExchangeFailed,
    MessageEnded,
    RequestEvent,
    RequestReceived,
    RequestRejected,
)
from warex.engine.http.exchange import BODY, DONE, FAILED, IDLE, SWITCHED, ExchangeState, Step
from warex.engine.http.heads import NO_FIELDS, Headers, ResponseHead
from warex.engine.http.http1 import request_head, response_head
from warex.engine.http.http1.connection import Http1Connection
from warex.engine.http.http1.framing import ChunkReader, InvalidFraming, LengthReader
from warex.engine.http.http1.rendering import (
    error_page,
    is_last,
    response_bytes,
    says_close,
    with_chunks,
)
from warex.engine.http.http1.request_head import InvalidRequest, Scheme
from warex.engine.http.http1.response_head import CHUNKED, UNTIL_EOF, InvalidResponse

_MAX_WAITING: Final = 64 * 1024
"""Bytes of pipelined requests from which on nothing more is read."""
_VERSION = re.compile(rb"[ \t]+HTTP/\d\.\d[ \t]*\Z")
_MAX_LINE: Final = 8 * 1024


class Http1Server(Http1Connection):
    """The connection towards a client."""

    version: Final = "HTTP/1.1"

    def __init__(self, scheme: Scheme, authority: str | None) -> None:
        """``authority``: where the connection leads; None if each request must say so."""
        super().__init__()
        self._scheme: Scheme = scheme
        self._authority = authority
        self._line = b""
        self._knows_informational = True
        self._closes = False
        """Whether the connection ends with this exchange."""

    @property
    def wants_data(self) -> bool:
        """Whether reading may go on; False while pipelined requests wait."""
        # In between requests the buffer has a part of a head, which has a limit of its own.
        return self._state.request is IDLE or len(self._buffer) < _MAX_WAITING

    # ---- the request

    def receive(self, data: bytes) -> list[RequestEvent]:
        """Return the events of the next bytes; without any, of those that waited."""
        events: list[RequestEvent] = []
        if self.is_ended:
            return events
        state = self._state.request
        if state is BODY:
            data = self._read_body(data, events)
        elif state is SWITCHED:
            data = self.unread() + data
            if data:
                events.append(DataReceived(self._stream, data, data))
            return events
        if data:
            self._keep(data)
        if self._state.request is IDLE and self._buffer and not self.is_ended:
            self._read_head(events)
        return events

    def _read_head(self, events: list[RequestEvent]) -> None:
        buffer = self._buffer
        blank = 0
        while buffer[blank : blank + 2] == b"\r\n" or buffer[blank : blank + 1] == b"\n":
            # Some clients send empty lines between requests (RFC 9112 §2.2).
            blank += 2 if buffer[blank : blank + 1] == b"\r" else 1
        if blank:
            self._buffer = buffer = buffer[blank:]
            self._searched = 0
        end = request_head.head_end(buffer, self._searched)
        if end < 0 or end > request_head.MAX_HEAD:
            self._searched = len(buffer)
            if len(buffer) > request_head.MAX_HEAD:
                self._reject(431, bytes(buffer[:_MAX_LINE]), "the head has no end", events)
            return
        raw, rest = self._take(end)
        try:
            head = request_head.parse_request(raw, self._scheme, self._authority)
            size = request_head.request_body_size(head)
        except InvalidRequest as error:
            self._reject(error.status, raw, error.reason, events)
            return
        self._state.request = BODY
        self._method = head.method
        self._line = raw[:_MAX_LINE].partition(b"\r")[0]
        self._knows_informational = head.version == "HTTP/1.1"
        self._closes = is_last(head)
        events.append(RequestReceived(self._stream, head, size != 0))
        if head.method == "CONNECT":
            size = 0
        if size == 0:
            self._state.request = DONE
            events.append(MessageEnded(self._stream))
            self._buffer = rest
            return
        self._reader = ChunkReader(strict=True) if size == CHUNKED else LengthReader(size)
        if rest:
            self._buffer = self._read_body(rest, events)

    def _read_body(self, data: bytes, events: list[RequestEvent]) -> bytes:
        """Read a part of the body; return what is behind it."""
        reader = self._reader
        assert reader is not None
        ended = False
        while data and not ended:
            try:
                payload, used, ended = reader.feed(data)
            except InvalidFraming as error:
                self._fail_body(str(error), events)
                return b""
            raw, data = (data, b"") if used == len(data) else (data[:used], data[used:])
            events.append(DataReceived(self._stream, payload, raw))
        if not ended:
            return b""
        self._state.request = DONE
        self._reader = None
        events.append(MessageEnded(self._stream, reader.trailers))
        self._next_if_over()
        return data

    def _fail_body(self, message: str, events: list[RequestEvent]) -> None:
        """End a request whose body cannot be read; it is answered if it is not yet."""
        message = f"HTTP/1 protocol error: {message}"
        answered = self._state.response is not IDLE
        self._state.fail()
        events.append(ExchangeFailed(self._stream, message))
        if answered:
            self.is_ended = self.must_close = True
            events.append(ConnectionEnded(message))
        else:
            self._reject(400, self._line, message, events)

    def _reject(self, status: int, line: bytes, reason: str, events: list[RequestEvent]) -> None:
        line = _VERSION.sub(b"", line.partition(b"\n")[0].rstrip(b"\r"))[:_MAX_LINE]
        self._buffer = b""
        self.is_ended = self.must_close = True
        self._out.append(error_page(status))
        events.append(RequestRejected(self._stream, status, line, reason))

    def receive_eof(self) -> list[RequestEvent]:
        """Return the events of the end of what the client sends."""
        if self.is_ended:
            return []
        self.is_ended = True
        state = self._state.request
        events: list[RequestEvent] = []
        if state is SWITCHED:
            self._state.request = DONE
            events.append(MessageEnded(self._stream))
        elif state is BODY and self._reader is not None:
            self._state.fail()
            message = f"HTTP/1 protocol error: {self._reader.eof()}"
            events.append(ExchangeFailed(self._stream, message))
        elif state is IDLE:
            self.must_close = True
        events.append(ConnectionEnded(""))
        return events

    # ---- the response

    def send_informational(self, stream: int, head: ResponseHead) -> None:
        """Send an informational response; nothing to a client of HTTP/1.0 (RFC 9110 §15.2)."""
        self._state.response_step(Step.INFORMATIONAL)
        if self._knows_informational:
            self._out.append(head.raw or response_bytes(head))

    def send_response(self, stream: int, head: ResponseHead, *, raw_body: bool = False) -> None:
        """Send the head of the final response; after 101, and 2xx to CONNECT, bytes pass."""
        if head.status == 101 or (self._method == "CONNECT" and 200 <= head.status <= 299):
            self._state.response_step(Step.SWITCH)
            self._sends_raw = True
            self._out.append(head.raw or response_bytes(head))
            return
        self._state.response_step(Step.HEAD)
        size = _size(self._method, head)
        if size == UNTIL_EOF and not raw_body and not head.raw:
            if self._knows_informational:
                size = CHUNKED
                head = with_chunks(head)
            else:
                self._closes = True
        elif size == UNTIL_EOF or says_close(head):
            self._closes = True
        self._sends_raw, self._sends_chunks, self._sends_body = raw_body, size == CHUNKED, size != 0
        self._sent = 0
        if head.raw or head.version != "HTTP/0.9":
            self._out.append(head.raw or response_bytes(head))

    def send_data(self, stream: int, payload: bytes, raw: bytes = b"") -> None:
        """Send a part of the body; after a switch, of what is passed on."""
        self._state.response_step(Step.DATA)
        if self._state.response is SWITCHED:
            self._sent += len(payload)
            self._out.append(raw or payload)
        else:
            self._send_body(payload, raw)

    def send_end(self, stream: int, trailers: Headers = NO_FIELDS) -> None:
        """Complete the response."""
        switched = self._state.response is SWITCHED
        self._state.response_step(Step.END)
        if switched:
            self.must_close = True
            return
        self._send_end(trailers)
        self._next_if_over()

    def _next_if_over(self) -> None:
        """Begin the next exchange once this one is complete both ways."""
        if self._state.response is not DONE:
            return
        if self._state.request is FAILED or self._closes or self.is_ended:
            self.must_close = True
        elif self._state.request is DONE:
            self._state = ExchangeState()
            self._stream += 1

    def reset(self, stream: int, code: int = 8) -> None:
        """End the exchange, and the connection with it."""
        self._state.fail()
        self.is_ended = self.must_close = True

    def go_away(self, code: int = 0) -> None:
        """End the connection with this exchange."""
        self._closes = True
        if self._state.request is IDLE:
            self.is_ended = self.must_close = True


def _size(method: str, head: ResponseHead) -> int:
    try:
        return response_head.response_body_size(method, head)
    except InvalidResponse:
        return UNTIL_EOF
