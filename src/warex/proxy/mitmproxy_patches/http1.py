"""Parts of HTTP/1.1 that mitmproxy lacks, or answers with an error page of its own.

mitmproxy 12 raises on a chunked body with trailers (RFC 9112 §7.1.2) and takes an informational
response such as 103 Early Hints (RFC 8297) for the final one. Here both are passed on.

Responses are parsed as in browsers (``net.response_head``); their heads are passed on unchanged.
An invalid request is answered as a site would (``net.check``).
"""

import re
from collections.abc import Callable
from typing import Any

import h11
from h11._readers import ChunkedReader
from mitmproxy import http
from mitmproxy.net.http import http1, status_codes
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers import http as http_layer
from mitmproxy.proxy.layers.http import _http1
from mitmproxy.proxy.layers.http._base import HttpEvent, ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    ErrorCode,
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
from mitmproxy.proxy.layers.http._http1 import (
    Http1Client,
    Http1Connection,
    Http1Server,
    make_body_reader,
)

from warex.proxy.mitmproxy_patches.http_events import InformationalResponse
from warex.proxy.net import check, response_head
from warex.proxy.net.chunked import LenientChunkedReader
from warex.proxy.net.client_socket import reset

type _Commands = layer.CommandGenerator[None]

_END = (RequestEndOfMessage, ResponseEndOfMessage)


class _Trailers(Http1Connection):
    """Receives and sends the trailers of a chunked body."""

    ReceiveTrailers: type[RequestTrailers | ResponseTrailers]
    _found: http.Headers | None = None
    _to_send: http.Headers | None = None

    def read_body(self, event: events.Event) -> _Commands:
        """Read a body; emit its trailers before its end."""
        if isinstance(self.body_reader, ChunkedReader):
            self.body_reader = _TrailerReader(self.body_reader, self._find)  # type: ignore[assignment]
        for command in super().read_body(event):
            ends = isinstance(command, ReceiveHttp) and isinstance(command.event, _END)
            if ends and self._found is not None:
                trailers, self._found = self._found, None
                yield ReceiveHttp(self.ReceiveTrailers(self.stream_id or 0, trailers))
            yield command

    def _find(self, trailers: http.Headers) -> None:
        self._found = trailers

    def send(self, event: HttpEvent) -> _Commands:
        """Write to the wire; trailers are sent with the last chunk."""
        if isinstance(event, RequestTrailers | ResponseTrailers):
            self._to_send = event.trailers
            return
        for command in super().send(event):
            if (
                self._to_send is not None
                and isinstance(command, commands.SendData)
                and command.data == _LAST_CHUNK
            ):
                last_chunk = b"0\r\n" + bytes(self._to_send) + b"\r\n"
                command = commands.SendData(command.connection, last_chunk)
            yield command
        if isinstance(event, _END):
            self._to_send = None


class WarexHttp1Server(_Trailers, Http1Server):
    """The client's side of an HTTP/1 connection."""

    ReceiveTrailers = RequestTrailers
    _chunks = False
    """Whether the response is sent in chunks."""
    _informational_sent = False
    """Whether an informational response was the last thing sent."""

    def send(self, event: HttpEvent) -> _Commands:
        """Write to the wire; the head of an unchanged response as the site sent it."""
        match event:
            case InformationalResponse():
                yield from self._send_informational(event.response)
            case ResponseHeaders():
                head = response_head.raw_head(event.response)
                if head is None:
                    yield from super().send(event)
                else:
                    self.response = event.response
                    if head:
                        yield commands.SendData(self.conn, head)
                self._chunks = _size(self.request, event.response) is None
                self._informational_sent = False
            case ResponseProtocolError() if self._informational_sent:
                # Browsers take an end after 103 for a complete response.
                reset(self.context.client)
            case ResponseData() if not self._chunks:
                # 101, 204 and HTTP/1.0 have no chunks, whatever their headers say.
                if event.data:
                    yield commands.SendData(self.conn, event.data)
            case ResponseEndOfMessage() if not self._chunks:
                yield from self.mark_done(response=True)
            case _:
                yield from super().send(event)

    def read_headers(self, event: events.ConnectionEvent) -> _Commands:
        """Read the head of a request; answer an invalid one as a site would."""
        if not isinstance(event, events.DataReceived):
            yield from super().read_headers(event)
            return
        self._skip_blank_lines()
        lines = [bytes(line) for line in self.buf.maybe_extract_lines() or ()]
        if not lines:
            if len(self.buf) > response_head.MAX_HEAD_SIZE:
                yield from self._refuse(431, bytes(self.buf._data[:200]), "the head has no end")
            return
        try:
            request = http1.read_request_head(lines)
            size = http1.expected_http_body_size(request)
        except ValueError as error:
            yield from self._refuse(400, lines[0], _strip_data(str(error)))
            return
        if request.http_version not in ("HTTP/1.1", "HTTP/1.0"):
            yield from self._refuse(505, lines[0], "this is another version of HTTP")
            return
        self.request = request
        yield ReceiveHttp(RequestHeaders(self.stream_id, request, size == 0))
        self.body_reader = make_body_reader(size)
        self.state = self.read_body
        yield from self.state(event)

    def _skip_blank_lines(self) -> None:
        """Skip the empty lines that some clients send between requests (RFC 9112 §2.2)."""
        while (data := bytes(self.buf._data[:2])) == b"\r\n" or data[:1] == b"\n":
            self.buf.maybe_extract_at_most(len(data.partition(b"\n")[0]) + 1)

    def _refuse(self, status: int, line: bytes, reason: str) -> _Commands:
        client = self.context.client
        yield check.WarexRequestRejectedHook(check.RejectedRequest(client, status, line, reason))
        yield commands.SendData(self.conn, check.error_page(status))
        yield commands.CloseConnection(self.conn)
        self.state = self.done

    def read_body(self, event: events.Event) -> _Commands:
        """Read a body; answer an invalid one as a site would."""
        for command in super().read_body(event):
            broken = command.event if isinstance(command, ReceiveHttp) else None
            if isinstance(broken, RequestProtocolError) and isinstance(event, events.DataReceived):
                broken.message = _strip_data(broken.message)
                if self.response is None and self.request is not None:
                    line = f"{self.request.method} {self.request.path}"
                    yield from self._refuse(400, line.encode("latin-1", "replace"), broken.message)
                else:
                    yield commands.CloseConnection(self.conn)
            elif isinstance(command, commands.CloseConnection) and self.response is None:
                # The error page comes first.
                if not isinstance(event, events.DataReceived):
                    yield command
                continue
            yield command

    def _send_informational(self, response: http.Response) -> _Commands:
        if self.request is None or self.request.http_version != "HTTP/1.1":
            return  # Older clients would take it for the final response (RFC 9110 §15.2).
        if response.is_http2:
            response = response.copy()
            response.http_version = "HTTP/1.1"
            response.reason = status_codes.RESPONSES.get(response.status_code, "")
        self._informational_sent = True
        head = response_head.raw_head(response) or http1.assemble_response_head(response)
        yield commands.SendData(self.conn, head)


class WarexHttp1Client(_Trailers, Http1Client):
    """The site's side of an HTTP/1 connection."""

    ReceiveTrailers = ResponseTrailers

    def read_headers(self, event: events.ConnectionEvent) -> _Commands:
        """Read informational responses and the head of the final one."""
        if self.request is None or not self.buf:
            yield from super().read_headers(event)
            return
        try:
            while True:
                response = self._read_head(isinstance(event, events.ConnectionClosed))
                if response is None:
                    if isinstance(event, events.ConnectionClosed):
                        yield from super().read_headers(event)
                    return
                if response.status_code // 100 != 1 or response.status_code == 101:
                    break
                yield ReceiveHttp(InformationalResponse(self.stream_id or 0, response))
            size = response_head.body_size(self.request, response)
        except response_head.InvalidResponse as error:
            yield commands.CloseConnection(self.conn)
            broken = ResponseProtocolError(
                self.stream_id or 0, str(error), ErrorCode.GENERIC_SERVER_ERROR
            )
            yield ReceiveHttp(broken)
            return
        self.response = response
        yield ReceiveHttp(ResponseHeaders(self.stream_id or 0, response, size == 0))
        self.body_reader = make_body_reader(size)
        if size is None:
            self.body_reader = LenientChunkedReader(self._find)  # type: ignore[assignment]
        self.state = self.read_body
        if not isinstance(event, events.DataReceived):
            yield from self.state(events.DataReceived(self.conn, b""))
        yield from self.state(event)

    def _read_head(self, at_end: bool) -> http.Response | None:
        """Return the next head; None if more data is needed. Raises InvalidResponse."""
        assert self.request is not None
        data = bytes(self.buf)
        length = response_head.head_length(data)
        if length is None and not (at_end and data):
            return None
        if length is None:
            if self.conn.tls:
                # The head may have been cut by an attacker.
                raise response_head.InvalidResponse("the connection ended within the answer's head")
            length = len(data)
        is_default = _is_default_port(self.request)
        response = response_head.parse_head(data[:length] or data, default_port=is_default)
        if response.http_version != "HTTP/0.9":
            self.buf.maybe_extract_at_most(length)
        return response


def _strip_data(message: str) -> str:
    """Remove the quoted input from an error message: it may contain a password."""
    return re.split(r": (?:bytearray\()?b['\"]", message, maxsplit=1)[0]


def _is_default_port(request: http.Request) -> bool:
    """Whether the request is for a scheme's default port."""
    port = (request.host_header or "").rpartition(":")[2]
    return port in ("80", "443") or not port.isdecimal()


def _size(request: http.Request | None, response: http.Response) -> int | None:
    """Return the size of a body that is sent to a client, as ``body_size`` does."""
    try:
        return response_head.body_size(request, response) if request is not None else -1
    except response_head.InvalidResponse:
        return -1


_LAST_CHUNK = b"0\r\n\r\n"


class _TrailerReader:
    """A body reader that passes the trailers to a callback."""

    def __init__(self, reader: Any, found: Callable[[http.Headers], None]) -> None:
        self._reader, self._found = reader, found

    def __call__(self, buffer: Any) -> Any:
        return self._without_trailers(self._reader(buffer))

    def read_eof(self) -> Any:
        return self._without_trailers(self._reader.read_eof())

    def _without_trailers(self, event: Any) -> Any:
        if isinstance(event, h11.EndOfMessage) and event.headers:
            self._found(http.Headers(event.headers.raw_items()))
            return h11.EndOfMessage()
        return event


_request_body_size = http1.expected_http_body_size


def _expected_body_size(request: http.Request, response: http.Response | None = None) -> int | None:
    if response is None:
        return _request_body_size(request)
    return response_head.body_size(request, response)


def install() -> None:
    """Have mitmproxy use our connections and error pages."""
    _http1.make_error_response = lambda status_code, message="": check.error_page(status_code)
    http1.expected_http_body_size = _expected_body_size
    http_layer.Http1Server = WarexHttp1Server  # type: ignore[attr-defined]
    http_layer.Http1Client = WarexHttp1Client  # type: ignore[attr-defined]
