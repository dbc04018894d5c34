"""An exchange under way in the proxy: what was decided for it, and what has become of that."""

from dataclasses import dataclass, field
from typing import Literal

from mitmproxy import http

from warex.exchange import Exchange, Resource
from warex.proxy.llm_tap import LlmTap
from warex.proxy.perform import Struck
from warex.proxy.presence import Presence
from warex.scenarios import NOTHING, Decision, Injection

_KEY = "warex"


@dataclass(slots=True)
class Ongoing:
    """One exchange under way."""

    exchange: Exchange
    resource: Resource
    connection: str
    decision: Decision = NOTHING
    waiting: list[Injection] = field(default_factory=list)
    """Injections that have not struck yet."""
    struck: list[Struck] = field(default_factory=list)
    """Injections that strike or have struck, and are not settled yet."""
    presence: Presence = field(default_factory=Presence)
    llm: LlmTap | None = None
    sent: int = 0
    """Bytes of the request's body so far, where it is streamed."""
    noted: bool = False
    """Whether the request stands in the trace."""
    received: int = 0
    """Bytes of the answer's body so far."""
    by_warex: bool = False
    """Whether the answer is ours, or its end is."""
    from_cache: bool = False
    """Whether the answer is an earlier one of a model, and nobody was asked."""
    answering: bool = False
    """Whether the site's answer is on its way to the client, head first."""
    unreachable: bool = False
    """Whether no connection to the site could be made."""
    is_refused: bool = False
    """Whether the site refused the request in a way that lets the browser send it again."""
    own: bool = False
    """Whether the exchange is with WAREX itself and not with a site."""
    finished: bool = False

    @property
    def awaits_sending(self) -> bool:
        """Whether an injected answer is on its way and nobody knows yet if it arrived."""
        return any(struck.replied for struck in self.struck)

    def count_sent(self, data: bytes) -> bytes:
        """Count bytes of the request's body, and return them."""
        self.sent += len(data)
        return data

    def answered_by(self, *, by_site: bool) -> Literal["site", "warex", "cache", "nobody"]:
        """Say who answered; ``by_site``: there is an answer, and if none is ours it is a site's."""
        if self.by_warex:
            return "warex"
        if self.from_cache:
            return "cache"
        return "site" if by_site else "nobody"


def ongoing_of(flow: http.HTTPFlow) -> Ongoing | None:
    """Return what is known of a flow; None for one that began before WAREX saw it."""
    found: Ongoing | None = vars(flow).get(_KEY)
    return found


def attach(flow: http.HTTPFlow, ongoing: Ongoing) -> None:
    """Keep what is known of a flow with it.

    Not in its ``metadata``, which mitmproxy saves with the flow and which must be plain data.
    """
    vars(flow)[_KEY] = ongoing
