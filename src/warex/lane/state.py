"""The state of an open exchange, of its connection, and of each injection applied to it."""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from warex.effects import ChangeMessages, Cut, Reply, Stall, Trickle, Truncate
from warex.engine.handler import Abort, BodyStep, Forward, ReadWhole, Relay, Respond
from warex.engine.handler import Exchange as WireExchange
from warex.engine.http.byte_rate import ByteRate
from warex.engine.http.heads import RequestHead, ResponseHead
from warex.engine.http.malformed import Defect
from warex.exchange import Exchange, Request, Resource
from warex.lane.hosts.own_hosts import is_reserved
from warex.lane.response_faults.body_copy import BodyCopy
from warex.lane.response_faults.page_change import MAX_CHANGES, PageChange, changed_value
from warex.lane.response_faults.previous_responses import TaskKey
from warex.lane.response_faults.stream_rewriter import BodyReader, StreamedRewriter, rewritten
from warex.lane.tasks import TASK_HEADER, Task
from warex.lane.traffic.base import Traffic
from warex.lane.traffic.llm import LlmCalls
from warex.lane.traffic.mcp_tap import Amendment
from warex.lane.whole_response import WholeResponse
from warex.scenarios import NO_INJECTION, Decision, PlannedInjection
from warex.traces import ChangedValue

_FOR_PROXIES: Final = ("proxy-connection", "proxy-authorization")


def changes_socket(injection: PlannedInjection) -> bool:
    """Whether an injection changes messages of a WebSocket."""
    effects = injection.effects
    return any(isinstance(it, ChangeMessages) and it.carrier == "websocket" for it in effects)


def changes_events(injection: PlannedInjection) -> bool:
    """Whether an injection changes events of a stream."""
    effects = injection.effects
    return any(isinstance(it, ChangeMessages) and it.carrier == "events" for it in effects)


def ends_open(injection: PlannedInjection) -> bool:
    """Whether an injection ends what is open, and all that is requested for a time."""
    return any(isinstance(effect, Cut) and effect.ends_open for effect in injection.effects)


class MessageHits(Struct, eq=False):
    """The messages of a channel that an injection has changed."""

    count: int = 0
    """The messages whose change is done."""
    held_since: float | None = None
    """Second of the trial since which the first one is held."""
    changes: list[ChangedValue] = field(default_factory=list)


class AppliedInjection(Struct, eq=False):
    """An injection in the plan of its exchange, not settled yet."""

    injection: PlannedInjection
    waited_s: float = 0.0
    """Seconds of its holds and pauses."""
    page: PageChange | None = None
    """How the injection changes the response, if it does."""
    amendment: Amendment | None = None
    """How it changes the answers of tools, if it does."""
    site_change: ChangedValue | None = None
    """Its change that depends on the site: another page, an earlier response, a copy."""
    messages: MessageHits | None = None
    """Its effect on the messages of a WebSocket, or on the events of a stream."""
    is_answer: bool = False
    """Whether the injection makes the client's answer, which must arrive."""
    is_unmet: bool = False
    """Whether the answer has no body, or one that is too short for the injection."""

    not_streamed: bool = False
    """Whether the injection is about a stream, and the answer is not a stream."""
    has_arrived: bool = False
    """Whether the client got the whole effect, though more of the answer was to come."""

    @property
    def paces(self) -> bool:
        """Whether the injection paces a body, which must arrive."""
        return any(effect.traits.paces for effect in self.injection.effects)

    @property
    def depends_on_site(self) -> bool:
        """Whether the injection depends on a present or earlier response of the site."""
        return any(effect.traits.depends_on_site for effect in self.injection.effects)

    @property
    def rewrites(self) -> bool:
        """Whether it changes the site's response."""
        return any(effect.traits.rewrites for effect in self.injection.effects)

    @property
    def ends_with_holds(self) -> bool:
        """Whether the injection is delivered once its holds are over."""
        answers = self.is_answer or self.paces
        answers = answers or self.amendment is not None or self.messages is not None
        return not (answers or self.rewrites or self.depends_on_site or self.is_cut)

    @property
    def is_cut(self) -> bool:
        """Whether it ends the exchange without an answer."""
        return any(effect.traits.sends_no_response for effect in self.injection.effects)

    @property
    def is_of_socket(self) -> bool:
        """Whether it acts on the messages of a WebSocket that is open."""
        return self.messages is not None and not changes_events(self.injection)

    @property
    def changed_nothing(self) -> bool:
        """Whether there was no response to change, or nothing in it."""
        unanswered = self.amendment is not None and self.amendment.awaits_answer
        unchanged = self.rewrites and not (self.page is not None and self.page.applied)
        is_held = self.paces and self.waited_s > 0
        unhit = self.messages is not None and not self.messages.count and not is_held
        strayed = self.depends_on_site and self.site_change is None
        missing = self.is_unmet or self.not_streamed or unhit
        return missing or unanswered or unchanged or strayed

    @property
    def changes(self) -> list[ChangedValue]:
        """The changed values, as the trace has them."""
        return self._all_changes[:MAX_CHANGES]

    @property
    def changes_left_out(self) -> int:
        """How many changed values are left out."""
        left_out = 0 if self.page is None else self.page.left_out
        return left_out + max(0, len(self._all_changes) - MAX_CHANGES)

    @property
    def _all_changes(self) -> list[ChangedValue]:
        replies = (it for it in self.injection.effects if isinstance(it, Reply))
        by_reply = [changed_value(change) for it in replies for change in it.changes]
        by_site = [] if self.site_change is None else [self.site_change]
        if self.messages is not None:
            by_site += self.messages.changes
        return [*by_reply, *by_site, *(() if self.page is None else self.page.changes)]

    def outlives_exchange(self, *, arrived: bool) -> bool:
        """Whether it stays open after its exchange: for another exchange or a page's report."""
        if self.amendment is not None and self.amendment.on_other_exchange:
            return True
        if self.is_of_socket:
            return arrived
        awaits_report = self.page is not None and self.page.awaits_report
        return arrived and awaits_report and not self.changed_nothing


class Draft(Struct):
    """The exchange after the injections of a stage, before it becomes a plan."""

    head: RequestHead
    """The head of the request that the site gets."""
    body: bytes | None = None
    """The body of the request that the site gets; None for the client's own."""
    holds: list[tuple[AppliedInjection, float]] = field(default_factory=list)
    copies: list[AppliedInjection] = field(default_factory=list)
    """Each sends the request once more."""
    response: WholeResponse | None = None
    """The site's response so far, or the response that the client gets in its place."""
    pieces: list[bytes] | None = None
    """The response's body, if it is divided into a stream's events."""
    limits: list[ByteRate] = field(default_factory=list)
    message_limits: list["MessageLimit"] = field(default_factory=list)
    trickle: Trickle | None = None
    """With which pauses the body is sent."""
    stops: list["PlannedStop"] = field(default_factory=list)
    """Where the body falls silent or ends; once the plan is made, those that it may reach."""
    abort: Abort | None = None
    """How the exchange ends without an answer."""
    defect: Defect | None = None
    """How the response breaks the rules of HTTP."""

    @property
    def is_cut(self) -> bool:
        """Whether the exchange ends before its answer is complete."""
        if not self.stops:
            return self.abort is not None or self.defect not in (None, "header")
        return self.abort is not None or any(stop.ends for stop in self.stops)


class MessageLimit(Struct, frozen=True):
    """The rate at which an injection lets the messages of one side of a WebSocket through."""

    applied: AppliedInjection
    rate: ByteRate
    from_client: bool


class PlannedStop(Struct, frozen=True):
    """A place in a body at which an injection has it fall silent or end."""

    applied: AppliedInjection
    effect: Stall | Truncate

    @property
    def ends(self) -> bool:
        """Whether the body ends there."""
        return isinstance(self.effect, Truncate)


class Asked(Struct, frozen=True):
    """The facts that follow from a request's head, computed once."""

    head: RequestHead
    """The head as the site gets it, without the fields for a proxy."""
    request: Request
    """The request as rules see it, before its body is known."""
    task_header: str | None
    """The value of its task header, if it has one."""
    is_reserved: bool
    """Whether its host is one of WAREX's own or below one."""


def read_head(wire: WireExchange) -> Asked:
    """Return the facts that follow from a request's head."""
    head = _end_to_end(wire)
    headers = dict(head.headers.by_name)
    task_header = headers.pop(TASK_HEADER, None)
    if task_header is not None:
        head = replace(head, headers=head.headers.without(TASK_HEADER), raw=b"")
    request = Request(head.method, head.url, headers)
    return Asked(head, request, task_header, is_reserved(request.host))


def _end_to_end(wire: WireExchange) -> RequestHead:
    """Return the head of a request without what is meant for a proxy (RFC 9110 §7.6.1)."""
    head = wire.request
    connection = wire.connection
    may_be_for_us = connection.hello is None and not connection.is_redirected
    is_for_proxy = may_be_for_us and any(name in head.headers.by_name for name in _FOR_PROXIES)
    if not is_for_proxy:
        return head
    return replace(head, headers=head.headers.without(*_FOR_PROXIES), raw=b"")


class ExchangeState(Struct, eq=False):
    """An open exchange."""

    wire: WireExchange
    id: str
    """In the trace: ``x1``, ``x2``…"""
    request: Request
    connection: "ConnectionState"
    task: Task[LlmCalls]
    traffic: Traffic
    resource: Resource
    draft: Draft
    task_name: str = ""
    """As in the trace; empty if unknown."""
    decision: Decision = NO_INJECTION
    pending: list[PlannedInjection] = field(default_factory=list)
    """Injections that are not applied yet."""
    applied: list[AppliedInjection] = field(default_factory=list)
    """Injections that are applied and not settled yet."""
    plan: Forward | Respond | Relay | ReadWhole | Abort | None = None
    """The plan after the holds."""
    began: float = 0.0
    """Second of the trial at which the exchange was numbered."""
    planned_at: float = 0.0
    """Second of the trial at which the last plan with holds was made."""
    holds: list[tuple[AppliedInjection, float]] = field(default_factory=list)
    """The holds of the last plan, until they are over."""
    held_s: float = 0.0
    """Seconds of the holds of earlier plans."""
    rewriters: list[StreamedRewriter] = field(default_factory=list)
    """Read or change the response while it is relayed, in order."""
    body_steps: Callable[[bytes, bool], Iterable[BodyStep]] | None = None
    """What is done for a piece of the response after the rewriters; ``last`` at its end."""
    body_copy: BodyCopy | None = None
    """The last of the rewriters, if the body is recorded."""
    only_reads: bool = False
    """Whether none of them changes it."""
    may_be_rewritten: bool = False
    """Whether a rule may change the response."""
    is_to_warex: bool = False
    """Whether the request is to one of WAREX's own hosts."""
    is_recorded: bool = False
    """Whether the request is in the trace."""
    by_warex: bool = False
    """Whether WAREX makes the response or cuts it."""
    from_cache: bool = False
    """Whether the response is from the LLM cache."""
    relays: bool = False
    """Whether the site's response is relayed while it comes."""
    response_size: int | None = None
    """Bytes of the response's body as it came; None if the engine counts them."""
    answer: ResponseHead | None = None
    """The head of the response, as it is recorded."""
    refusal: str | None = None
    """Why the request is not forwarded, though no fault says so."""
    finished: bool = False

    @property
    def exchange(self) -> Exchange:
        """The exchange as rules see it."""
        return self.traffic.exchange

    @property
    def task_key(self) -> TaskKey:
        """Its task: tasks do not share responses."""
        return self.task_name, self.task.injector.seed

    def read(self, piece: bytes, *, last: bool) -> None:
        """Read a piece of the site's response."""
        for reader in self.rewriters:
            assert isinstance(reader, BodyReader)
            if piece:
                reader.read(piece)
            if last:
                reader.close()

    def fed(self, piece: bytes, *, last: bool) -> Iterable[bytes]:
        """Return what the client gets for a piece of the site's response."""
        # An empty chunk would end the body (RFC 9112 §7.1).
        return filter(None, rewritten(self.traffic.feed(piece), self.rewriters, last=last))


class ConnectionState(Struct, eq=False):
    """An open connection of a client."""

    name: str
    """In the trace: ``c1``, ``c2``…"""
    live: dict[str, ExchangeState] = field(default_factory=dict)
    """Its open exchanges that have begun, by their identifiers."""
    exchanges: int = 0
    """How many exchanges have begun on it."""
    limits: dict[str, ByteRate] = field(default_factory=dict)
    """Rate limits of this connection, by rule and direction."""
    is_refused: bool = False
    """Whether an HTTP/1 request on it was refused, which is not an exchange unless it had begun."""
