"""An exchange under way in the proxy: what was decided for it, and what has become of that."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from mitmproxy import http

from warex.clock import Clock
from warex.exchange import Exchange, Resource
from warex.mcp.exchange import McpExchange
from warex.proxy.exchange.apply import AppliedInjection
from warex.proxy.exchange.client_status import ClientStatus
from warex.proxy.exchange.llm_tap import LlmTap
from warex.proxy.exchange.llm_websocket import LlmWebsocketCalls
from warex.proxy.exchange.mcp_tap import McpTap
from warex.rewriting.base import Rewriter
from warex.scenarios import NO_INJECTION, Decision, PlannedInjection

if TYPE_CHECKING:
    from warex.proxy.exchange.tasks import Task

_KEY = "warex"
MAX_COPIED_BODY: Final = 2 * 1024 * 1024
"""Bytes of an answer that may be given again."""


@dataclass(slots=True)
class ExchangeState:
    """One exchange under way."""

    exchange: Exchange
    resource: Resource
    connection: str
    task: "Task"
    task_name: str = ""
    """As the trace has it; empty where nobody can tell."""
    decision: Decision = NO_INJECTION
    pending: list[PlannedInjection] = field(default_factory=list)
    """Injections that have not struck yet."""
    applied: list[AppliedInjection] = field(default_factory=list)
    """Injections that strike or have struck, and are not settled yet."""
    client_status: ClientStatus = field(default_factory=ClientStatus)
    llm: LlmTap | None = None
    llm_websocket: LlmWebsocketCalls | None = None
    """The calls over it, where it is a WebSocket to a model."""
    rewriters: list[Rewriter] = field(default_factory=list)
    """What changes the answer while it passes, in order."""
    copied_body: bytearray | None = None
    """The site's answer so far, where it may be given again."""
    mcp: McpTap | None = None
    """What is said to a server of tools (MCP), or may be."""
    unread_llm: str | None = None
    """Why it could not be read, where it looks like a call to a model."""
    request_size: int = 0
    """Bytes of the request's body so far, where it is streamed."""
    is_recorded: bool = False
    """Whether the request stands in the trace."""
    response_size: int = 0
    """Bytes of the answer's body so far."""
    by_warex: bool = False
    """Whether the answer is ours, or its end is."""
    from_cache: bool = False
    """Whether the answer is an earlier one of a model, and nobody was asked."""
    response_started: bool = False
    """Whether the site's answer is on its way to the client, head first."""
    unreachable: bool = False
    """Whether no connection to the site could be made."""
    stream_refused: bool = False
    """Whether the site refused the request in a way that lets the browser send it again."""
    is_to_warex: bool = False
    """Whether the exchange is with WAREX itself and not with a site."""
    finished: bool = False

    @property
    def is_llm_request(self) -> bool:
        """Whether the request goes to a model, as far as one can tell."""
        return not (self.llm is None and self.llm_websocket is None and self.unread_llm is None)

    @property
    def is_agent_request(self) -> bool:
        """Whether the request goes to a model or a server of tools, as far as one can tell."""
        return self.is_llm_request or isinstance(self.exchange, McpExchange)

    @property
    def awaits_sending(self) -> bool:
        """Whether an injected answer is on its way and nobody knows yet if it arrived."""
        return any(applied.replied for applied in self.applied)

    def count_sent(self, data: bytes) -> bytes:
        """Count bytes of the request's body, and return them."""
        self.request_size += len(data)
        return data

    def tee(self, clock: Clock) -> Callable[[bytes], bytes | tuple[()]]:
        """Return what counts an answer's bytes as they pass, and copies those of a model's."""

        def count(data: bytes) -> bytes | tuple[()]:
            self.response_size += len(data)
            if self.copied_body is not None:
                self.copied_body += data
                if len(self.copied_body) > MAX_COPIED_BODY:
                    self.copied_body = None
            if self.llm is not None and data:
                self.llm.add(data, clock.now())
            if self.mcp is not None:
                given = self.mcp.feed(data, clock.now())
            else:
                given = self._rewritten(data)
            # No piece rather than an empty one: as a chunk that is the end (RFC 9112 §7.1).
            return () if data and not given else given

        return count

    def _rewritten(self, data: bytes) -> bytes:
        """Return what goes on in place of a piece of the answer; an empty piece is its end."""
        given = data
        for rewriter in self.rewriters:
            given = rewriter.feed(given) if given else b""
            given += rewriter.close() if not data else b""
        return given

    def answered_by(self, *, by_site: bool) -> Literal["site", "warex", "cache", "nobody"]:
        """Say who answered; ``by_site``: there is an answer, and if none is ours it is a site's."""
        if self.by_warex:
            return "warex"
        if self.from_cache:
            return "cache"
        return "site" if by_site else "nobody"


def state_of(flow: http.HTTPFlow) -> ExchangeState | None:
    """Return what is known of a flow; None for one that began before WAREX saw it."""
    found: ExchangeState | None = vars(flow).get(_KEY)
    return found


def attach(flow: http.HTTPFlow, state: ExchangeState) -> None:
    """Keep what is known of a flow with it.

    Not in its ``metadata``, which mitmproxy saves with the flow and which must be plain data.
    """
    vars(flow)[_KEY] = state
