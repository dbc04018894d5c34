"""The events of a trace.

A fault is plain data, so that a trace stays readable after the fault is renamed or removed. The
stamps of every line (``schema_version``, ``seq``, ``t``, ``at``) belong to ``Entry``.
"""

from typing import Literal

from msgspec import Struct, field

from warex.traces.call_events import LlmCall as LlmCall
from warex.traces.call_events import LlmRetried as LlmRetried
from warex.traces.call_events import LlmUnread as LlmUnread
from warex.traces.call_events import McpCall as McpCall
from warex.traces.event_parts import (
    ArmedBy,
    BaseEvent,
    ChangedValue,
    MissReason,
    SiteFailure,
    Timings,
)
from warex.traces.event_parts import Json as Json

SCHEMA_VERSION = 3
"""The version that is written. ``traces.older`` upgrades earlier ones."""

type ToldBy = Literal["control", "marker", "header", "user_name", "rule", "conversation"]


class TrialBegan(BaseEvent, frozen=True, kw_only=True, tag="trial_began"):
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
    versions: dict[str, str] = field(default_factory=dict)
    vocabulary: dict[str, Json] | None = None
    """The names of the agent's actions, for reading its model's answers; None if unknown."""


class Armed(BaseEvent, frozen=True, kw_only=True, tag="armed"):
    """Faults are applied and counted from here on."""

    by: ArmedBy
    task: str = ""
    """One of several concurrent tasks; empty for all other exchanges."""


class Disarmed(BaseEvent, frozen=True, kw_only=True, tag="disarmed"):
    """No faults are applied or counted from here on."""

    by: Literal["terminal_action", "harness", "control"]
    task: str = ""
    """One of several concurrent tasks; empty for all other exchanges."""


class RequestSeen(BaseEvent, frozen=True, kw_only=True, tag="request"):
    """A request of the browser, the agent or the harness."""

    exchange: str
    method: str
    url: str
    resource: str
    top_level: bool = False
    http_version: str
    connection: str
    """Identifier of the client's connection within the trial."""
    headers: list[tuple[str, str]] = field(default_factory=list)
    headers_left_out: int = 0
    """Fields that are not recorded, since the trial has recorded many long heads."""
    size: int
    """Bytes of the body."""
    body: int = 0
    """Number of the body: equal within the trial for equal bodies. 0: none, or not kept."""
    body_blob: str = ""
    """Reference of the body's blob, decoded and redacted; empty: not recorded."""
    operation: str = ""
    """The operation of a GraphQL or JSON-RPC body; empty for none."""
    repeat_of: str | None = None
    """The exchange that the browser silently repeats after its connection was cut."""
    task: str = ""
    """The task that it belongs to; empty if unknown."""


class ResponseSeen(BaseEvent, frozen=True, kw_only=True, tag="response"):
    """The exchange ended, with a response or without."""

    exchange: str
    status: int | None
    """None if there is no response; ``error`` says why."""
    resource: str
    by: Literal["site", "warex", "cache", "none"]
    """The origin of the response; ``cache``: an earlier answer of an LLM, which was not asked."""
    http_version: str | None = None
    """The site's version."""
    headers: list[tuple[str, str]] = field(default_factory=list)
    headers_left_out: int = 0
    """As in ``request``."""
    size: int
    """Bytes of the body as sent, compressed or not."""
    body_blob: str = ""
    """As in ``request``: what the client was sent."""
    timings: Timings
    error: str | None = None


class RequestRefused(BaseEvent, frozen=True, kw_only=True, tag="request_refused"):
    """A client sent an invalid request; WAREX answered in place of the site."""

    connection: str
    """Identifier of the client's connection within the trial."""
    status: int
    line: str
    """The first line, if found, redacted."""
    reason: str


class Repeated(BaseEvent, frozen=True, kw_only=True, tag="repeated"):
    """Events were counted and not written one by one, since a thousand like them had been."""

    kind: Literal["request", "request_refused", "site_unreachable"]
    """The event."""
    why: str
    """What they have in common: their status, their failure, or that their clients had given them
    up."""
    times: int


class SiteUnreachable(BaseEvent, frozen=True, kw_only=True, tag="site_unreachable"):
    """No connection to a site could be made; its client met that."""

    connection: str
    """The client's; empty for one that is relayed without being read."""
    exchange: str | None = None
    """The request that met it; None if it was met before there was one."""
    host: str
    port: int
    failure: SiteFailure
    error: str
    """What failed, as a sentence."""


class Tunnel(BaseEvent, frozen=True, kw_only=True, tag="tunnel"):
    """A connection was passed through unread."""

    host: str
    port: int
    why: Literal["pass_through", "background", "not_concerned", "tls_rejected", "not_http"]
    sent: int
    """Bytes from the client."""
    received: int
    """Bytes from the site."""
    seconds: float


class TlsRejected(BaseEvent, frozen=True, kw_only=True, tag="tls_rejected"):
    """A client rejected WAREX's certificate; its host is passed through from now on."""

    host: str
    reason: str


class Dns(BaseEvent, frozen=True, kw_only=True, tag="dns"):
    """A DNS query."""

    name: str
    kind: str
    answer: str


class WebSocketSeen(BaseEvent, frozen=True, kw_only=True, tag="websocket"):
    """A WebSocket's message or end, or the point from which it is opaque."""

    exchange: str
    what: Literal["message", "closed", "opaque"]
    from_client: bool
    size: int = 0
    text: bool = False
    operation: str = ""
    """The operation of a GraphQL message, also of an answer to it; empty for none."""
    close_code: int | None = None
    reason: str | None = None
    """Why only the end is read from here on; None unless opaque."""


class FaultPlanned(BaseEvent, frozen=True, kw_only=True, tag="fault_planned"):
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
    category: Literal[
        "failure", "lie", "quota", "wall", "popup", "attack", "variation", "session", "change"
    ] = "failure"
    """The category of the fault, which defines recovery."""
    target: Literal["site", "connection", "llm", "mcp"] = "site"
    inaction_resists: bool = False
    """Whether an agent that ignores the attack has resisted it."""
    looks_healthy: bool = False
    """Whether the model's answer is whole and wrong, so that noticing it cannot be observed."""
    only_late: bool = False
    """Whether every message of its channel comes: late, twice or in another order."""
    page: str = ""
    """The family of error pages that it shows; empty for none."""


class FaultDelivered(BaseEvent, frozen=True, kw_only=True, tag="fault_delivered"):
    """The injected effect reached the client."""

    injection: str
    exchange: str
    rule: str
    waited_s: float = 0.0
    client_left: bool = False
    """The client gave up while it was held for at least a second."""
    changes: list[ChangedValue] = field(default_factory=list)
    """What was changed or shown: the first 50 values, long ones cut off."""
    left_out: int = 0  # more changed values


class FaultMissed(BaseEvent, frozen=True, kw_only=True, tag="fault_missed"):
    """A planned injection did not reach the client, or a rule skipped exchanges."""

    rule: str
    reason: MissReason
    injection: str | None = None
    exchange: str | None = None
    count: int = 1
    """Above 1 only if a rule was not armed, or for an exclusion."""
    waited_s: float = 0.0


class Witness(BaseEvent, frozen=True, kw_only=True, tag="witness"):
    """A report of a changed page's script, or of a site that a fault leads to."""

    exchange: str
    injection: str
    what: str
    detail: str = ""
    by: Literal["", "user", "script"] = ""
    """Who acted: a device, or a script, the page's or the agent's. Empty for no act, or unknown."""
    changes: list[ChangedValue] = field(default_factory=list)
    """With ``what`` ``changed`` the further changes of the page; else the values of the act."""
    left_out: int = 0
    """More changed values."""


class DefenceApplied(BaseEvent, frozen=True, kw_only=True, tag="defence_applied"):
    """A defence changed an LLM request in flight."""

    exchange: str
    defence: str


class AgentAction(BaseEvent, frozen=True, kw_only=True, tag="agent_action"):
    """An action in the model's answer, read with the benchmark's vocabulary."""

    exchange: str
    """The LLM call's exchange."""
    step: int
    name: str
    arguments: Json
    role: Literal["navigate", "recover", "finish", "other"]
    context: str = ""
    """Where it stands in code that the agent wrote: ``loop``, ``handler``, ``branch``."""


class Canary(BaseEvent, frozen=True, kw_only=True, tag="canary"):
    """A page that proves the route of the agent's browser: one before it, or its first."""

    passed: bool
    detail: str


class TaskBegan(BaseEvent, frozen=True, kw_only=True, tag="task_began"):
    """A task began on this proxy."""

    task: str
    seed: int
    told_by: ToldBy = "control"
    """The source of the task's name."""
    beside: bool = False
    """Whether it runs concurrently, so that only exchanges that name it belong to it."""


class TaskEnded(BaseEvent, frozen=True, kw_only=True, tag="task_ended"):
    """The task ended."""

    task: str


class Control(BaseEvent, frozen=True, kw_only=True, tag="control"):
    """A call of the control API."""

    call: str
    arguments: dict[str, Json] = field(default_factory=dict)


class HarnessBroke(BaseEvent, frozen=True, kw_only=True, tag="harness_broke"):
    """WAREX itself failed. The trial is void."""

    reason: str
    exchange: str | None = None


class TrialEnded(BaseEvent, frozen=True, kw_only=True, tag="trial_ended"):
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
    | SiteUnreachable
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
