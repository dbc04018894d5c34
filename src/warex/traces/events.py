"""The events of a trace.

A fault is written as plain data, not as its class: a trace must stay readable after the fault is
renamed or gone. The stamps that every event carries (``schema_version``, ``seq``, ``t``, ``at``)
belong to the line, not to what happened: see ``Entry``.
"""

from typing import Any, Literal

from msgspec import Struct

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


class Armed(_Event, frozen=True, kw_only=True, tag="armed"):
    """From here on exchanges are hit and counted."""

    by: Literal["start", "first_page", "first_llm_call", "control"]


class Disarmed(_Event, frozen=True, kw_only=True, tag="disarmed"):
    """From here on nothing is hit or counted."""

    by: Literal["terminal_action", "control"]


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
    repeat_of: str | None = None
    """The exchange that the browser silently repeats after its connection was cut."""


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
    """The injection that is repeated, since the browser silently repeated the request, or the
    attempt belongs to the same occurrence."""
    point: Literal["name", "connect", "tls"] | None = None
    """Of an attempt to reach a site, where it failed: finding the name, connecting, beginning TLS.
    Its ``exchange`` is the attempt's own identifier, since there was no request."""


class FaultDelivered(_Event, frozen=True, kw_only=True, tag="fault_delivered"):
    """The browser was given the injected effect."""

    injection: str
    exchange: str
    rule: str
    waited_s: float = 0.0
    client_left: bool = False
    """The client gave up while it was held for at least a second."""


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
    """Code in a changed page reported what became of the change."""

    exchange: str
    injection: str
    what: str


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
    model_asked: str = ""
    """The model that was asked for; ``model`` is the one that answered."""
    temperature: float | None = None
    """As the request has it; None where it says nothing. The next two likewise."""
    top_p: float | None = None
    seed: float | None = None

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
