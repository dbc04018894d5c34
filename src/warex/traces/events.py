"""The events of a trace.

A fault is plain data, so that a trace stays readable after the fault is renamed or removed. The
stamps of every line (``schema_version``, ``seq``, ``t``, ``at``) belong to ``Entry``.
"""

from typing import Any, Literal

from msgspec import Struct

from warex.llm.base import Finish, Usage
from warex.traces.event_parts import ChangedValue, Timings
from warex.traces.miss_reason import MissReason

SCHEMA_VERSION = 3
"""The version that is written. ``traces.older`` upgrades earlier ones."""

type ToldBy = Literal["control", "marker", "header", "user_name", "rule", "conversation"]
type Json = Any


class _Event(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="event", gc=False
):
    """An event; ``gc=False`` since it has no cyclic references."""

    @property
    def event(self) -> str:
        """The name of its type."""
        return str(self.__struct_config__.tag)


class TrialBegan(_Event, frozen=True, kw_only=True, tag="trial_began"):
    """The proxy is ready; has all the data to repeat the trial's faults."""

    benchmark: str = ""
    agent: str = ""
    condition: str = ""
    task: str = ""
    repeat: int = 1
    attempt: int = 1
    seed: int = 0
    scenario: dict[str, Json] | None = None
    """The whole scenario as loaded; None for no faults."""
    defence: dict[str, Json] | None = None
    """Name and text of the defence, or None."""
    arm: str = "start"
    sites: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    record: Literal["all", "concerned"] = "all"
    replay_of: str | None = None
    versions: dict[str, str] = {}
    vocabulary: dict[str, Json] | None = None
    """The names of the agent's actions, for reading its model's answers; None if unknown."""


class Armed(_Event, frozen=True, kw_only=True, tag="armed"):
    """Faults are applied and counted from here on."""

    by: Literal["start", "first_page", "first_llm_call", "control"]
    task: str = ""
    """One of several concurrent tasks; empty for all other exchanges."""


class Disarmed(_Event, frozen=True, kw_only=True, tag="disarmed"):
    """No faults are applied or counted from here on."""

    by: Literal["terminal_action", "harness", "control"]
    task: str = ""
    """One of several concurrent tasks; empty for all other exchanges."""


class RequestSeen(_Event, frozen=True, kw_only=True, tag="request"):
    """A request of the browser, the agent or the harness."""

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
    """Number of the body: equal within the trial for equal bodies. 0: none, or not kept."""
    operation: str = ""
    """The operation of a GraphQL or JSON-RPC body; empty for none."""
    repeat_of: str | None = None
    """The exchange that the browser silently repeats after its connection was cut."""
    task: str = ""
    """The task that it belongs to; empty if unknown."""


class ResponseSeen(_Event, frozen=True, kw_only=True, tag="response"):
    """The exchange ended, with a response or without."""

    exchange: str
    status: int | None
    """None if there is no response; ``error`` says why."""
    resource: str
    by: Literal["site", "warex", "cache", "none"]
    """The origin of the response; ``cache``: an earlier answer of an LLM, which was not asked."""
    http_version: str | None = None
    """The site's version."""
    headers: list[tuple[str, str]] = []
    size: int
    """Bytes of the body as sent, compressed or not."""
    timings: Timings
    error: str | None = None


class RequestRefused(_Event, frozen=True, kw_only=True, tag="request_refused"):
    """A client sent an invalid request; WAREX answered in place of the site."""

    connection: str
    """Identifier of the client's connection within the trial."""
    status: int
    line: str
    """The first line, if found, redacted."""
    reason: str


class Repeated(_Event, frozen=True, kw_only=True, tag="repeated"):
    """Events were counted and not written one by one, since a thousand like them had been."""

    kind: Literal["request", "request_refused"]
    """The event."""
    why: str
    """What they have in common: their status, or that their clients had given them up."""
    times: int


class LlmUnread(_Event, frozen=True, kw_only=True, tag="llm_unread"):
    """A request looks like an LLM call and could not be read."""

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
    """A client rejected WAREX's certificate; its host is passed through from now on."""

    host: str
    reason: str


class Dns(_Event, frozen=True, kw_only=True, tag="dns"):
    """A DNS query."""

    name: str
    kind: str
    answer: str


class WebSocketSeen(_Event, frozen=True, kw_only=True, tag="websocket"):
    """A WebSocket's message or end, or the point from which it is opaque."""

    exchange: str
    what: Literal["message", "closed", "opaque"]
    from_client: bool
    size: int = 0
    text: bool = False
    close_code: int | None = None
    reason: str | None = None
    """Why only the end is read from here on; None unless opaque."""


class FaultPlanned(_Event, frozen=True, kw_only=True, tag="fault_planned"):
    """A rule fired."""

    injection: str
    exchange: str
    rule: str
    fault: dict[str, Json]
    stage: Literal["request", "response"]
    scope: str
    """The counter: empty for the whole rule, "METHOD URL", or "CONNECT HOST:PORT"."""
    ordinal: int
    """The number within ``scope``, from 1."""
    effects: tuple[str, ...]
    """The effects on the wire: delay, reply, cut…"""
    url: str
    """For a connection try, the origin."""
    repeat_of: str | None = None
    """The earlier injection that a silent repeat of the browser or a connection try belongs to."""
    point: Literal["name", "connect", "tls"] | None = None
    """Where a connection try failed; ``exchange`` is the try's own."""
    category: Literal["failure", "lie", "quota", "wall", "popup", "attack", "variation"] = "failure"
    """The category of the fault, which defines recovery."""
    target: Literal["site", "connection", "llm", "mcp"] = "site"
    inaction_resists: bool = False
    """Whether an agent that ignores the attack has resisted it."""
    looks_healthy: bool = False
    """Whether the model's answer is whole and wrong, so that noticing it cannot be observed."""
    page: str = ""
    """The family of error pages that it shows; empty for none."""


class FaultDelivered(_Event, frozen=True, kw_only=True, tag="fault_delivered"):
    """The injected effect reached the client."""

    injection: str
    exchange: str
    rule: str
    waited_s: float = 0.0
    client_left: bool = False
    """The client gave up while it was held for at least a second."""
    changes: list[ChangedValue] = []
    """What was changed or shown: the first 50 values, long ones cut off."""
    left_out: int = 0  # more changed values


class FaultMissed(_Event, frozen=True, kw_only=True, tag="fault_missed"):
    """A planned injection did not reach the client, or a rule skipped exchanges."""

    rule: str
    reason: MissReason
    injection: str | None = None
    exchange: str | None = None
    count: int = 1
    """Above 1 only if a rule was not armed, or for an exclusion."""
    waited_s: float = 0.0


class Witness(_Event, frozen=True, kw_only=True, tag="witness"):
    """A report of a changed page's script, or of a site that a fault leads to."""

    exchange: str
    injection: str
    what: str
    detail: str = ""
    by: Literal["", "user", "script"] = ""
    """Who acted: a device, or a script, the page's or the agent's. Empty for no act, or unknown."""
    changes: list[ChangedValue] = []
    """The further changes of the page, with ``what`` ``changed``."""
    left_out: int = 0
    """More changed values."""


class LlmCall(_Event, frozen=True, kw_only=True, tag="llm_call"):
    """One call of the agent to its model."""

    exchange: str
    family: str
    url: str
    model: str
    step: int
    """The agent's step, from 1; a repeated body stays in its step."""
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
    """Input tokens written to a cache."""
    cache_write_1h_tokens: int = 0
    """The part of them that is kept for an hour."""
    reasoning_tokens: int = 0
    usage: Literal["reported", "estimated", "partial", "none"]
    latency_s: float
    first_token_s: float | None
    """Seconds to a streamed answer's first text or a whole one's first byte; None if neither."""
    complete: bool
    error: str | None = None
    replayed: bool = False
    """Whether it is an earlier trial's answer, whose tokens were not spent again."""
    original_latency_s: float | None = None
    """Seconds that a replayed answer took originally."""
    model_asked: str = ""
    """The requested model; ``model`` is the one that answered."""
    temperature: float | None = None
    """As in the request; None if not set. The next two likewise."""
    top_p: float | None = None
    seed: float | None = None
    finish: Finish | None = None
    """How the answer ended, in the same words for every API; None in older traces."""
    usage_error: str | None = None
    """Why the API's token counts are rejected, if they are."""
    continues: str | None = None
    """Id of the earlier answer or conversation that the API puts before the messages."""
    service_tier: str = ""
    """The billed service tier: ``flex``, ``priority``, …; empty for the default."""

    @property
    def carrier(self) -> str:
        """The exchange that carried it: a WebSocket's carries several calls, ``x5/1``, ``x5/2``."""
        return self.exchange.partition("/")[0]

    @property
    def tokens_per_s(self) -> float | None:
        """Tokens per second from the first to the last; None unless streamed, whole and new."""
        if not self.stream or not self.complete or self.replayed or self.first_token_s is None:
            return None
        seconds = self.latency_s - self.first_token_s
        return self.output_tokens / seconds if self.output_tokens and seconds > 0 else None

    @property
    def saved_s(self) -> float:
        """Seconds saved by a replayed answer; else 0."""
        original = self.original_latency_s if self.replayed else None
        return 0.0 if original is None else original - self.latency_s

    @property
    def tokens(self) -> Usage | None:
        """The usage; None if nothing was generated."""
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
    """A client repeats an LLM call that was refused with a time to wait."""

    exchange: str
    """The repeated call."""
    injection: str
    """The injection that refused it."""
    retry_after_s: float
    """Seconds in the refusal, as in HTTP's ``Retry-After``."""
    waited_s: float
    """Seconds that the client waited."""


class McpCall(_Event, frozen=True, kw_only=True, tag="mcp_call"):
    """One request of the agent to an MCP server, with its answer."""

    exchange: str
    """The request's exchange; the answer may be in another."""
    url: str
    transport: Literal["streamable_http", "sse", "stdio"]
    session: int = 0
    """Number of the session within the trial; 0 for none."""
    id: Json
    """JSON-RPC's id of the request."""
    method: str
    """The method, such as ``tools/call``."""
    tool: str = ""
    """The called tool; empty if ``method`` calls none."""
    arguments: Json = None
    """The tool's arguments; for other methods, all parameters."""
    result: Json = None
    """As answered, with images replaced by blob names. None if there is none."""
    is_error: bool = False
    """Whether the tool reports a failure."""
    error: str | None = None
    """Why there is no usable result, by the tool, the server or WAREX; None if there is one."""
    error_code: int | None = None
    """JSON-RPC's code of an error."""
    began: float
    """Second of the trial at which the request arrived."""
    latency_s: float
    """Seconds until the answer, or until it was clear that there is none."""
    complete: bool
    """Whether it was answered, also with an error."""
    shortened: bool = False
    """Whether arguments or result were shortened."""


class DefenceApplied(_Event, frozen=True, kw_only=True, tag="defence_applied"):
    """A defence changed an LLM request in flight."""

    exchange: str
    defence: str


class AgentAction(_Event, frozen=True, kw_only=True, tag="agent_action"):
    """An action in the model's answer, read with the benchmark's vocabulary."""

    exchange: str
    """The LLM call's exchange."""
    step: int
    name: str
    arguments: Json
    role: Literal["navigate", "recover", "finish", "other"]
    context: str = ""
    """Where it stands in code that the agent wrote: ``loop``, ``handler``, ``branch``."""


class Canary(_Event, frozen=True, kw_only=True, tag="canary"):
    """A page that proves the route of the agent's browser: one before it, or its first."""

    passed: bool
    detail: str


class TaskBegan(_Event, frozen=True, kw_only=True, tag="task_began"):
    """A task began on this proxy."""

    task: str
    seed: int
    told_by: ToldBy = "control"
    """The source of the task's name."""
    beside: bool = False
    """Whether it runs concurrently, so that only exchanges that name it belong to it."""


class TaskEnded(_Event, frozen=True, kw_only=True, tag="task_ended"):
    """The task ended."""

    task: str


class Control(_Event, frozen=True, kw_only=True, tag="control"):
    """A call of the control API."""

    call: str
    arguments: dict[str, Json] = {}


class HarnessBroke(_Event, frozen=True, kw_only=True, tag="harness_broke"):
    """WAREX itself failed. The trial is void."""

    reason: str
    exchange: str | None = None


class TrialEnded(_Event, frozen=True, kw_only=True, tag="trial_ended"):
    """The proxy stopped normally."""

    exchanges: int
    delivered: int
    missed: int
    redacted: int | None = None  # Places with a placeholder; None in older traces.


type Event = (
    TrialBegan
    | Armed
    | Disarmed
    | RequestSeen
    | ResponseSeen
    | RequestRefused
    | Repeated
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
