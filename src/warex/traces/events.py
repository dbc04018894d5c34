"""The events of a trace.

A fault is written as plain data, not as its class: a trace must stay readable after the fault is
renamed or gone. The stamps that every event carries (``schema_version``, ``seq``, ``t``, ``at``)
belong to the line, not to what happened: see ``Entry``.
"""

from typing import Any, Literal

from msgspec import Struct

from warex.llm.base import Finish, Usage
from warex.traces.changed_value import ChangedValue
from warex.traces.miss_reason import MissReason

SCHEMA_VERSION = 2
"""Of what is written. What version 1 leaves unsaid is told from its rest (``traces.older``)."""

type ToldBy = Literal["control", "marker", "header", "user_name", "rule", "conversation"]


type Json = Any
"""What JSON can say."""


class _Event(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="event", gc=False
):
    """What happened; ``gc=False``, since an event holds no reference to itself."""

    @property
    def event(self) -> str:
        """The name of its kind."""
        return str(self.__struct_config__.tag)


class TrialBegan(_Event, frozen=True, kw_only=True, tag="trial_began"):
    """The proxy is ready. Says all that is needed to repeat the trial's faults."""

    benchmark: str = ""
    agent: str = ""
    condition: str = ""
    task: str = ""
    repeat: int = 1
    attempt: int = 1
    seed: int = 0
    scenario: dict[str, Json] | None = None
    """The whole scenario as loaded, or None for no faults."""
    defence: dict[str, Json] | None = None
    """Name and text of what is added to the agent's LLM requests, or None for nothing."""
    arm: str = "start"
    sites: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    record: Literal["all", "concerned"] = "all"
    replay_of: str | None = None
    versions: dict[str, str] = {}
    vocabulary: dict[str, Json] | None = None
    """The agent's actions, by which its model's answers are read; None where none is known."""


class Armed(_Event, frozen=True, kw_only=True, tag="armed"):
    """From here on exchanges are hit and counted."""

    by: Literal["start", "first_page", "first_llm_call", "control"]
    task: str = ""
    """Of tasks that run at the same time, which; empty for all that is not told apart so."""


class Disarmed(_Event, frozen=True, kw_only=True, tag="disarmed"):
    """From here on nothing is hit or counted."""

    by: Literal["terminal_action", "harness", "control"]
    task: str = ""
    """Of tasks that run at the same time, which; empty for all that is not told apart so."""


class RequestSeen(_Event, frozen=True, kw_only=True, tag="request"):
    """The browser, the agent or the harness asked for something."""

    exchange: str
    method: str
    url: str
    resource: str
    top_level: bool = False
    http_version: str
    connection: str
    """Identifier of the client's connection within the trial."""
    headers: list[tuple[str, str]] = []
    size: int
    """Bytes of the body."""
    body: int = 0
    """Which body: within the trial equal numbers are equal bodies. 0: none, or sent on unkept."""
    operation: str = ""
    """Which of the URL's operations a GraphQL or JSON-RPC body asks for; empty for none."""
    repeat_of: str | None = None
    """The exchange that the browser silently repeats after its connection was cut."""
    task: str = ""
    """The task that it belongs to; empty where nobody has told of one."""


class Timings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """Seconds of one exchange; None where the phase did not happen."""

    connect: float | None = None
    tls: float | None = None
    wait: float | None = None
    """From the request's last byte until the answer's first."""
    receive: float | None = None
    total: float
    """From the request's first byte until the answer's last, as the proxy saw them."""


class ResponseSeen(_Event, frozen=True, kw_only=True, tag="response"):
    """The exchange ended, with an answer or without."""

    exchange: str
    status: int | None
    """None: no answer was given; ``error`` says why."""
    resource: str
    by: Literal["site", "warex", "cache", "nobody"]
    """Who answered; ``cache``: an LLM's earlier answer, and nothing was asked."""
    http_version: str | None = None
    """What the site spoke."""
    headers: list[tuple[str, str]] = []
    size: int
    """Bytes of the body as sent, compressed or not."""
    timings: Timings
    error: str | None = None


class RequestRefused(_Event, frozen=True, kw_only=True, tag="request_refused"):
    """A client sent what no site would take for a request; WAREX answered in the site's place."""

    connection: str
    """Identifier of the client's connection within the trial."""
    status: int
    line: str
    """The first line as far as it could be found, redacted."""
    reason: str


class LlmUnread(_Event, frozen=True, kw_only=True, tag="llm_unread"):
    """A request that looks like a call to a model and could not be read as one."""

    exchange: str
    """Empty for a connection that was passed through."""
    url: str
    reason: str


class Tunnel(_Event, frozen=True, kw_only=True, tag="tunnel"):
    """A connection was passed through unread."""

    host: str
    port: int
    why: Literal["pass_through", "background", "not_concerned", "tls_rejected", "not_http"]
    sent: int
    """Bytes from the client."""
    received: int
    """Bytes from the site."""
    seconds: float


class TlsRejected(_Event, frozen=True, kw_only=True, tag="tls_rejected"):
    """A client refused our certificate; its host is passed through from now on."""

    host: str
    reason: str


class Dns(_Event, frozen=True, kw_only=True, tag="dns"):
    """A name was asked for."""

    name: str
    kind: str
    answer: str


class WebSocketSeen(_Event, frozen=True, kw_only=True, tag="websocket"):
    """A WebSocket's message or end, or that it cannot be read."""

    exchange: str
    what: Literal["message", "closed", "opaque"]
    from_client: bool
    size: int = 0
    text: bool = False
    close_code: int | None = None
    reason: str | None = None
    """Why nothing but the end is read from here on; None unless opaque."""


class FaultPlanned(_Event, frozen=True, kw_only=True, tag="fault_planned"):
    """A rule fired."""

    injection: str
    exchange: str
    rule: str
    fault: dict[str, Json]
    stage: Literal["request", "response"]
    scope: str
    """What was numbered: empty for the rule as a whole, "METHOD URL", or "CONNECT HOST:PORT"."""
    ordinal: int
    """The place among what was numbered, from 1."""
    effects: tuple[str, ...]
    """The wire powers asked for: delay, reply, cut…"""
    url: str
    """Of an attempt to reach a site: the origin."""
    repeat_of: str | None = None
    """The injection of the same occurrence that the browser, or an attempt, silently repeats."""
    point: Literal["name", "connect", "tls"] | None = None
    """Of an attempt to reach a site, where it failed; ``exchange`` is the attempt's own."""
    category: Literal["failure", "lie", "quota", "wall", "popup", "attack", "variation"] = "failure"
    """What the fault is to the agent, which says what recovery means."""
    target: Literal["site", "connection", "llm", "mcp"] = "site"
    """What the fault is about."""
    inaction_resists: bool = False
    """Whether who goes on and does nothing about the attack has resisted it."""
    looks_healthy: bool = False
    """Whether the model's answer is whole and wrong, so that nothing tells who has noticed it."""
    page: str = ""
    """The family of error pages that it shows; empty for none."""


class FaultDelivered(_Event, frozen=True, kw_only=True, tag="fault_delivered"):
    """The browser was given the injected effect."""

    injection: str
    exchange: str
    rule: str
    waited_s: float = 0.0
    client_left: bool = False
    """The client gave up while it was held for at least a second."""
    changes: list[ChangedValue] = []
    """The answer key: the first 50 values that were changed, long ones cut off."""


class FaultMissed(_Event, frozen=True, kw_only=True, tag="fault_missed"):
    """A planned injection did not reach the client, or a rule had to leave exchanges alone."""

    rule: str
    reason: MissReason
    injection: str | None = None
    exchange: str | None = None
    count: int = 1
    """How many exchanges: above 1 only where a rule was not armed, or never allowed."""
    waited_s: float = 0.0


class Witness(_Event, frozen=True, kw_only=True, tag="witness"):
    """Code in a changed page, or a site to which a fault leads, tells what became of it."""

    exchange: str
    injection: str
    what: str
    detail: str = ""


class LlmCall(_Event, frozen=True, kw_only=True, tag="llm_call"):
    """One call of the agent to its model."""

    exchange: str
    family: str
    url: str
    model: str
    step: int
    """Which step of the agent this is, from 1; a repeated body stays in its step."""
    began: float
    """Second of the trial at which the request arrived."""
    messages: Json
    tools: Json = None
    stream: bool
    status: int | None
    answer: str
    tool_calls: list[Json] = []
    finish_reason: str | None = None
    """The API's own word for why the answer ended."""
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    """Of the input, those put into a cache."""
    cache_write_1h_tokens: int = 0
    """Of those, the ones that are to stay there for an hour."""
    reasoning_tokens: int = 0
    usage: Literal["reported", "estimated", "partial", "none"]
    latency_s: float
    first_token_s: float | None
    """Seconds until a streamed answer first said something, or a whole one's first byte came; None
    if neither happened."""
    complete: bool
    error: str | None = None
    replayed: bool = False
    """Whether an earlier trial's answer was given again: its tokens were not spent twice."""
    original_latency_s: float | None = None
    """Seconds that a replayed answer took when the model gave it."""
    model_asked: str = ""
    """The model that was asked for; ``model`` is the one that answered."""
    temperature: float | None = None
    """As the request has it; None where it says nothing. The next two likewise."""
    top_p: float | None = None
    seed: float | None = None
    finish: Finish | None = None
    """How the answer ended, in the same words for every API; None in older traces."""
    usage_error: str | None = None
    """Why the API's own numbers of tokens are not believed, where they are not."""
    continues: str | None = None
    """Id of what the API keeps and puts before the messages: an earlier answer, a conversation."""
    service_tier: str = ""
    """At which of the API's prices it was: ``flex``, ``priority``, …; empty for the usual one."""

    @property
    def carrier(self) -> str:
        """The exchange that carried it: a WebSocket's carries several calls, ``x5/1``, ``x5/2``."""
        return self.exchange.partition("/")[0]

    @property
    def tokens_per_s(self) -> float | None:
        """Tokens a second from the first to the last; None where that cannot be told.

        That is where the answer was not streamed, is not whole, or an earlier one given again.
        """
        if not self.stream or not self.complete or self.replayed or self.first_token_s is None:
            return None
        seconds = self.latency_s - self.first_token_s
        return self.output_tokens / seconds if self.output_tokens and seconds > 0 else None

    @property
    def saved_s(self) -> float:
        """Seconds that a replayed answer took less than when the model gave it; else 0."""
        original = self.original_latency_s if self.replayed else None
        return 0.0 if original is None else original - self.latency_s

    @property
    def tokens(self) -> Usage | None:
        """What it came to; None if nothing was generated."""
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return Usage(
            input_total=self.input_tokens or 0,
            output_total=self.output_tokens or 0,
            cache_read=self.cached_tokens,
            cache_write=self.cache_write_tokens,
            cache_write_1h=self.cache_write_1h_tokens,
            reasoning=self.reasoning_tokens,
            tier=self.service_tier,
        )


class LlmRetried(_Event, frozen=True, kw_only=True, tag="llm_retried"):
    """A client asks its model again what was refused with a time to wait."""

    exchange: str
    """The call that asks again."""
    injection: str
    """What refused it."""
    told_s: float
    """Seconds that the client was told to wait."""
    waited_s: float
    """Seconds that it did."""


class McpCall(_Event, frozen=True, kw_only=True, tag="mcp_call"):
    """One request of the agent to a server of tools (MCP), with its answer."""

    exchange: str
    """The exchange that asked; the answer may have come on another."""
    url: str
    transport: Literal["streamable_http", "sse"]
    session: int = 0
    """Which session: within the trial equal numbers are equal sessions. 0: none."""
    id: Json
    """JSON-RPC's id of the request."""
    method: str
    """What is asked, such as ``tools/call``."""
    tool: str = ""
    """The tool that is called; empty where ``method`` calls none."""
    arguments: Json = None
    """What the tool is called with; of another method, all its parameters."""
    result: Json = None
    """As answered; an image in it is the name of its blob. None where there is none."""
    is_error: bool = False
    """Whether the tool itself says that it failed."""
    error: str | None = None
    """Why there is no usable result: the tool's, the server's or our own words; None if there is
    one."""
    error_code: int | None = None
    """JSON-RPC's code, where the server answered with an error."""
    began: float
    """Second of the trial at which the request arrived."""
    latency_s: float
    """Seconds until the answer, or until it was clear that none comes."""
    complete: bool
    """Whether it was answered, be it with an error."""
    shortened: bool = False
    """Whether arguments or result were too long to be kept whole."""


class DefenceApplied(_Event, frozen=True, kw_only=True, tag="defence_applied"):
    """A defence changed an LLM request in flight."""

    exchange: str
    defence: str


class AgentAction(_Event, frozen=True, kw_only=True, tag="agent_action"):
    """An action read out of the model's answer by the benchmark's vocabulary."""

    exchange: str
    """The LLM call's exchange."""
    step: int
    name: str
    arguments: Json
    role: Literal["navigate", "recover", "finish", "other"]


class Canary(_Event, frozen=True, kw_only=True, tag="canary"):
    """A page that proves by which way the agent's browser comes: one before it, or its first."""

    passed: bool
    detail: str


class TaskBegan(_Event, frozen=True, kw_only=True, tag="task_began"):
    """A task began on this proxy."""

    task: str
    seed: int
    told_by: ToldBy = "control"
    """How it was told."""
    beside: bool = False
    """Whether only what names it belongs to it: it runs at the same time as others."""


class TaskEnded(_Event, frozen=True, kw_only=True, tag="task_ended"):
    """The task ended."""

    task: str


class Control(_Event, frozen=True, kw_only=True, tag="control"):
    """Somebody used the control API."""

    call: str
    arguments: dict[str, Json] = {}


class HarnessBroke(_Event, frozen=True, kw_only=True, tag="harness_broke"):
    """WAREX itself failed. The trial is void."""

    reason: str
    exchange: str | None = None


class TrialEnded(_Event, frozen=True, kw_only=True, tag="trial_ended"):
    """The proxy stopped in good order."""

    exchanges: int
    delivered: int
    missed: int


type Event = (
    TrialBegan
    | Armed
    | Disarmed
    | RequestSeen
    | ResponseSeen
    | RequestRefused
    | LlmRetried
    | LlmUnread
    | Tunnel
    | TlsRejected
    | Dns
    | WebSocketSeen
    | FaultPlanned
    | FaultDelivered
    | FaultMissed
    | Witness
    | LlmCall
    | McpCall
    | DefenceApplied
    | AgentAction
    | Canary
    | TaskBegan
    | TaskEnded
    | Control
    | HarnessBroke
    | TrialEnded
)


class Entry(Struct, frozen=True, gc=False):
    """One line of a trace: an event and its stamps."""

    seq: int
    t: float
    """Seconds since the trial began."""
    at: str
    """ISO 8601, UTC."""
    event: Event
