"""What a connection reports of the bytes that it was given; the same for both versions of HTTP."""

from typing import Final

from msgspec import Struct

from warex.engine.http.heads import NO_FIELDS, Headers, RequestHead, ResponseHead

TOO_MANY_HINTS: Final = "the site sent more than 256 KiB of informational responses"
"""Why an exchange fails whose site sends them without end."""


class RequestReceived(Struct, frozen=True):
    """A client has sent the head of a request."""

    stream: int
    """Numbers the exchanges of a connection; on HTTP/1 from 1 on."""
    head: RequestHead
    has_body: bool
    """Whether a body may follow; ``MessageEnded`` comes in either case."""


class InformationalReceived(Struct, frozen=True):
    """A site has sent an informational response other than 101 (RFC 9110 §15.2)."""

    stream: int
    head: ResponseHead


class ResponseReceived(Struct, frozen=True):
    """A site has sent the head of the final response."""

    stream: int
    head: ResponseHead
    has_body: bool
    """Whether a body may follow; ``MessageEnded`` comes in either case, but for a switch."""


class DataReceived(Struct, frozen=True):
    """A part of a body has come."""

    stream: int
    payload: bytes
    """Without framing; it may be empty."""
    raw: bytes = b""
    """As it came, with the framing of HTTP/1; empty on HTTP/2."""
    flow: int = 0
    """Bytes to ``acknowledge`` once they are sent on; 0 on HTTP/1."""


class MessageEnded(Struct, frozen=True):
    """A request or a response is complete."""

    stream: int
    trailers: Headers = NO_FIELDS


class RequestRejected(Struct, frozen=True):
    """A request is refused; on HTTP/1 the answer to it is the connection's last."""

    stream: int
    status: int
    line: bytes
    """Its request line, or what came in its place; at most 8 KiB."""
    reason: str


class ExchangeFailed(Struct, frozen=True):
    """The peer has ended an exchange early.

    After a complete response with code 0, the site wants no more of the request (RFC 9113 §8.1).
    """

    stream: int
    message: str
    code: int | None = None
    """The error code of HTTP/2 (RFC 9113 §7)."""
    unprocessed: bool = False
    """Whether the site refused the request so that it may be sent again (RFC 9113 §8.7)."""


class DataQueueEmptied(Struct, frozen=True):
    """What waited for a stream's flow control has been sent."""

    stream: int


class GoingAway(Struct, frozen=True):
    """The peer takes no further exchange on this connection; open ones go on."""

    code: int = 0


class ConnectionEnded(Struct, frozen=True):
    """Nothing more can be read; each incomplete message has got its ``ExchangeFailed`` before.

    A request that is complete can still be answered on HTTP/1: its client is half-closed.
    """

    message: str
    """Empty after an orderly end."""


type RequestEvent = (
    RequestReceived
    | DataReceived
    | MessageEnded
    | RequestRejected
    | ExchangeFailed
    | DataQueueEmptied
    | GoingAway
    | ConnectionEnded
)
"""What the connection towards a client reports."""

type ResponseEvent = (
    InformationalReceived
    | ResponseReceived
    | DataReceived
    | MessageEnded
    | ExchangeFailed
    | DataQueueEmptied
    | GoingAway
    | ConnectionEnded
)
"""What the connection towards a site reports."""
