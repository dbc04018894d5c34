"""An open exchange in the proxy: what was decided for it, and the outcome."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from mitmproxy import http

from warex.clock import Clock
from warex.exchange import Exchange, Resource
from warex.mcp.exchange import McpExchange
from warex.proxy.exchange.apply import AppliedInjection, StreamedRewriter
from warex.proxy.exchange.client_status import ClientStatus
from warex.proxy.exchange.llm_tap import LlmTap
from warex.proxy.exchange.llm_websocket import LlmWebsocketCalls
from warex.proxy.exchange.mcp_tap import McpTap
from warex.scenarios import NO_INJECTION, Decision, PlannedInjection

if TYPE_CHECKING:
    from warex.lane.tasks import Task
    from warex.proxy.exchange.llm_calls import LlmCalls

_KEY = "warex"
MAX_COPIED_BODY: Final = 2 * 1024 * 1024
"""Bytes of a response that may be replayed."""


@dataclass(slots=True)
class ExchangeState:
    """An open exchange."""

    exchange: Exchange
    resource: Resource
    connection: str
    task: "Task[LlmCalls]"
    task_name: str = ""
    """As in the trace; empty if unknown."""
    decision: Decision = NO_INJECTION
    pending: list[PlannedInjection] = field(default_factory=list)
    """Injections that are not applied yet."""
    applied: list[AppliedInjection] = field(default_factory=list)
    """Injections that are applied and not settled yet."""
    client_status: ClientStatus = field(default_factory=ClientStatus)
    llm: LlmTap | None = None
    llm_websocket: LlmWebsocketCalls | None = None
    """The calls over a WebSocket to a model."""
    rewriters: list[StreamedRewriter] = field(default_factory=list)
    """Change the response while it is streamed, in order."""
    may_be_rewritten: bool = False
    """Whether a rule may change the response while it is streamed."""
    beginning: bytes = b""
    """The beginning of a coded response that may be rewritten."""
    copied_body: bytearray | None = None
    """The site's response so far, if it may be replayed."""
    mcp: McpTap | None = None
    """Reads the response if the request is, or may be, to an MCP server."""
    unread_llm: str | None = None
    """Why a request that looks like an LLM call could not be read."""
    request_size: int = 0
    """Bytes of a streamed request body so far."""
    is_recorded: bool = False
    """Whether the request is in the trace."""
    response_size: int = 0
    """Bytes of the response body so far."""
    by_warex: bool = False
    """Whether WAREX made the response or cut it."""
    from_cache: bool = False
    """Whether the response is from the LLM cache."""
    response_started: bool = False
    """Whether the head of the response was sent to the client."""
    unreachable: bool = False
    """Whether no connection to the site could be made."""
    stream_refused: bool = False
    """Whether the site refused the request so that the browser may retry it."""
    is_to_warex: bool = False
    """Whether the request is to one of WAREX's own hosts."""
    finished: bool = False

    @property
    def is_llm_request(self) -> bool:
        """Whether the request is, or looks like, an LLM call."""
        return not (self.llm is None and self.llm_websocket is None and self.unread_llm is None)

    @property
    def is_agent_request(self) -> bool:
        """Whether the request is to a model or an MCP server."""
        return self.is_llm_request or isinstance(self.exchange, McpExchange)

    @property
    def awaits_sending(self) -> bool:
        """Whether an injected response is not completely sent yet."""
        return any(applied.replied for applied in self.applied)

    def count_sent(self, data: bytes) -> bytes:
        """Count bytes of the request's body, and return them."""
        self.request_size += len(data)
        return data

    def tee(self, clock: Clock) -> Callable[[bytes], Iterable[bytes]]:
        """Return a stream callback that counts, copies and rewrites the response."""

        def count(data: bytes) -> Iterable[bytes]:
            self.response_size += len(data)
            if self.copied_body is not None:
                self.copied_body += data
                if len(self.copied_body) > MAX_COPIED_BODY:
                    self.copied_body = None
            if self.llm is not None and data:
                self.llm.add(data, clock.now())
            if self.mcp is not None:
                parts: Iterable[bytes] = (self.mcp.feed(data, clock.now()),)
            else:
                parts = _rewritten(data, self.rewriters, at_end=not data)
            # An empty chunk would end the body (RFC 9112 §7.1).
            return filter(None, parts)

        return count

    def answered_by(self, *, by_site: bool) -> Literal["site", "warex", "cache", "nobody"]:
        """Return who answered; ``by_site``: there is a response, by the site unless ours."""
        if self.by_warex:
            return "warex"
        if self.from_cache:
            return "cache"
        return "site" if by_site else "nobody"


def _rewritten(
    data: bytes, rewriters: Sequence[StreamedRewriter], *, at_end: bool
) -> Iterator[bytes]:
    """Yield the parts of a piece of the response after all rewriters; ``at_end``: of the last."""
    if not rewriters:
        yield data
        return
    first, others = rewriters[0], rewriters[1:]
    for part in first.feed(data):
        yield from _rewritten(part, others, at_end=False)
    if at_end:
        yield from _rewritten(first.close(), others, at_end=True)


def state_of(flow: http.HTTPFlow) -> ExchangeState | None:
    """Return the state of a flow; None if it has none."""
    found: ExchangeState | None = vars(flow).get(_KEY)
    return found


def attach(flow: http.HTTPFlow, state: ExchangeState) -> None:
    """Store the state with the flow, outside its ``metadata``, which must be plain data."""
    vars(flow)[_KEY] = state
