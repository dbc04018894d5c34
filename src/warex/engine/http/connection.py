"""What the connections of both versions of HTTP have in common: bytes in, events and bytes out.

A connection does no I/O. Bytes that were read go to ``receive``; after any call, what
``data_to_send`` returns is to be written, and then the connection closed if ``must_close``.
"""

from typing import Protocol

from warex.engine.http.events import RequestEvent, ResponseEvent
from warex.engine.http.heads import NO_FIELDS, Headers, RequestHead, ResponseHead


class HttpConnection(Protocol):
    """What both roles share."""

    @property
    def must_close(self) -> bool:
        """Whether the connection ends once ``data_to_send`` is written."""

    @property
    def wants_data(self) -> bool:
        """Whether reading may go on; False while pipelined requests wait."""

    @property
    def has_more(self) -> bool:
        """Whether bytes that were received are left for the next ``receive``, a turn later."""

    def data_to_send(self) -> bytes:
        """Return what is to be written, once."""

    def send_data(self, stream: int, payload: bytes, raw: bytes = b"") -> None:
        """Send a part of a body; ``raw`` in place of ``payload`` where the head said so."""

    def send_end(self, stream: int, trailers: Headers = NO_FIELDS) -> None:
        """Complete the message."""

    def reset(self, stream: int, code: int = 8) -> None:
        """End an exchange; on HTTP/1 the connection with it."""

    def acknowledge(self, stream: int, size: int) -> None:
        """Let the peer send as many bytes more; nothing on HTTP/1."""

    def queued(self, stream: int) -> int:
        """Return the bytes of a body that wait for flow control."""

    def sent(self, stream: int) -> int:
        """Return the bytes of a body past flow control, without framing."""

    def go_away(self, code: int = 0) -> None:
        """Take no further exchange."""


class ServerConnection(HttpConnection, Protocol):
    """A connection towards a client."""

    def receive(self, data: bytes) -> list[RequestEvent]:
        """Return the events of the next bytes; without bytes, those of bytes that waited.

        On HTTP/1 the next request waits until the exchange before it is complete both ways:
        call this with nothing after ``send_end``.
        """

    def receive_eof(self) -> list[RequestEvent]:
        """Return the events of the end of what the client sends."""

    def send_informational(self, stream: int, head: ResponseHead) -> None:
        """Send an informational response; nothing to clients that do not know them."""

    def send_response(self, stream: int, head: ResponseHead, *, raw_body: bool = False) -> None:
        """Send the head of the final response.

        ``raw_body``: ``send_data`` will pass on the site's framing of HTTP/1. Otherwise the body
        is framed again, as the head says; a head that says nothing gets chunks.
        """


class ClientConnection(HttpConnection, Protocol):
    """A connection towards a site."""

    @property
    def reusable(self) -> bool:
        """Whether another request may be sent now."""

    def receive(self, data: bytes) -> list[ResponseEvent]:
        """Return the events of the next bytes."""

    def receive_eof(self) -> list[ResponseEvent]:
        """Return the events of the end of what the site sends."""

    def send_request(self, head: RequestHead, *, raw_body: bool = False, has_body: bool) -> int:
        """Send the head of a request and return its stream; ``raw_body`` as for a response."""
