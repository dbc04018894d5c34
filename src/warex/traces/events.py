"""The events of a trace.

A fault is written as plain data, not as its class: a trace must stay readable after the fault is
renamed or gone. The stamps that every event carries (``schema_version``, ``seq``, ``t``, ``at``)
belong to the line, not to what happened: see ``Entry``.
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, Field, JsonValue, TypeAdapter

from warex.llm.base import Usage

SCHEMA_VERSION = 1

type MissReason = Literal[
    "not_armed",
    "never",
    "client_gone",
    "client_left",
    "trial_over",
    "superseded",
    "nothing_to_rewrite",
    "browser_cache",
]


class _Event(BaseModel, frozen=True, extra="forbid"):
    pass


class TrialBegan(_Event, frozen=True):
    """The proxy is ready. Says all that is needed to repeat the trial's faults."""

    event: Literal["trial_began"] = "trial_began"
    benchmark: str = ""
    agent: str = ""
    condition: str = ""
    task: str = ""
    repeat: int = 1
    attempt: int = 1
    seed: int = 0
    scenario: dict[str, JsonValue] | None = None
    """The whole scenario as loaded, or None for no faults."""
    defence: dict[str, JsonValue] | None = None
    """Name and text of what is added to the agent's LLM requests, or None for nothing."""
    arm: str = "start"
    sites: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    record: Literal["all", "concerned"] = "all"
    replay_of: str | None = None
    versions: dict[str, str] = {}


class Armed(_Event, frozen=True):
    """From here on exchanges are hit and counted."""

    event: Literal["armed"] = "armed"
    by: Literal["start", "first_page", "first_llm_call", "control"]


class Disarmed(_Event, frozen=True):
    """From here on nothing is hit or counted."""

    event: Literal["disarmed"] = "disarmed"
    by: Literal["terminal_action", "control"]


class RequestSeen(_Event, frozen=True):
    """The browser, the agent or the harness asked for something."""

    event: Literal["request"] = "request"
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
    repeat_of: str | None = None
    """The exchange that the browser silently repeats after its connection was cut."""


class Timings(BaseModel, frozen=True, extra="forbid"):
    """Seconds of one exchange; None where the phase did not happen."""

    connect: float | None = None
    tls: float | None = None
    wait: float | None = None
    """From the request's last byte until the answer's first."""
    receive: float | None = None
    total: float
    """From the request's first byte until the answer's last, as the proxy saw them."""


class ResponseSeen(_Event, frozen=True):
    """The exchange ended, with an answer or without."""

    event: Literal["response"] = "response"
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


class RequestRefused(_Event, frozen=True):
    """A client sent what no site would take for a request; WAREX answered in the site's place."""

    event: Literal["request_refused"] = "request_refused"
    connection: str
    """Identifier of the client's connection within the trial."""
    status: int
    line: str
    """The first line as far as it could be found, redacted."""
    reason: str


class Tunnel(_Event, frozen=True):
    """A connection was passed through unread."""

    event: Literal["tunnel"] = "tunnel"
    host: str
    port: int
    why: Literal["pass_through", "background", "not_concerned", "tls_rejected", "not_http"]
    sent: int
    """Bytes from the client."""
    received: int
    """Bytes from the site."""
    seconds: float


class TlsRejected(_Event, frozen=True):
    """A client refused our certificate; its host is passed through from now on."""

    event: Literal["tls_rejected"] = "tls_rejected"
    host: str
    reason: str


class Dns(_Event, frozen=True):
    """A name was asked for."""

    event: Literal["dns"] = "dns"
    name: str
    kind: str
    answer: str


class WebSocketSeen(_Event, frozen=True):
    """A WebSocket's message or end, or that it cannot be read."""

    event: Literal["websocket"] = "websocket"
    exchange: str
    what: Literal["message", "closed", "opaque"]
    from_client: bool
    size: int = 0
    text: bool = False
    close_code: int | None = None
    reason: str | None = None
    """Why nothing but the end is read from here on; None unless opaque."""


class FaultPlanned(_Event, frozen=True):
    """A rule fired."""

    event: Literal["fault_planned"] = "fault_planned"
    injection: str
    exchange: str
    rule: str
    fault: dict[str, JsonValue]
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
    """The injection that is repeated, since the browser silently repeated the request, or the
    attempt belongs to the same occurrence."""
    point: Literal["name", "connect", "tls"] | None = None
    """Of an attempt to reach a site, where it failed: finding the name, connecting, beginning TLS.
    Its ``exchange`` is the attempt's own identifier, since there was no request."""


class FaultDelivered(_Event, frozen=True):
    """The browser was given the injected effect."""

    event: Literal["fault_delivered"] = "fault_delivered"
    injection: str
    exchange: str
    rule: str
    waited_s: float = 0.0
    client_left: bool = False
    """The client gave up while it was held for at least a second."""


class FaultMissed(_Event, frozen=True):
    """A planned injection did not reach the client, or a rule had to leave exchanges alone."""

    event: Literal["fault_missed"] = "fault_missed"
    rule: str
    reason: MissReason
    injection: str | None = None
    exchange: str | None = None
    count: int = 1
    """How many exchanges: above 1 only where a rule was not armed, or never allowed."""
    waited_s: float = 0.0


class Witness(_Event, frozen=True):
    """Code in a changed page reported what became of the change."""

    event: Literal["witness"] = "witness"
    exchange: str
    injection: str
    what: str


class LlmCall(_Event, frozen=True):
    """One call of the agent to its model."""

    event: Literal["llm_call"] = "llm_call"
    exchange: str
    family: str
    url: str
    model: str
    step: int
    """Which step of the agent this is, from 1; a repeated body stays in its step."""
    began: float
    """Second of the trial at which the request arrived."""
    messages: JsonValue
    tools: JsonValue = None
    stream: bool
    status: int | None
    answer: str
    tool_calls: list[JsonValue] = []
    finish_reason: str | None = None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    """Of the input, those put into a cache."""
    reasoning_tokens: int = 0
    usage: Literal["reported", "estimated", "partial", "none"]
    latency_s: float
    first_token_s: float | None
    """Seconds until the answer's first byte; None if there was none."""
    complete: bool
    error: str | None = None
    replayed: bool = False
    """Whether an earlier trial's answer was given again: its tokens were not spent twice."""
    original_latency_s: float | None = None
    """Seconds that a replayed answer took when the model gave it."""

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
            reasoning=self.reasoning_tokens,
        )


class DefenceApplied(_Event, frozen=True):
    """A defence changed an LLM request in flight."""

    event: Literal["defence_applied"] = "defence_applied"
    exchange: str
    defence: str


class AgentAction(_Event, frozen=True):
    """An action read out of the model's answer by the benchmark's vocabulary."""

    event: Literal["agent_action"] = "agent_action"
    exchange: str
    """The LLM call's exchange."""
    step: int
    name: str
    arguments: JsonValue
    role: Literal["navigate", "recover", "finish", "other"]


class Canary(_Event, frozen=True):
    """A page that proves by which way the agent's browser comes: one before it, or its first."""

    event: Literal["canary"] = "canary"
    passed: bool
    detail: str


class TaskBegan(_Event, frozen=True):
    """A task began on this proxy."""

    event: Literal["task_began"] = "task_began"
    task: str
    seed: int


class TaskEnded(_Event, frozen=True):
    """The task ended."""

    event: Literal["task_ended"] = "task_ended"
    task: str


class Control(_Event, frozen=True):
    """Somebody used the control API."""

    event: Literal["control"] = "control"
    call: str
    arguments: dict[str, JsonValue] = {}


class HarnessBroke(_Event, frozen=True):
    """WAREX itself failed. The trial is void."""

    event: Literal["harness_broke"] = "harness_broke"
    reason: str
    exchange: str | None = None


class TrialEnded(_Event, frozen=True):
    """The proxy stopped in good order."""

    event: Literal["trial_ended"] = "trial_ended"
    exchanges: int
    delivered: int
    missed: int


type Event = Annotated[
    TrialBegan
    | Armed
    | Disarmed
    | RequestSeen
    | ResponseSeen
    | RequestRefused
    | Tunnel
    | TlsRejected
    | Dns
    | WebSocketSeen
    | FaultPlanned
    | FaultDelivered
    | FaultMissed
    | Witness
    | LlmCall
    | DefenceApplied
    | AgentAction
    | Canary
    | TaskBegan
    | TaskEnded
    | Control
    | HarnessBroke
    | TrialEnded,
    Field(discriminator="event"),
]

event_adapter: TypeAdapter[Event] = TypeAdapter(Event)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a trace: an event and its stamps."""

    seq: int
    t: float
    """Seconds since the trial began."""
    at: str
    """ISO 8601, UTC."""
    event: Event
