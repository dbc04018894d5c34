"""What a connection reports of the bytes that it was given; the same for both versions of HTTP."""

from dataclasses import dataclass

from warex.engine.http.heads import NO_FIELDS, Headers, RequestHead, ResponseHead


@dataclass(frozen=True, slots=True)
class RequestReceived:
    """A client has sent the head of a request."""

    stream: int
    """Numbers the exchanges of a connection; on HTTP/1 from 1 on."""
    head: RequestHead
    has_body: bool
    """Whether a body may follow; ``MessageEnded`` comes in either case."""


@dataclass(frozen=True, slots=True)
class InformationalReceived:
    """A site has sent an informational response other than 101 (RFC 9110 §15.2)."""

    stream: int
    head: ResponseHead


@dataclass(frozen=True, slots=True)
class ResponseReceived:
    """A site has sent the head of the final response."""

    stream: int
    head: ResponseHead
    has_body: bool
    """Whether a body may follow; ``MessageEnded`` comes in either case, but for a switch."""


@dataclass(frozen=True, slots=True)
class DataReceived:
    """A part of a body has come."""

    stream: int
    payload: bytes
    """Without framing; it may be empty."""
    raw: bytes = b""
    """As it came, with the framing of HTTP/1; empty on HTTP/2."""
    flow: int = 0
    """Bytes to ``acknowledge`` once they are sent on; 0 on HTTP/1."""


@dataclass(frozen=True, slots=True)
class MessageEnded:
    """A request or a response is complete."""

    stream: int
    trailers: Headers = NO_FIELDS


@dataclass(frozen=True, slots=True)
class RequestRejected:
    """A request is refused; on HTTP/1 the answer to it is the connection's last."""

    stream: int
    status: int
    line: bytes
    """Its request line, or what came in its place; at most 8 KiB."""
    reason: str


@dataclass(frozen=True, slots=True)
class ExchangeFailed:
    """The peer has ended an exchange early.

    After a complete response with code 0, the site wants no more of the request (RFC 9113 §8.1).
    """

    stream: int
    message: str
    code: int | None = None
    """The error code of HTTP/2 (RFC 9113 §7)."""
    unprocessed: bool = False
    """Whether the site refused the request so that it may be sent again (RFC 9113 §8.7)."""


@dataclass(frozen=True, slots=True)
class DataQueueEmptied:
    """What waited for a stream's flow control has been sent."""

    stream: int


@dataclass(frozen=True, slots=True)
class GoingAway:
    """The peer takes no further exchange on this connection; open ones go on."""

    code: int = 0


@dataclass(frozen=True, slots=True)
class ConnectionEnded:
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
