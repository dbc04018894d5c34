"""The few things that a fault can ask the proxy to do, and what is true of each of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal, get_args

from warex.mcp.changes import Change
from warex.rewriting.base import Edit


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectProperties:
    """What is true of every effect of one kind."""

    is_terminal: bool = False
    """Nothing else can happen to the exchange, or attempt, after it."""
    sends_no_response: bool = False
    """The client gets no answer over HTTP."""
    opens_no_connection: bool = False
    """There is not even a connection to the site."""
    kernel: Literal["refuse", "drop"] | None = None
    """What the kernel does to the connection, where the proxy can do nothing to it any more."""
    holds: bool = False
    """It does nothing but hold what comes."""
    keeps_response: bool = False
    """The client gets the site's own answer, whole, if perhaps late."""
    rewrites: bool = False
    """The client gets the site's own answer, changed as it passes."""
    depends_on_site: bool = False
    """It does nothing where the site has given nothing yet, or does not take a second request."""
    recoverable_by_retry: bool = True
    """Who asks for the same again gets the site's own answer, unless hit again."""
    judged_by_values: bool = False
    """Recovery is to doubt the values that it changed, where the ledger has them."""


@dataclass(frozen=True, slots=True)
class Delay:
    """Hold the exchange for a while, then carry on."""

    name: ClassVar = "delay"
    traits: ClassVar[EffectProperties] = EffectProperties(holds=True, keeps_response=True)

    seconds: float


@dataclass(frozen=True, slots=True)
class WallExit:
    """A path of the same site, at which the proxy hears that somebody gets past a page of ours."""

    path: str
    back: str
    """Where the client is sent then: a path and its query."""
    cookie: str
    """What it is given to show from then on: ``name=value``."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer with this instead of the site's answer."""

    name: ClassVar = "reply"
    traits: ClassVar[EffectProperties] = EffectProperties(is_terminal=True)

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    echo_json: bool = False
    """Whether an object of JSON that was sent comes back, ``body``'s own members added to it."""
    cookies: tuple[str, ...] = ()
    """The values of ``Set-Cookie`` fields."""
    wall_exit: WallExit | None = None
    """How to get past it, where it is a wall."""
    page: str = ""
    """The family of error pages that the body is of; empty for none."""


@dataclass(frozen=True, slots=True)
class Cut:
    """End the connection without an answer: an orderly ``close``, or a TCP ``reset``.

    On HTTP/2 a close ends the stream (RFC 9113 RST_STREAM); a reset always takes the connection.
    """

    name: ClassVar = "cut"
    traits: ClassVar[EffectProperties] = EffectProperties(is_terminal=True, sends_no_response=True)

    how: Literal["close", "reset"] = "close"


@dataclass(frozen=True, slots=True)
class Trickle:
    """Let the site's answer through piece by piece, with a pause before each but the first.

    A stream's pieces are its events, lines or messages; any other answer is divided into sixteen.
    """

    name: ClassVar = "trickle"
    traits: ClassVar[EffectProperties] = EffectProperties(keeps_response=True)

    pause: float
    """Seconds."""


@dataclass(frozen=True, slots=True)
class Truncate:
    """Let the first part of the site's answer through, and no more.

    ``clean``: what came is all there is, as if the server had ended it in good order. ``close`` and
    ``reset`` end the connection in the middle, as in ``Cut``.
    """

    name: ClassVar = "truncate"
    traits: ClassVar[EffectProperties] = EffectProperties(is_terminal=True)

    share: float
    """Of the answer's pieces, from 0 to below 1; at least the first piece, never the last."""
    how: Literal["clean", "close", "reset"]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Change the site's answer as it passes, if it is of the kind that the edit changes.

    Delivered means that the page itself reported to be shown, at the edit's ``report``.
    """

    name: ClassVar = "rewrite"
    traits: ClassVar[EffectProperties] = EffectProperties(rewrites=True, judged_by_values=True)

    edit: Edit
    beacon_path: str = ""
    """A path of the same site at which the proxy answers who comes, and hears of it; or none."""


@dataclass(frozen=True, slots=True)
class OtherPage:
    """Ask the site for another of its pages, one that was asked for before, in place of this."""

    name: ClassVar = "elsewhere"
    traits: ClassVar[EffectProperties] = EffectProperties(depends_on_site=True)

    draw: float
    """Which of those pages: from 0 to below 1, the first to the last."""


@dataclass(frozen=True, slots=True)
class ReplayFirst:
    """Answer with what the site answered when the same was first asked for."""

    name: ClassVar = "earlier"
    traits: ClassVar[EffectProperties] = EffectProperties(is_terminal=True, depends_on_site=True)


@dataclass(frozen=True, slots=True)
class DuplicateRequest:
    """Send the request to the site once more, and before the client's own."""

    name: ClassVar = "twice"
    traits: ClassVar[EffectProperties] = EffectProperties(
        depends_on_site=True, recoverable_by_retry=False, judged_by_values=True
    )


@dataclass(frozen=True, slots=True)
class EditToolAnswer:
    """Change the answer of a server of tools (MCP) as it passes, or let it come late, or both.

    It is looked for wherever it comes: in the exchange itself, or as an event of another one.
    """

    name: ClassVar = "amend"
    traits: ClassVar[EffectProperties] = EffectProperties(
        is_terminal=True, recoverable_by_retry=False
    )

    change: Change | None
    """None leaves it as it is."""
    after: float = 0.0
    """Seconds for which it is held."""


@dataclass(frozen=True, slots=True)
class PushToolEvent:
    """Put a message into the stream of events on which a client of tools (MCP) awaits answers."""

    name: ClassVar = "say"
    traits: ClassVar[EffectProperties] = EffectProperties(recoverable_by_retry=False)

    message: bytes
    after: float = 0.0
    """Seconds from now."""


type DnsErrorCode = Literal["nxdomain", "servfail", "timeout"]
"""How a name stays without an address: it does not exist, the resolver fails, or is silent."""

type CertificateDefect = Literal["expired", "wrong_host", "self_signed", "unknown_ca"]
"""What is wrong with a certificate."""


@dataclass(frozen=True, slots=True)
class DnsError:
    """Give the name no address (RFC 1035 RCODE 3 or 2, or no answer at all)."""

    name: ClassVar = "unresolved"
    traits: ClassVar[EffectProperties] = EffectProperties(
        is_terminal=True, sends_no_response=True, opens_no_connection=True
    )

    code: DnsErrorCode


@dataclass(frozen=True, slots=True)
class RefuseConnection:
    """Answer the connection's first packet with a TCP reset, as if no server listened."""

    name: ClassVar = "refuse"
    traits: ClassVar[EffectProperties] = EffectProperties(
        is_terminal=True, sends_no_response=True, opens_no_connection=True, kernel="refuse"
    )


@dataclass(frozen=True, slots=True)
class DropPackets:
    """Leave the connection's packets unanswered, until the client's system gives up."""

    name: ClassVar = "drop"
    traits: ClassVar[EffectProperties] = EffectProperties(
        is_terminal=True, sends_no_response=True, opens_no_connection=True, kernel="drop"
    )


@dataclass(frozen=True, slots=True)
class BadCertificate:
    """Begin TLS with a certificate that no client may trust."""

    name: ClassVar = "certificate"
    traits: ClassVar[EffectProperties] = EffectProperties(is_terminal=True, sends_no_response=True)

    wrong: CertificateDefect


type Effect = (
    Delay
    | Reply
    | Cut
    | Trickle
    | Truncate
    | Rewrite
    | OtherPage
    | ReplayFirst
    | DuplicateRequest
    | EditToolAnswer
    | PushToolEvent
    | DnsError
    | RefuseConnection
    | DropPackets
    | BadCertificate
)

EFFECTS: Final[Mapping[str, type[Effect]]] = {
    kind.name: kind for kind in get_args(Effect.__value__)
}
"""Every kind of effect, by the name that it has in a trace."""


def effects_with(wanted: Callable[[EffectProperties], bool]) -> frozenset[str]:
    """Return the names of the kinds whose traits are wanted."""
    return frozenset(name for name, kind in EFFECTS.items() if wanted(kind.traits))
