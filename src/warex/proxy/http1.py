"""HTTP/1.1 where mitmproxy leaves it out: trailers, and answers that come before the answer.

mitmproxy 12 breaks on a chunked body with trailers (RFC 9112 §7.1.2) and takes an informational
answer such as 103 Early Hints (RFC 8297) for the real one. Sites may send both, and neither may
end a trial. Both are passed on.
"""

from collections.abc import Callable
from typing import Any

import h11
from h11._readers import ChunkedReader
from mitmproxy import http
from mitmproxy.net.http import http1, status_codes
from mitmproxy.proxy import commands, events, layer
from mitmproxy.proxy.layers import http as http_layer
from mitmproxy.proxy.layers.http._base import HttpEvent, ReceiveHttp
from mitmproxy.proxy.layers.http._events import (
    RequestEndOfMessage,
    RequestTrailers,
    ResponseEndOfMessage,
    ResponseTrailers,
)
from mitmproxy.proxy.layers.http._http1 import Http1Client, Http1Connection, Http1Server

from warex.proxy.http_events import Informational

type _Commands = layer.CommandGenerator[None]

_END = (RequestEndOfMessage, ResponseEndOfMessage)


class _Trailers(Http1Connection):
    """Receives and sends the fields after a chunked body."""

    ReceiveTrailers: type[RequestTrailers | ResponseTrailers]
    _found: http.Headers | None = None
    _to_send: http.Headers | None = None

    def read_body(self, event: events.Event) -> _Commands:
        """Read a body, and say what trailers it had before saying that it ended."""
        if isinstance(self.body_reader, ChunkedReader):
            self.body_reader = _Watched(self.body_reader, self._find)  # type: ignore[assignment]
        for command in super().read_body(event):
            ends = isinstance(command, ReceiveHttp) and isinstance(command.event, _END)
            if ends and self._found is not None:
                trailers, self._found = self._found, None
                yield ReceiveHttp(self.ReceiveTrailers(self.stream_id or 0, trailers))
            yield command

    def _find(self, trailers: http.Headers) -> None:
        self._found = trailers

    def send(self, event: HttpEvent) -> _Commands:
        """Write to the wire; trailers go out with the last chunk."""
        if isinstance(event, RequestTrailers | ResponseTrailers):
            self._to_send = event.trailers
            return
        for command in super().send(event):
            if (
                self._to_send is not None
                and isinstance(command, commands.SendData)
                and command.data == _LAST_CHUNK
            ):
                command = commands.SendData(command.connection, _last_chunk(self._to_send))
            yield command
        if isinstance(event, _END):
            self._to_send = None


class WarexHttp1Server(_Trailers, Http1Server):
    """The client's side of an HTTP/1 connection."""

    ReceiveTrailers = RequestTrailers

    def send(self, event: HttpEvent) -> _Commands:
        """Write to the wire; what comes before the answer does not count as it."""
        if isinstance(event, Informational):
            yield from self._send_informational(event.response)
            return
        yield from super().send(event)

    def _send_informational(self, response: http.Response) -> _Commands:
        if self.request is None or self.request.http_version != "HTTP/1.1":
            # Older clients would take it for the answer (RFC 9110 §15.2).
            return
        if response.is_http2:
            response = response.copy()
            response.http_version = "HTTP/1.1"
            response.reason = status_codes.RESPONSES.get(response.status_code, "")
        yield commands.SendData(self.conn, http1.assemble_response_head(response))


class WarexHttp1Client(_Trailers, Http1Client):
    """The site's side of an HTTP/1 connection."""

    ReceiveTrailers = ResponseTrailers

    def read_headers(self, event: events.ConnectionEvent) -> _Commands:
        """Read the head of the answer, behind informational ones."""
        while self.request is not None and _is_informational(bytes(self.buf)):
            lines = [bytes(line) for line in self.buf.maybe_extract_lines() or ()]
            try:
                response = http1.read_response_head(lines)
            except ValueError:
                # Nobody can read it; the answer is still to come.
                continue
            yield ReceiveHttp(Informational(self.stream_id or 0, response))
        yield from super().read_headers(event)


_LAST_CHUNK = b"0\r\n\r\n"


def _last_chunk(trailers: http.Headers) -> bytes:
    return b"0\r\n" + bytes(trailers) + b"\r\n"


def _is_informational(data: bytes) -> bool:
    """Whether the data begins with a whole 1xx head that is not the last word (101 is)."""
    line, _, _ = data.partition(b"\r\n")
    status = line.split(b" ", 2)[1:2]
    is_it = line.startswith(b"HTTP/1.") and status[:1] != [] and status[0][:1] == b"1"
    return is_it and status[0] != b"101" and b"\r\n\r\n" in data


class _Watched:
    """A body reader that hands the trailers over instead of leaving them in the last event."""

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


def install() -> None:
    """Have mitmproxy make our connections."""
    http_layer.Http1Server = WarexHttp1Server  # type: ignore[attr-defined]
    http_layer.Http1Client = WarexHttp1Client  # type: ignore[attr-defined]
