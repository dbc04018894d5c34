"""An open exchange in the proxy: what was decided for it, and the outcome."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from mitmproxy import http

from warex.exchange import Exchange, Resource
from warex.lane.response_faults.previous_responses import ResponseCopy, TaskKey
from warex.lane.response_faults.stream_rewriter import StreamedRewriter, rewritten
from warex.lane.tasks import Task
from warex.lane.traffic.base import Ending, Traffic
from warex.lane.traffic.llm import LlmCalls
from warex.proxy.exchange import flows
from warex.proxy.exchange.apply import AppliedInjection
from warex.proxy.exchange.client_status import ClientStatus
from warex.proxy.exchange.paced_response import paced_response_of
from warex.scenarios import NO_INJECTION, Decision, PlannedInjection

_KEY = "warex"


@dataclass(slots=True)
class ExchangeState:
    """An open exchange."""

    traffic: Traffic
    """What the exchange carries."""
    resource: Resource
    connection: str
    task: Task[LlmCalls]
    task_name: str = ""
    """As in the trace; empty if unknown."""
    decision: Decision = NO_INJECTION
    pending: list[PlannedInjection] = field(default_factory=list)
    """Injections that are not applied yet."""
    applied: list[AppliedInjection] = field(default_factory=list)
    """Injections that are applied and not settled yet."""
    client_status: ClientStatus = field(default_factory=ClientStatus)
    rewriters: list[StreamedRewriter] = field(default_factory=list)
    """Change the response while it is streamed, in order."""
    may_be_rewritten: bool = False
    """Whether a rule may change the response while it is streamed."""
    beginning: bytes = b""
    """The beginning of a coded response that may be rewritten."""
    copy: ResponseCopy | None = None
    """The site's response so far, if it may be replayed."""
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
    def exchange(self) -> Exchange:
        """The exchange as rules see it."""
        return self.traffic.exchange

    @property
    def task_key(self) -> TaskKey:
        """What tells the task from others of the trial."""
        return self.task_name, self.task.injector.seed

    @property
    def is_agent_request(self) -> bool:
        """Whether the request is to a model or an MCP server."""
        return self.traffic.is_agent_request

    @property
    def awaits_sending(self) -> bool:
        """Whether an injected response is not completely sent yet."""
        return any(applied.replied or applied.is_amended for applied in self.applied)

    def count_sent(self, data: bytes) -> bytes:
        """Count bytes of the request's body, and return them."""
        self.request_size += len(data)
        return data

    def tee(self, data: bytes) -> Iterable[bytes]:
        """Count, read and rewrite a piece of the streamed response."""
        self.response_size += len(data)
        parts = rewritten(self.traffic.feed(data), self.rewriters, last=not data)
        # An empty chunk would end the body (RFC 9112 §7.1).
        return filter(None, parts)

    def answered_by(self, *, by_site: bool) -> Literal["site", "warex", "cache", "none"]:
        """Return who answered; ``by_site``: there is a response, by the site unless ours."""
        if self.by_warex:
            return "warex"
        if self.from_cache:
            return "cache"
        return "site" if by_site else "none"


def state_of(flow: http.HTTPFlow) -> ExchangeState | None:
    """Return the state of a flow; None if it has none."""
    found: ExchangeState | None = vars(flow).get(_KEY)
    return found


def attach(flow: http.HTTPFlow, state: ExchangeState) -> None:
    """Store the state with the flow, outside its ``metadata``, which must be plain data."""
    vars(flow)[_KEY] = state


def ending_of(flow: http.HTTPFlow, state: ExchangeState, error: str | None) -> Ending:
    """Return how an exchange has ended, for what it carried."""
    response = flow.response
    return Ending(
        head=None if response is None else flows.response_head(response),
        body=b"" if response is None else response.raw_content or b"",
        error=error,
        began=state.response_started,
        by_warex=state.by_warex,
        in_part=paced_response_of(flow) is not None,
    )
