"""The effects that a fault can ask the proxy for, and the properties of each kind."""

from collections.abc import Callable, Mapping
from typing import ClassVar, Final, Literal, get_args

import msgspec

from warex.llm.base import StreamErrorKind, StreamPoint
from warex.mcp.changes import Change
from warex.rewriting.base import Edit, ValueChange
from warex.rewriting.json_body.edit import JsonEdit
from warex.rewriting.message_selection import MessageSelection


class EffectProperties(msgspec.Struct, frozen=True, kw_only=True):
    """Properties of every effect of one kind."""

    is_terminal: bool = False
    """No other effect can follow it in the exchange or connection try."""
    sends_no_response: bool = False
    """The client gets no HTTP response."""
    opens_no_connection: bool = False
    """No connection to the site is opened."""
    works_without_site: bool = False
    """At a request, it can be produced though the site is down."""
    kernel: Literal["refuse", "drop"] | None = None
    """What the kernel does to the connection, for effects that the proxy cannot produce itself."""
    holds: bool = False
    """It only delays the exchange."""
    keeps_response: bool = False
    """The client gets the site's own answer, complete, perhaps late."""
    paces: bool = False
    """It says when which part of an answer's body leaves."""
    rewrites: bool = False
    """The client gets the site's own answer with changes."""
    malforms: bool = False
    """The client gets the site's own answer in a form that HTTP does not allow."""
    changes_messages: bool = False
    """It changes messages of a channel that stays open after the exchange's head."""
    depends_on_site: bool = False
    """It may have no effect: the site has no earlier answer, or takes no second request."""
    recoverable_by_retry: bool = True
    """The same request again gets the site's own answer, unless it is hit again."""
    judged_by_values: bool = False
    """Recovery is judged by the changed values, if the ledger has them."""


class Delay(msgspec.Struct, frozen=True):
    """Hold the exchange, then continue."""

    name: ClassVar = "delay"
    traits: ClassVar[EffectProperties] = EffectProperties(holds=True, keeps_response=True)

    seconds: float


class WallExit(msgspec.Struct, frozen=True):
    """A path of the same site; a request to it means that the client passed the wall."""

    path: str
    back: str
    """Where the client is redirected: path and query."""
    cookie: str
    """The cookie that the client is given: ``name=value``."""
    code: str = ""
    """Digits that the form's ``code`` must have; empty for no code."""
    opens_at: float = 0.0
    """Second of the trial from which it can be passed."""
    refusal: bytes = b""
    """The page that is shown for a wrong code, and before it opens."""
    pages: Mapping[str, bytes] = {}
    """Further pages, by what follows the path and a slash."""


class Reply(msgspec.Struct, frozen=True):
    """Answer with this instead of the site's answer."""

    name: ClassVar = "reply"
    traits: ClassVar[EffectProperties] = EffectProperties(is_terminal=True, works_without_site=True)

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b""
    echo_json: bool = False
    """Whether to return the JSON object of the request, with the members of ``body`` added."""
    cookies: tuple[str, ...] = ()
    """The values of ``Set-Cookie`` fields."""
    wall_exit: WallExit | None = None
    """How to pass it, if it is a wall."""
    page: str = ""
    """The body's family of error pages; empty for none."""
    changes: tuple[ValueChange, ...] = ()
    """What is different because of it, as the ledger tells it."""


class Cut(msgspec.Struct, frozen=True):
    """End the connection without an answer: an orderly ``close``, or a TCP ``reset``.

    On HTTP/2 a close ends the stream (RFC 9113 RST_STREAM); a reset ends the connection.
    """

    name: ClassVar = "cut"
    traits: ClassVar[EffectProperties] = EffectProperties(
        is_terminal=True, sends_no_response=True, works_without_site=True
    )

    how: Literal["close", "reset"] = "close"
    head_bytes: int = 0
    """Bytes of the head of the site's answer that leave before; none on HTTP/2."""
    ends_open: bool = False
    """Whether the open exchanges and WebSockets that the rule is about are reset, too."""


class Trickle(msgspec.Struct, frozen=True):
    """Forward the site's answer in pieces, with a pause before each except the first."""

    name: ClassVar = "trickle"
    traits: ClassVar[EffectProperties] = EffectProperties(keeps_response=True, paces=True)

    pause: float
    """Seconds."""
    pieces: int = 0
    """How many equal pieces; with neither this nor ``piece_bytes`` a stream's events, lines or
    messages, or sixteen pieces of another answer."""
    piece_bytes: int = 0
    """Bytes of each piece."""


type BodyUnit = Literal["piece_share", "share", "bytes"]
"""What a place in a body is counted in: a share of its pieces, as ``Trickle`` makes them, of its
bytes, or bytes. Bytes are those of the wire, in their content coding."""


class Stall(msgspec.Struct, frozen=True):
    """Fall silent in the middle of the site's answer, then go on."""

    name: ClassVar = "stall"
    traits: ClassVar[EffectProperties] = EffectProperties(keeps_response=True, paces=True)

    seconds: float
    at: float
    unit: BodyUnit


class Truncate(msgspec.Struct, frozen=True):
    """Forward only the first part of the site's answer.

    ``clean`` ends the message as if it were complete; ``close`` and ``reset`` end the connection in
    the middle, as in ``Cut``.
    """

    name: ClassVar = "truncate"
    traits: ClassVar[EffectProperties] = EffectProperties(is_terminal=True, paces=True)

    at: float
    """A share in [0, 1), of which at least the first piece or byte comes, and never the last; or
    bytes."""
    how: Literal["clean", "close", "reset"]
    unit: BodyUnit = "piece_share"
    silence: float = 0.0
    """Seconds before the end; infinite for no end but the client's."""


type AnswerDefect = Literal["status_line", "two_lengths", "length", "chunk", "coding", "frame"]
"""What is wrong with an answer that its client cannot read."""
type Coding = Literal["gzip", "br", "zstd"]


class Malform(msgspec.Struct, frozen=True):
    """Send the site's answer with a defect that breaks the rules of HTTP."""

    name: ClassVar = "malform"
    traits: ClassVar[EffectProperties] = EffectProperties(is_terminal=True, malforms=True)

    defect: AnswerDefect
    coding: Coding = "gzip"
    """Of the defect ``coding``."""


class AddStrayLine(msgspec.Struct, frozen=True):
    """Send a line without a colon among the fields of the site's answer; browsers skip it."""

    name: ClassVar = "add_stray_line"
    traits: ClassVar[EffectProperties] = EffectProperties(keeps_response=True, malforms=True)


class StallStream(msgspec.Struct, frozen=True):
    """Fall silent within a model's stream, with the connection open; then go on."""

    name: ClassVar = "stall_stream"
    traits: ClassVar[EffectProperties] = EffectProperties(keeps_response=True, paces=True)

    at: StreamPoint
    seconds: float


class CutStream(msgspec.Struct, frozen=True):
    """Forward only the first part of a model's stream; ends as ``Truncate``."""

    name: ClassVar = "cut_stream"
    traits: ClassVar[EffectProperties] = EffectProperties(is_terminal=True, paces=True)

    at: StreamPoint
    how: Literal["clean", "close", "reset"]
    silence: float = 0.0
    """Seconds before the end; infinite for no end but the client's."""


class BreakEvent(msgspec.Struct, frozen=True):
    """Break the JSON of one event of a model's stream; the rest comes as it is."""

    name: ClassVar = "break_event"
    traits: ClassVar[EffectProperties] = EffectProperties(paces=True)

    at: StreamPoint


class EndStreamInError(msgspec.Struct, frozen=True):
    """Break a model's stream off with its API's own event of an error."""

    name: ClassVar = "end_stream_in_error"
    traits: ClassVar[EffectProperties] = EffectProperties(is_terminal=True, paces=True)

    at: StreamPoint
    error: StreamErrorKind


type Sharing = Literal["all", "connection"]
"""Whether a limit is one for all exchanges of its rule, or one for each connection of a client."""


class Throttle(msgspec.Struct, frozen=True):
    """Limit how fast the bodies of answers and of requests pass."""

    name: ClassVar = "throttle"
    traits: ClassVar[EffectProperties] = EffectProperties(keeps_response=True, paces=True)

    down: float | None
    """Bytes a second of answers; None for no limit."""
    up: float | None
    """Bytes a second of requests, each of which is held for as long as it takes."""
    burst: int = 0
    """Bytes that pass at once after a silence."""
    scope: Sharing = "all"


class Rewrite(msgspec.Struct, frozen=True):
    """Change the site's answer, if it is of the kind that the edit changes.

    It is delivered once the page itself has reported it at the edit's ``report``.
    """

    name: ClassVar = "rewrite"
    traits: ClassVar[EffectProperties] = EffectProperties(rewrites=True, judged_by_values=True)

    edit: Edit
    beacon_path: str = ""
    """A path of the same site whose requests the proxy answers and records; empty for none."""
    drops: tuple[str, ...] = ()
    """Names of cookies that the request does not bring to the site."""


type MessageAction = Literal[
    "close", "reset", "delay", "drop", "duplicate", "reorder", "corrupt", "stall"
]
"""What becomes of a message: ``close`` and ``reset`` end its channel in its place; ``stall`` holds
it and all that follow."""


class ChangeMessages(msgspec.Struct, frozen=True, kw_only=True):
    """Change single messages of a WebSocket, or events of a stream that goes on."""

    name: ClassVar = "change_messages"
    traits: ClassVar[EffectProperties] = EffectProperties(changes_messages=True)

    carrier: Literal["websocket", "events"]
    action: MessageAction
    selection: MessageSelection
    seconds: float = 0.0
    """Of a delay or a stall; infinite for one that does not end."""
    edit: JsonEdit | None = None
    """The change of what is corrupted."""
    code: int = 0
    """Of a WebSocket's Close frame."""
    reason: str = ""


class OtherPage(msgspec.Struct, frozen=True):
    """Request another page of the site, one that was requested before, instead of this one."""

    name: ClassVar = "other_page"
    traits: ClassVar[EffectProperties] = EffectProperties(depends_on_site=True)

    draw: float
    """Which of those pages: a number in [0, 1), from the first to the last."""


class ReplayFirst(msgspec.Struct, frozen=True):
    """Answer with the site's first answer to the same request."""

    name: ClassVar = "stale_response"
    traits: ClassVar[EffectProperties] = EffectProperties(
        is_terminal=True, depends_on_site=True, works_without_site=True
    )


class DuplicateRequest(msgspec.Struct, frozen=True):
    """Send a copy of the request to the site before the client's own."""

    name: ClassVar = "duplicate_request"
    traits: ClassVar[EffectProperties] = EffectProperties(
        depends_on_site=True, recoverable_by_retry=False, judged_by_values=True
    )


class EditToolResponse(msgspec.Struct, frozen=True):
    """Change or delay the answer of an MCP server, or both.

    The answer may come in the exchange itself or as an event of another one.
    """

    name: ClassVar = "edit_tool_response"
    traits: ClassVar[EffectProperties] = EffectProperties(
        is_terminal=True, recoverable_by_retry=False
    )

    change: Change | None
    """None for no change."""
    after: float = 0.0
    """Delay in seconds."""


class PushToolEvent(msgspec.Struct, frozen=True):
    """Insert a message into the event stream on which an MCP client awaits answers."""

    name: ClassVar = "push_tool_event"
    traits: ClassVar[EffectProperties] = EffectProperties(recoverable_by_retry=False)

    message: bytes
    after: float = 0.0
    """Seconds from now."""


type DnsErrorCode = Literal["nxdomain", "servfail", "timeout"]
"""How a lookup fails: the name does not exist, the resolver fails, or it does not answer."""

type CertificateDefect = Literal["expired", "wrong_host", "self_signed", "unknown_ca"]
"""What is wrong with a certificate."""


RESOLVER_GIVES_UP_AFTER: Final = 2.0
"""Seconds: one try of two (``resolv.conf`` in a namespace). Chromium then has the system
resolve once more, and gives up after five."""


class DnsError(msgspec.Struct, frozen=True):
    """Fail the name's lookup (RFC 1035 RCODE 3 or 2, or no answer)."""

    name: ClassVar = "dns_error"
    traits: ClassVar[EffectProperties] = EffectProperties(
        is_terminal=True, sends_no_response=True, opens_no_connection=True
    )

    code: DnsErrorCode


class RefuseConnection(msgspec.Struct, frozen=True):
    """Answer the connection's SYN with a TCP reset, as if no server listened."""

    name: ClassVar = "refuse"
    traits: ClassVar[EffectProperties] = EffectProperties(
        is_terminal=True, sends_no_response=True, opens_no_connection=True, kernel="refuse"
    )


class DropPackets(msgspec.Struct, frozen=True):
    """Drop the connection's packets until the client's system gives up."""

    name: ClassVar = "drop"
    traits: ClassVar[EffectProperties] = EffectProperties(
        is_terminal=True, sends_no_response=True, opens_no_connection=True, kernel="drop"
    )


class LosePackets(msgspec.Struct, frozen=True):
    """Lose packets of the connection at random, from its acceptance to its end."""

    name: ClassVar = "lose_packets"
    traits: ClassVar[EffectProperties] = EffectProperties(keeps_response=True)

    share: float
    """Of the packets of each direction, in (0, 1)."""


class ReorderPackets(msgspec.Struct, frozen=True):
    """Hold packets of the connection for a while, so that those after them arrive first."""

    name: ClassVar = "reorder_packets"
    traits: ClassVar[EffectProperties] = EffectProperties(keeps_response=True)

    share: float
    """Of the packets of each direction, in (0, 1)."""
    seconds: float
    """For which each is held."""
    seed: int
    """Of the draw which packets are held."""


class BadCertificate(msgspec.Struct, frozen=True):
    """Begin TLS with a certificate that no client should trust."""

    name: ClassVar = "certificate"
    traits: ClassVar[EffectProperties] = EffectProperties(is_terminal=True, sends_no_response=True)

    wrong: CertificateDefect


class RefuseHttp2(msgspec.Struct, frozen=True):
    """Choose no HTTP/2 for a connection, whatever its client and site offer."""

    name: ClassVar = "refuse_http2"
    traits: ClassVar[EffectProperties] = EffectProperties(keeps_response=True)


type Effect = (
    Delay
    | Reply
    | Cut
    | Trickle
    | Stall
    | Truncate
    | Malform
    | AddStrayLine
    | StallStream
    | CutStream
    | BreakEvent
    | EndStreamInError
    | Throttle
    | Rewrite
    | ChangeMessages
    | OtherPage
    | ReplayFirst
    | DuplicateRequest
    | EditToolResponse
    | PushToolEvent
    | DnsError
    | RefuseConnection
    | DropPackets
    | LosePackets
    | ReorderPackets
    | BadCertificate
    | RefuseHttp2
)

EFFECTS: Final[Mapping[str, type[Effect]]] = {
    kind.name: kind for kind in get_args(Effect.__value__)
}
"""Every kind of effect, by its name in traces."""


def effects_with(wanted: Callable[[EffectProperties], bool]) -> frozenset[str]:
    """Return the names of the kinds whose properties satisfy ``wanted``."""
    return frozenset(name for name, kind in EFFECTS.items() if wanted(kind.traits))
