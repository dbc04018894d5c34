"""HTTP/1.1 towards a site: sends requests, receives responses (RFC 9112)."""

from typing import Final

from warex.engine.http.events import (
    TOO_MANY_HINTS,
    ConnectionEnded,
    DataReceived,
    ExchangeFailed,
    InformationalReceived,
    MessageEnded,
    ResponseEvent,
    ResponseReceived,
)
from warex.engine.http.exchange import BODY, DONE, FAILED, IDLE, SWITCHED, ExchangeState, Step
from warex.engine.http.heads import NO_FIELDS, Headers, RequestHead
from warex.engine.http.http1 import response_head
from warex.engine.http.http1.connection import Http1Connection
from warex.engine.http.http1.forwarding import to_proxy, to_site
from warex.engine.http.http1.framing import ChunkReader, EofReader, InvalidFraming, LengthReader
from warex.engine.http.http1.rendering import as_http1, is_last, says_close
from warex.engine.http.http1.response_head import CHUNKED, MAX_HEAD, UNTIL_EOF, InvalidResponse


class Http1Client(Http1Connection):
    """The connection towards a site."""

    version: Final = "HTTP/1.1"
    wants_data: Final = True

    def __init__(
        self,
        *,
        secure: bool,
        default_port: bool,
        through_proxy: bool = False,
        proxy_authorization: str | None = None,
        proxy_is_clients: bool = False,
    ) -> None:
        """``default_port``: whether the site's port is its scheme's, as for HTTP/0.9.

        ``through_proxy``: whether requests name their whole URL, for a proxy of the user's, or of
        the client's own choice (``proxy_is_clients``), whose credentials it then gets.
        """
        super().__init__()
        self._stream = 0
        self._state.fail()
        self._secure = secure
        self._default_port = default_port
        self._through_proxy = through_proxy
        self._proxy_authorization = proxy_authorization
        self._proxy_is_clients = proxy_is_clients
        self._closes = False
        self._informational = 0
        """Bytes of the informational heads of this exchange."""

    @property
    def reusable(self) -> bool:
        """Whether another request may be sent now."""
        return not self.is_ended and not self._closes and self._state.is_over

    # ---- the request

    def send_request(self, head: RequestHead, *, raw_body: bool = False, has_body: bool) -> int:
        """Send the head of a request and return its stream."""
        self._state = ExchangeState()
        self._state.request_step(Step.HEAD)
        self._stream += 1
        self._method = head.method
        self._closes = is_last(head)
        self._sent = self._informational = 0
        if not head.raw:
            head = as_http1(head, has_body)
        authorization = self._proxy_authorization
        if self._proxy_is_clients:
            authorization = head.headers.get("proxy-authorization") or None
        head = to_proxy(head, authorization) if self._through_proxy else to_site(head)
        self._sends_raw = raw_body
        self._sends_chunks = "transfer-encoding" in head.headers.by_name
        self._out.append(head.raw)
        return self._stream

    def send_data(self, stream: int, payload: bytes, raw: bytes = b"") -> None:
        """Send a part of the body; after a switch, of what is passed on."""
        self._state.request_step(Step.DATA)
        if self._state.request is SWITCHED:
            self._sent += len(payload)
            self._out.append(raw or payload)
        else:
            self._send_body(payload, raw)

    def send_end(self, stream: int, trailers: Headers = NO_FIELDS) -> None:
        """Complete the request."""
        switched = self._state.request is SWITCHED
        self._state.request_step(Step.END)
        if switched:
            self.must_close = True
        else:
            self._send_end(trailers)

    def reset(self, stream: int, code: int = 8) -> None:
        """End the exchange, and the connection with it."""
        self._state.fail()
        self.is_ended = self.must_close = True

    def go_away(self, code: int = 0) -> None:
        """End the connection with this exchange."""
        self._closes = True
        if self._state.is_over:
            self.is_ended = self.must_close = True

    # ---- the response

    def receive(self, data: bytes) -> list[ResponseEvent]:
        """Return the events of the next bytes."""
        events: list[ResponseEvent] = []
        if self.is_ended or not data:
            return events
        state = self._state.response
        if state is BODY:
            self._read_body(data, events)
        elif state is SWITCHED:
            events.append(DataReceived(self._stream, data, data))
        elif state is IDLE:
            self._keep(data)
            self._read_heads(events, at_eof=False)
        else:
            self._end("the site sent what nothing asked for", events)
        return events

    def receive_eof(self) -> list[ResponseEvent]:
        """Return the events of the end of what the site sends."""
        events: list[ResponseEvent] = []
        if self.is_ended:
            return events
        if self._state.response is IDLE and self._state.request is not FAILED and self._buffer:
            self._read_heads(events, at_eof=True)
        if self.is_ended:
            return events
        self.is_ended = True
        state = self._state.response
        if state is SWITCHED:
            self._state.response = DONE
            events.append(MessageEnded(self._stream))
        elif state is BODY and self._reader is not None:
            reason = self._reader.eof()
            if reason is None:
                self._state.response = DONE
                events.append(MessageEnded(self._stream))
            else:
                self._state.fail()
                message = f"HTTP/1 protocol error: {reason}"
                events.append(ExchangeFailed(self._stream, message))
        elif state is IDLE:
            self._state.fail()
            events.append(ExchangeFailed(self._stream, "server closed connection"))
        self.must_close = True
        events.append(ConnectionEnded(""))
        return events

    def _read_heads(self, events: list[ResponseEvent], *, at_eof: bool) -> None:
        """Read informational heads and the final one, and the part of its body that has arrived."""
        try:
            while self._buffer and self._state.response is IDLE:
                end = response_head.head_end(self._buffer, self._searched)
                if end is None and not at_eof:
                    self._searched = len(self._buffer)
                    return
                if end is None and self._secure:
                    # The head may have been cut by an attacker.
                    raise InvalidResponse("the connection ended within the answer's head")
                self._read_head(len(self._buffer) if end is None else end, events)
        except InvalidResponse as error:
            self._end(str(error), events)

    def _read_head(self, end: int, events: list[ResponseEvent]) -> None:
        raw, rest = self._take(end)
        head = response_head.parse_response(raw or rest, default_port=self._default_port)
        if head.version == "HTTP/0.9":
            raw, rest = b"", raw + rest
        status = head.status
        if 100 <= status <= 199 and status != 101:
            self._informational += len(raw)
            if self._informational > MAX_HEAD:
                raise InvalidResponse(TOO_MANY_HINTS)
            events.append(InformationalReceived(self._stream, head))
            self._buffer = rest
            return
        size = response_head.response_body_size(self._method, head)
        if status == 101 or (self._method == "CONNECT" and 200 <= status <= 299):
            self._state.response_step(Step.SWITCH)
            events.append(ResponseReceived(self._stream, head, has_body=False))
            if rest:
                events.append(DataReceived(self._stream, rest, rest))
            return
        self._state.response = BODY
        if size == UNTIL_EOF or says_close(head):
            self._closes = True
        events.append(ResponseReceived(self._stream, head, size != 0))
        if size == 0:
            self._complete(NO_FIELDS, rest, events)
            return
        self._reader = (
            ChunkReader(strict=False)
            if size == CHUNKED
            else EofReader()
            if size == UNTIL_EOF
            else LengthReader(size)
        )
        if rest:
            self._read_body(rest, events)

    def _read_body(self, data: bytes, events: list[ResponseEvent]) -> None:
        reader = self._reader
        assert reader is not None
        ended = False
        while data and not ended:
            try:
                payload, used, ended = reader.feed(data)
            except InvalidFraming as error:
                self._end(f"HTTP/1 protocol error: {error}", events)
                return
            raw, data = (data, b"") if used == len(data) else (data[:used], data[used:])
            events.append(DataReceived(self._stream, payload, raw))
        if ended:
            self._reader = None
            self._complete(reader.trailers, data, events)

    def _complete(self, trailers: Headers, rest: bytes, events: list[ResponseEvent]) -> None:
        self._state.response = DONE
        events.append(MessageEnded(self._stream, trailers))
        if rest:
            # Chromium drops it too, and the connection.
            self._closes = True

    def _end(self, message: str, events: list[ResponseEvent]) -> None:
        if not self._state.is_over and self._state.response is not DONE:
            events.append(ExchangeFailed(self._stream, message))
        self._state.fail()
        self.is_ended = self.must_close = True
        events.append(ConnectionEnded(message))
