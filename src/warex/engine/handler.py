"""The interface between the engine and the part that decides: questions and possible answers.

The engine calls a ``Handler`` as bytes arrive and does what the returned plan says. A handler is
synchronous, decides from what it is given, and does no I/O; the engine decides nothing.

One exchange: ``request_head`` → ``request`` → [the site] → ``response`` → (``whole_response``) →
``response_piece``* → (``stopped``) → ``ended``. ``hold_ended`` follows each plan that holds, once
its holds are over and the client is still there. ``ended`` is called exactly once for every
exchange whose ``request_head`` was called, whatever happens to it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, Protocol

from msgspec import Struct

from warex.engine.http.byte_rate import ByteRate
from warex.engine.http.heads import Headers, HttpVersion, RequestHead, ResponseHead
from warex.engine.http.malformed import Defect as Defect
from warex.engine.http.websocket import Frame as Frame
from warex.exchange import SiteFailure as SiteFailure

type AbortHow = Literal["close", "reset"]
"""An orderly end, or a TCP reset. On HTTP/2 a close ends the stream, a reset the connection."""
type CertificateDefect = Literal["expired", "wrong_host", "self_signed", "unknown_ca"]

# ---- what the engine knows


class Address(Struct, frozen=True):
    """Where a connection goes: a name or an IP address without brackets, and a port."""

    host: str
    port: int


class ClientHello(Struct, frozen=True):
    """What a client says first (RFC 8446 §4.1.2)."""

    sni: str
    """Empty without the extension."""
    alpn: tuple[bytes, ...] = ()
    cipher_suites: tuple[int, ...] = ()


class Connection(Struct, eq=False):
    """One connection of a client, as the engine fills it in."""

    number: int
    """From 1, in the order in which the engine accepted them."""
    client: Address
    destination: Address | None = None
    """Where it goes: CONNECT's authority or the original destination; None for a client that sends
    its proxy whole URLs."""
    hello: ClientHello | None = None
    """None for a connection without TLS."""
    port: int = 0
    """Where the proxy accepted it; 0 for a redirected connection."""
    is_redirected: bool = False
    """Whether its client does not know of this proxy; a proxy that it speaks to is its own."""
    version: HttpVersion = "HTTP/1.1"
    proxy_user: str = ""
    """User name of ``Proxy-Authorization: Basic``; it may name an episode."""
    certificate_sent: bool = False
    """Whether our certificate was sent to a client that was there."""
    sent_to_client: int = 0
    sent_to_site: int = 0
    """Bytes of a connection that is passed through."""
    state: Any = None
    """Belongs to the handler."""

    @property
    def host(self) -> str:
        """The host that the client wants, by SNI where there is one; empty if unknown."""
        if self.hello is not None and self.hello.sni:
            return self.hello.sni
        return self.destination.host if self.destination is not None else ""


class Exchange(Struct, eq=False):
    """One request and its answer, as the engine fills them in."""

    connection: Connection
    request: RequestHead
    request_body: bytes | None = None
    """Complete, as it came; None if it is streamed."""
    request_bytes: int = 0
    """Bytes of the request's body so far, without its framing."""
    is_given_up: bool = False
    """Whether the client had given it up before ``request_head`` was asked (HTTP/2)."""
    response: ResponseHead | None = None
    """The site's, or the planned one."""
    response_body: bytes | None = None
    """As it came; only for ``whole_response``."""
    response_complete: bool = False
    """Whether ``response_body`` is all of it, and not only its beginning."""
    state: Any = None
    """Belongs to the handler."""


type End = Literal["complete", "client_left", "site_failed", "aborted", "shut_down"]


class ExchangeTimings(Struct, frozen=True, kw_only=True):
    """Seconds of Unix time; None for what did not happen."""

    started: float
    request_complete: float | None = None
    connect_started: float | None = None
    """Only if this exchange opened the connection to the site; the two below as well."""
    connected: float | None = None
    secured: float | None = None
    response_started: float | None = None
    ended: float


class Outcome(Struct, frozen=True, kw_only=True):
    """How an exchange ended: facts of the wire only."""

    end: End
    error: str | None = None
    """A sentence for the trace; None if complete."""
    held_s: float = 0.0
    """Seconds of all holds and of the pauses between pieces, finished or not."""
    left_while_held: bool = False
    """Whether the client left during a hold or a pause."""
    head_sent: bool = False
    """Whether the head of the response has left for the client."""
    request_bytes: int = 0
    """Bytes of the request's body, without its framing."""
    response_bytes: int = 0
    """Bytes of the response's body past flow control, without its framing."""
    arrived: bool = False
    """Whether everything that was planned is acknowledged by the client's system, or the client
    read it to its end."""
    copies_sent: int = 0
    """Further requests of ``Forward.copies`` that the site has answered."""
    stops: int = 0
    """How many of the pace's stops were reached: the client's system has all that comes before."""
    refused_unprocessed: bool = False
    """Whether the site refused the request so that it may be sent again (RFC 9113 §8.7)."""
    unreachable: SiteFailure | None = None
    """Why no connection to the site could be made; None if one was, or none was needed."""
    timings: ExchangeTimings


# ---- plans for a connection


class Site(Struct, frozen=True):
    """Another origin than the client's: where a mapped host's requests go."""

    scheme: Literal["http", "https"]
    address: Address
    direct: bool = True
    """Whether it is reached without the upstream proxy, if there is one."""


class Intercept(Struct, frozen=True):
    """Read the connection, with a certificate of WAREX's own for its host."""

    site: Site | None = None
    """None: where the client wants to go."""
    defect: CertificateDefect | None = None
    site_first: bool = True
    """Connect to the site before the client's handshake and mirror its ALPN."""
    needs_site: bool = True
    """If that fails: whether the client meets the site's failure at once. Otherwise its handshake
    goes on, and its first request that is forwarded meets it."""
    hold_s: float = 0.0
    """Seconds before the handshake."""
    http2: bool = True
    """Whether HTTP/2 may be chosen."""


class Tunnel(Struct, frozen=True):
    """Pass the connection's bytes on unread."""

    address: Address | None = None


class AbortConnection(Struct, frozen=True):
    """End the connection before its handshake."""

    how: AbortHow
    hold_s: float = 0.0


class Stall(Struct, frozen=True):
    """Never answer the ClientHello, until the client leaves."""


type ConnectionPlan = Intercept | Tunnel | AbortConnection | Stall

type Handshake = Literal["established", "rejected", "left", "aborted"]
"""Whether the client took our certificate, sent an alert, or left without one; or was there when
the plan's ``AbortConnection`` ended it."""

# ---- plans for an exchange


class Forward(Struct, frozen=True):
    """Send the request to the site."""

    head: RequestHead | None = None
    """A changed head; None sends the client's as it came, but for hop-by-hop fields."""
    body: bytes | None = None
    """A changed body; the engine corrects its framing. None sends the client's."""
    site: Site | None = None
    """None: the connection's."""
    copies: int = 0
    """How many times it is sent to the site before, each answer read to its end and dropped."""


class Stop(Struct, frozen=True):
    """A place in a body at which it falls silent, and what follows."""

    at: int
    """Bytes of the body that leave before, without framing."""
    silence_s: float = 0.0
    """Seconds; infinite for a silence that lasts until the client leaves."""
    then: Literal["go_on"] | AbortHow = "go_on"


class Pace(Struct, frozen=True):
    """How the body of an answer is sent, if not as fast as the client takes it."""

    limits: tuple[ByteRate, ...] = ()
    """Shared with other exchanges, maybe."""
    piece: int = 0
    """Bytes between two pauses; 0: there is one between two pieces of the plan."""
    pause_s: float = 0.0
    """Seconds of each pause."""
    stops: tuple[Stop, ...] = ()
    """In order of their places. A body that is shorter does not reach them."""


class Respond(Struct, frozen=True):
    """Answer with this: an answer of WAREX's own, or the site's in another form."""

    status: int
    headers: Headers
    pieces: Sequence[bytes] = ()
    """The body, without framing. The engine sets Content-Length or chunks as the head says."""
    pace: Pace | None = None
    tap: bool = False
    """Whether ``response_piece`` is asked for each piece, just before it is sent."""
    defect: Defect | None = None
    """How it breaks the rules of HTTP; the client's version must have it, and nothing is tapped."""

    @property
    def pause_s(self) -> float:
        """Seconds between two pieces."""
        return 0.0 if self.pace is None else self.pace.pause_s

    @property
    def cut(self) -> AbortHow | None:
        """How the connection ends within the body; None if the message is complete."""
        ends = [stop.then for stop in self.pace.stops] if self.pace is not None else []
        return next((how for how in ends if how != "go_on"), None)


class Relay(Struct, frozen=True):
    """Send the site's response on as it comes."""

    head: ResponseHead | None = None
    """A changed head; None sends the site's as it came."""
    tap: bool = False
    """Whether ``response_piece`` is asked for each piece of the body, and may change it. The
    engine then frames the body again only if ``changes_length``."""
    changes_length: bool = False
    only_reads: bool = False
    """Whether ``response_piece`` returns each piece as it came."""
    pace: Pace | None = None
    """How what ``response_piece`` returns is sent; the engine then frames the body again."""
    steps: bool = False
    """Whether ``body_steps`` is asked in place of ``response_piece``."""
    reads_on: bool = False
    """Whether ``read_on`` is asked after each piece."""


class EndBody(Struct, frozen=True):
    """Complete a body here, as if that were all."""


class Happened(Struct, frozen=True):
    """Asks for ``steps_done`` once all steps that come before it are done."""

    note: Any


type BodyStep = bytes | Stop | EndBody | Happened
"""What is done for a piece of a body, in order; the place of a ``Stop`` is its turn."""


class ReadWhole(Struct, frozen=True):
    """Read the response to its end or until ``limit`` bytes came, then ask ``whole_response``.

    A plan to relay it is for all of it, from its first byte. With a limit of one byte, only the
    beginning is waited for.
    """

    limit: int


class Abort(Struct, frozen=True):
    """End the exchange without an answer, or within the head of the site's."""

    how: AbortHow
    head_bytes: int = 0
    """Bytes of the head that are sent, all but the last one at most; none on HTTP/2, where a head
    is one frame."""


class Plan[T](Struct, frozen=True):
    """What happens next, after a hold."""

    then: T
    hold_s: tuple[float, ...] = ()
    """Seconds of each hold, in order; a client that leaves meanwhile ends the exchange."""


type RequestPlan = Plan[Forward | Respond | Abort]
type ResponsePlan = Plan[Relay | Respond | Abort | ReadWhole]
type WholeResponsePlan = Plan[Relay | Respond | Abort]

# ---- what becomes of a WebSocket's frames

type FrameUse = Literal["read", "change"]
"""What a handler does with WebSocket frames."""


class HoldMessages(Struct, frozen=True):
    """Hold what follows of a side, for a time; its pings and pongs pass."""

    seconds: float
    """Infinite: nothing of it follows any more, but for a Close frame."""


class AwaitRate(Struct, frozen=True):
    """Hold what follows of a side until so many bytes may leave, which all the limits count."""

    limits: tuple[ByteRate, ...]
    size: int
    since: float
    """Second of the clock from which on they could have left."""


class EndSocket(Struct, frozen=True):
    """End a WebSocket: with a Close frame to either side, or with a TCP reset."""

    how: AbortHow
    code: int = 0
    """Of the Close frame (RFC 6455 §7.4)."""
    reason: str = ""
    note: Any = None
    """For ``steps_done``, which is called with whether the client was there."""


type FrameStep = Frame | HoldMessages | AwaitRate | EndSocket | Happened
"""What is done for a frame, in order."""

type Need = Literal["whole", "stream"]
"""How much of the request's body ``request`` needs: all of it, if it is not longer than
``MAX_WHOLE_REQUEST``, or nothing."""

MAX_WHOLE_REQUEST: Final = 64 * 1024 * 1024
"""Bytes of a body that are kept; of a longer one, which is streamed, ``request_body`` is None."""


class Rejection(Struct, frozen=True):
    """A request that the engine does not forward, and why."""

    status: int
    line: bytes
    """Its request line, or the bytes in its place; at most 8 KiB."""
    reason: str


# ---- the handler


class Handler(Protocol):
    """Decides for the connections of one episode. No method may block or raise."""

    def connected(self, connection: Connection) -> None:
        """Take note of a new connection; its destination may not be known yet."""

    def connect(self, connection: Connection) -> Site | None:
        """Say which site is connected to before a CONNECT is answered; None answers it at once.

        If that fails, ``unreachable`` follows, and the client is answered 502 or 504.
        """

    def hello(self, connection: Connection) -> ConnectionPlan:
        """Decide what happens to a connection whose ClientHello was read."""

    def handshake(self, connection: Connection, ended: Handshake, reason: str) -> None:
        """Take note of how the client's handshake ended.

        ``reason``: the alert in OpenSSL's words, such as ``tlsv1 alert unknown ca``, or the error.
        """

    def unreachable(self, connection: Connection, failure: SiteFailure, error: str) -> None:
        """Take note that the site could not be reached before an exchange; the client meets it."""

    def not_http(self, connection: Connection) -> bool:
        """Say whether a connection that is neither TLS nor HTTP is passed on unread, or closed."""

    def rejected(self, connection: Connection, rejection: Rejection) -> None:
        """Take note of a request that the engine has refused or made unambiguous."""

    def closed(self, connection: Connection) -> None:
        """Take note of the end of a connection, after the end of its exchanges."""

    def request_head(self, exchange: Exchange) -> Need:
        """Return how much of the body ``request`` needs."""

    def request(self, exchange: Exchange) -> RequestPlan:
        """Decide before the site is asked."""

    def hold_ended(self, exchange: Exchange) -> None:
        """Take note that the holds of the last plan are over, before the rest of it is done."""

    def response(self, exchange: Exchange) -> ResponsePlan:
        """Decide by the head of the site's response."""

    def whole_response(self, exchange: Exchange) -> WholeResponsePlan:
        """Decide by the complete response, or by its beginning if it is longer."""

    def response_piece(self, exchange: Exchange, piece: bytes, *, last: bool) -> Iterable[bytes]:
        """Return what is sent for a piece of the body; ``last``: with an empty piece at its end."""

    def read_on(self, exchange: Exchange) -> bool:
        """Work for some milliseconds on what has passed; return whether more is left.

        It is asked once in a turn of the event loop, before more of the body is taken.
        """

    def body_steps(self, exchange: Exchange, piece: bytes, *, last: bool) -> Iterable[BodyStep]:
        """Return what is done for a piece of the body, as ``response_piece``."""

    def frame(self, exchange: Exchange, frame: Frame, *, from_client: bool) -> Iterable[FrameStep]:
        """Return what is done for a WebSocket frame; only after ``wants_frames``.

        For frames that are only read it returns the frame, or nothing to stop the bytes.
        """

    def frames_end(self, exchange: Exchange, *, from_client: bool) -> Iterable[FrameStep]:
        """Return what is left to be done when a side has ended; only if it changes frames."""

    def steps_done(self, exchange: Exchange, note: Any, *, arrived: bool) -> None:
        """Take note that the steps before a ``Happened`` are done.

        ``arrived``: whether what they sent was taken, and the receiver is still connected.
        """

    def wants_frames(self, exchange: Exchange) -> FrameUse | None:
        """Say what is done with the frames of an upgraded exchange; if nothing, its bytes pass."""

    def stopped(self, exchange: Exchange, stop: Stop) -> None:
        """Take note that a body goes no further: it is cut next, or silent for good."""

    def ended(self, exchange: Exchange, outcome: Outcome) -> None:
        """Take note of the end of an exchange, once; of an upgraded one after its 101."""

    def upgrade_closed(self, exchange: Exchange, *, by_client: bool) -> None:
        """Take note of the end of an upgraded connection, after ``ended``."""

    def broke(self, error: Exception) -> None:
        """Take note that the engine's machinery or the handler's own broke; never fails itself."""


class Handlers(Protocol):
    """Says which handler decides.

    A connection's handler decides for its exchanges, too, unless a request says otherwise. Another
    handler then sees a ``Connection`` of its own, with its exchanges only, and has its own
    connections to sites.
    """

    def of_connection(self, connection: Connection) -> Handler:
        """Return the handler of a new connection; asked again once its proxy user is known."""

    def of_request(self, connection: Connection, head: RequestHead) -> Handler:
        """Return the handler of a request on a connection."""


class Timer(Protocol):
    """A call that is due later."""

    def cancel(self) -> None:
        """Do not make it."""


class Control(Protocol):
    """What a handler may ask of the engine from outside its methods."""

    def push(self, exchange: Exchange, piece: bytes) -> bool:
        """Insert a piece into a response body that is being relayed; False if it has ended."""

    def add_frames(
        self, exchange: Exchange, steps: Iterable[FrameStep], *, from_client: bool
    ) -> None:
        """Do further steps for a side of an open WebSocket; nothing if it has ended."""

    def abort(self, exchange: Exchange, how: AbortHow) -> None:
        """End an open exchange."""

    def close(self, connection: Connection) -> None:
        """Close a connection in order, once its open exchanges have ended."""

    def call_later(self, seconds: float, function: Callable[[], None]) -> Timer:
        """Call a function, which never fails, once after some time."""
