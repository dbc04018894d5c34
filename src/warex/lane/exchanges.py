"""The exchanges of a trial: each is attributed, decided on, planned, and recorded to its end.

One exchange: ``request_head`` (what is needed of its body) → ``request`` (record it, decide, apply
what comes before the site) → ``response`` (decide by the site's response) → ``whole_response``
(apply what comes after the site) → ``ended`` (record what has become of all that).
"""

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from math import isinf
from typing import Any, Final

from msgspec.structs import replace

from warex.effects import Delay, Reply
from warex.engine.handler import (
    Abort,
    BodyStep,
    Connection,
    Control,
    Need,
    Outcome,
    Plan,
    ReadWhole,
    RequestPlan,
    ResponsePlan,
    Stop,
    WholeResponsePlan,
)
from warex.engine.handler import Exchange as WireExchange
from warex.engine.http.heads import RequestHead
from warex.exchange import UNKNOWN_LOOK, Exchange, Request, Response, resource_of
from warex.lane.attribution import Attribution, task_of_user
from warex.lane.config import ProxyConfig
from warex.lane.connections import Connections
from warex.lane.hosts.own_hosts import RESERVED_HOSTS, is_reserved
from warex.lane.outcome import GAVE_UP_AFTER
from warex.lane.plan import EffectApplier, hold_seconds, request_plan, response_plan
from warex.lane.record.fault_events import record_plan, settle
from warex.lane.record.operation_name import operation_name
from warex.lane.record.recorder import Recorder
from warex.lane.relayed_responses import RelayedResponses, is_stream
from warex.lane.response_faults.previous_responses import PreviousResponses
from warex.lane.response_faults.rewritten_pages import RewrittenPages, rewrites
from warex.lane.response_faults.site_looks import SiteLooks
from warex.lane.response_faults.site_readers import SiteReaders
from warex.lane.settlement import Settlement
from warex.lane.sockets.sockets import Sockets
from warex.lane.state import (
    AppliedInjection,
    Asked,
    ConnectionState,
    Draft,
    ExchangeState,
    changes_socket,
    ends_open,
    read_head,
)
from warex.lane.traffic.base import Traffic
from warex.lane.traffic.kinds import Kinds, is_grpc, is_longer
from warex.lane.traffic.llm import LlmTraffic
from warex.lane.traffic.mcp import amends_response
from warex.lane.whole_response import WholeResponse
from warex.scenarios import Injector, PlannedInjection
from warex.traces import RequestSeen

_STREAM_THRESHOLD: Final = 256 * 1024
"""Bytes above which a request body is streamed if no rule can concern it."""
_MAX_WHOLE: Final = 64 * 1024 * 1024
"""Bytes of a response that a fault may need; a longer one passes as it comes."""
_SWITCHING: Final = 101
ENDED: Final[Any] = object()
"""The state of an exchange that has ended."""

type Answer = Callable[[ExchangeState], WholeResponse]
"""Answers a request to one of WAREX's own hosts."""


class Exchanges:
    """The exchanges of a trial."""

    def __init__(
        self,
        config: ProxyConfig,
        injector: Injector,
        recorder: Recorder,
        connections: Connections,
        attribution: Attribution,
        kinds: Kinds,
        *,
        previous: PreviousResponses,
        looks: SiteLooks,
        rewritten: RewrittenPages,
        answer: Answer,
        settlement: Settlement,
        control: Control,
    ) -> None:
        self._config = config
        self._injector = injector
        self._recorder = recorder
        self._connections = connections
        self._attribution = attribution
        self._kinds = kinds
        self._looks = looks
        self._readers = SiteReaders(previous, looks, rewritten, recorder.redactor)
        self._effects = EffectApplier(previous, rewritten, settlement.settle)
        self._relays = RelayedResponses(recorder, self._readers, rewritten, self._effects, control)
        self._rewritten = rewritten
        self._answer = answer
        self._settlement = settlement
        self.sockets = Sockets(recorder, attribution, settlement, control)
        self._control = control
        self._live: dict[str, ExchangeState] = {}
        """The open exchanges that have begun, by their identifiers."""
        self._incomplete: set[WireExchange] = set()
        """Exchanges whose request is awaited to its end."""

    # ---- the request

    def request_head(self, wire: WireExchange) -> Need:
        """Say whether the body is needed before anything is decided."""
        need = self._need(wire.request, wire.state.request)
        if need == "whole":
            self._incomplete.add(wire)
        return need

    def _need(self, head: RequestHead, request: Request) -> Need:
        if self._kinds.needs_request_body(head, request.url):
            return "whole"
        if not is_longer(head, _STREAM_THRESHOLD):
            return "whole"
        # A request that no rule concerns can be decided now. A gRPC call must be: its next message
        # may depend on the response to the previous one.
        concerned = self._injector.may_concern(request.method, request.url)
        return "whole" if concerned and not is_grpc(head) else "stream"

    def request(self, wire: WireExchange) -> RequestPlan:
        """Record the request, decide, and apply the faults that come before the site."""
        self._incomplete.discard(wire)
        state = self._begin(wire)
        if state.is_to_warex:
            state.draft.response = self._answer(state)
            return request_plan(state.draft, None, wire.request)
        if wire.request_body is not None:
            self._record_request(state)
            self._prepare_body(state)
        else:  # The request is recorded once its size is known.
            state.pending = list(state.decision.injections)
        if before := [it for it in state.pending if _comes_before(it)]:
            self._apply(state, before)
            for injection in filter(ends_open, before):
                self._end_open(state, injection)
        if not state.by_warex:
            self._ask(state)
        elif state.draft.abort is None:  # The page of WAREX's answer is changed, too.
            self._apply(state, list(state.pending))
        draft = state.draft
        is_sent = draft.response is None and draft.abort is None
        if is_sent and is_reserved(state.request.host):  # The host is below one of WAREX's own.
            state.refusal = "there is no such host"
            return self._settlement.planned(state, Plan(Abort("close")))
        site = self._connections.site(state.request)
        plan = request_plan(state.draft, site, wire.request)
        return self._settlement.planned(state, plan)

    def _begin(self, wire: WireExchange) -> ExchangeState:
        """Number the exchange and decide what happens to it."""
        state = self._register(wire)
        if state.is_to_warex:
            return state
        self._attribution.detect_by_request(state)
        head, body = wire.request, wire.request_body or b""
        state.traffic = self._kinds.recognise(
            state.traffic.exchange, state.resource, head.path, body, state.task.llm_calls
        )
        if isinstance(state.traffic, LlmTraffic):
            self._attribution.detect_by_llm_call(state, state.traffic.request)
            state.traffic.begin(state.task.llm_calls)
            self._attribution.model_asked(state.task)
        task = state.task
        state.decision = task.injector.request(state.traffic.exchange, state.began)
        self._attribution.record_arming(task, "first_page")
        if state.traffic.exchange.server != "site":
            self._attribution.on_rules_changed()  # They may concern its host no more.
        return state

    def _register(self, wire: WireExchange) -> ExchangeState:
        """Number the exchange, without a decision."""
        connection: ConnectionState = wire.connection.state
        asked = wire.state if isinstance(wire.state, Asked) else read_head(wire)
        head, request, body = asked.head, asked.request, wire.request_body
        if body:
            digest = hashlib.blake2b(body, digest_size=16).hexdigest()
            request = Request(request.method, request.url, request.headers, digest)
        self._recorder.exchanges += 1
        name, now = f"x{self._recorder.exchanges}", self._recorder.clock.now()
        shows = self._looks.wanted and request.is_top_level
        look = self._looks.of(request) if shows else UNKNOWN_LOOK
        own = asked.is_reserved and request.host in RESERVED_HOSTS
        own = own or self._rewritten.is_report(head.path)
        task, task_name = self._attribution.tasks.main, ""
        if not own:
            task, task_name = self._attribution.task_of(
                request, request.resource, asked.task_header, task_of_user(wire)
            )
        state = ExchangeState(
            wire,
            name,
            request,
            connection,
            task,
            Traffic(Exchange(name, request, None, now, look, connection.exchanges == 0)),
            request.resource,
            Draft(head),
            task_name,
            began=now,
            is_to_warex=own,
        )
        connection.exchanges += 1
        wire.state = connection.live[name] = self._live[name] = state
        self._connections.idle.used(wire.connection, request)
        return state

    def _record_request(self, state: ExchangeState) -> None:
        """Record the request and what was decided for it, once."""
        if state.is_to_warex:
            return
        state.is_recorded = True
        request, decision, wire = state.request, state.decision, state.wire
        body = wire.request_body or b""
        kind = request.headers.get("content-type", "")
        if state.traffic.may_be_form:
            self._recorder.redactor.learn_form(kind, body)
        headers, headers_left_out = self._recorder.heads.fields(state.draft.head)
        self._recorder.write(
            RequestSeen(
                exchange=state.id,
                method=request.method,
                url=request.url,
                resource=state.resource,
                top_level=request.is_top_level,
                http_version=wire.request.version,
                connection=state.connection.name,
                headers=headers,
                headers_left_out=headers_left_out,
                size=wire.request_bytes or len(body),
                body=self._recorder.body(request.body_digest),
                body_blob=self._store_body(state, body, kind),
                operation=operation_name(body, kind) if body else "",
                repeat_of=decision.repeat_of,
                task=state.task_name,
            )
        )
        state.task.llm_calls.note_recorded(state.traffic)
        record_plan(self._recorder, decision, request.url)
        state.pending = list(decision.injections)

    def _store_body(self, state: ExchangeState, body: bytes, kind: str) -> str:
        bodies = self._recorder.bodies
        if bodies is None or state.traffic.exchange.server != "site":
            return ""
        return bodies.keep(body, kind, state.request.headers.get("content-encoding", ""))

    def _prepare_body(self, state: ExchangeState) -> None:
        """Add to a call to a model what the condition or the options add."""
        state.draft.head = state.traffic.prepare_head(state.draft.head)
        body = state.wire.request_body or b""
        changed = state.traffic.prepare(state.draft.head, body)
        if changed != body:
            state.draft.body = changed

    def _ask(self, state: ExchangeState) -> None:
        """Prepare the request for its site, unless the LLM cache has a response to it."""
        draft, request = state.draft, state.request
        self._rewritten.note_request(request.url)
        if any(map(rewrites, state.pending)) or state.task.injector.may_rewrite(
            request.method, request.url
        ):
            state.may_be_rewritten = True
            draft.head = self._rewritten.prepare_request(draft.head, state.pending)
        body = draft.body if draft.body is not None else state.wire.request_body or b""
        cached = state.traffic.replay(draft.head, body)
        if cached is None:
            return
        state.from_cache = True
        draft.response = cached
        self._decide_by_response(state, cached)
        self._apply_after(state, cached)

    # ---- the response

    def response(self, wire: WireExchange) -> ResponsePlan:
        """Decide by the site's response; relay it unless a fault needs it complete."""
        state: ExchangeState = wire.state
        assert wire.response is not None
        if not state.is_recorded:
            self._record_request(state)
        state.traffic.answered(wire.response)
        state.answer = wire.response
        self._decide_by_response(state, WholeResponse(wire.response))
        if wire.response.status == _SWITCHING:
            self.sockets.begin(state)
        coded = "content-encoding" in wire.response.headers.by_name
        if state.may_be_rewritten and coded and not self._needs_buffering(state):
            # The response may be a decompression bomb.
            return self._settlement.planned(state, Plan(ReadWhole(1)))
        if state.pending and is_stream(wire.response) and all(map(_is_refusal, state.pending)):
            # The response may have no end.
            state.draft.response = response = WholeResponse(wire.response)
            self._apply(state, list(state.pending))
            return self._settlement.planned(state, response_plan(state.draft, response))
        if self._needs_buffering(state):
            if wait := state.traffic.amendment_wait_s:
                amended = (it for it in state.applied if it.amendment is not None)
                state.draft.holds += [(it, wait) for it in amended][:1]
            self._readers.note_buffered(state.request, state.resource, wire.response)
            plan = Plan(ReadWhole(_MAX_WHOLE), hold_seconds(state.draft))
            return self._settlement.planned(state, plan)
        return self._settlement.planned(state, self._relays.plan(state, b""))

    def whole_response(self, wire: WireExchange) -> WholeResponsePlan:
        """Apply the faults that come after the site, to its complete response."""
        state: ExchangeState = wire.state
        body = wire.response_body or b""
        assert wire.response is not None
        if not self._needs_buffering(state):
            return self._settlement.planned(state, self._relays.plan(state, body))
        if not wire.response_complete:
            self._settlement.miss_pending(state, "nothing_to_rewrite")
            return self._settlement.planned(state, self._relays.plan(state, body))
        received = WholeResponse(wire.response, body)
        state.response_size = len(body)
        state.draft.response = response = state.traffic.as_asked(received)
        self._apply_after(state, response)
        plan = response_plan(state.draft, received)
        return self._settlement.planned(state, plan)

    def _needs_buffering(self, state: ExchangeState) -> bool:
        if state.pending and not self._relays.can_apply(state):
            return True
        return state.traffic.needs_whole_response

    def _decide_by_response(self, state: ExchangeState, response: WholeResponse) -> None:
        head = response.head
        answer = Response(head.status, head.headers.by_name)
        state.resource = resource_of(state.request, answer)
        injector = state.task.injector
        if not injector.judges_responses:
            return
        now = self._recorder.clock.now()
        answered = replace(state.exchange, response=answer, at=now)
        decision = injector.response(answered, now)
        record_plan(self._recorder, decision, state.request.url)
        state.pending += decision.injections

    def response_piece(self, wire: WireExchange, piece: bytes, *, last: bool) -> Iterable[bytes]:
        """Return what the client gets for a piece of the site's response."""
        state: ExchangeState = wire.state
        if not state.relays:  # A planned response, as it is sent.
            return (state.traffic.feed(piece),) if piece else ()
        if state.only_reads:
            state.read(piece, last=last)
            return (piece,) if piece else ()
        if state.response_size is not None:
            state.response_size += len(piece)
        return state.fed(piece, last=last)

    def read_on(self, wire: WireExchange) -> bool:
        """Read more of the part of a response that has passed; return whether more is left."""
        state: ExchangeState = wire.state
        return state.traffic.read_on()

    def body_steps(self, wire: WireExchange, piece: bytes, *, last: bool) -> Iterable[BodyStep]:
        """Return what is done for a piece of a stream of events."""
        state: ExchangeState = wire.state
        if state.response_size is not None:
            state.response_size += len(piece)
        rewritten = b"".join(state.fed(piece, last=last))
        return () if state.body_steps is None else state.body_steps(rewritten, last)

    def stopped(self, wire: WireExchange, stop: Stop) -> None:
        """Note that the body ends here; an endless silence counts once the client has waited."""
        state: ExchangeState = wire.state
        if stop.then == "reset":
            self._settlement.connection_resets(state)
        if isinf(stop.silence_s):
            fell_silent = partial(self._settlement.fell_silent, state)
            self._control.call_later(GAVE_UP_AFTER, fell_silent)

    # ---- faults

    def _apply(self, state: ExchangeState, injections: list[PlannedInjection]) -> None:
        """Apply injections in order, until one ends the exchange."""
        for injection in injections:
            state.pending.remove(injection)
            if not state.traffic.can_apply(injection):
                settle(self._recorder, injection, "nothing_to_rewrite")
                continue
            applied = AppliedInjection(injection)
            state.applied.append(applied)
            self._effects.apply(state, applied)
            if state.draft.abort is not None:
                return

    def _end_open(self, hit: ExchangeState, injection: PlannedInjection) -> None:
        """Reset the open exchanges of the hit exchange's task that the rule matches."""
        injector = hit.task.injector
        # An exchange that another fault has hit ends by its own plan.
        live = [it for it in self._live.values() if not it.applied]
        for state in (*live, *self.sockets.open):
            request = state.request
            is_apart = state is hit or state.is_to_warex or state.traffic.exchange.server != "site"
            if is_apart or state.task is not hit.task:
                continue
            if injector.is_about(injection.rule, request.method, request.url):
                self._control.abort(state.wire, "reset")

    def _apply_after(self, state: ExchangeState, response: WholeResponse) -> None:
        """Apply the faults that come after a complete response of the site or the cache."""
        state.traffic.read_buffered(response)
        if state.traffic.exchange.server == "site" and not state.from_cache:
            self._readers.read_buffered(response)
        self._apply(state, list(state.pending))
        draft = state.draft
        if draft.abort is None and draft.response is not None and not state.by_warex:
            draft.response = state.traffic.amend(draft.response)

    # ---- the end

    def hold_ended(self, wire: WireExchange) -> None:
        """Note that the holds of the last plan are over."""
        self._settlement.hold_ended(wire.state)

    def ended(self, wire: WireExchange, outcome: Outcome) -> None:
        """Record what has become of an exchange, once."""
        state: Asked | ExchangeState | None = wire.state
        if state is ENDED:
            return
        if state is None or isinstance(state, Asked):
            connection: ConnectionState = wire.connection.state
            if wire in self._incomplete and connection.is_refused:
                self._incomplete.discard(wire)
                return
            self._incomplete.discard(wire)
            state = self._register(wire)
        if self._forget(state):
            self._settlement.end(state, outcome)
        if wire.response is None or wire.response.status != _SWITCHING:
            wire.state = ENDED  # Without the reference cycle, its memory is freed immediately.
        elif outcome.end == "complete":
            self.sockets.opened(state)

    def _forget(self, state: ExchangeState) -> bool:
        """Close an exchange; return whether its end is to be recorded."""
        if state.finished:
            return False
        state.finished = True
        self._live.pop(state.id, None)
        state.connection.live.pop(state.id, None)
        if not state.is_recorded:
            self._record_request(state)
        return not state.is_to_warex

    def finish(self) -> None:
        """Settle the open exchanges at the end of the trial."""
        for wire in list(self._incomplete):
            self._register(wire)
        self._incomplete.clear()
        for state in list(self._live.values()):
            if self._forget(state):
                self._settlement.end_trial(state)
        self.sockets.finish()

    def refuse(self, connection: Connection) -> None:
        """Record no HTTP/1 request of a connection that is awaited to its end."""
        if connection.version != "HTTP/2.0":
            state: ConnectionState = connection.state
            state.is_refused = True


def _is_refusal(injection: PlannedInjection) -> bool:
    """Whether an injection answers in the site's place, whatever the site's answer is."""
    return all(isinstance(effect, Reply | Delay) for effect in injection.effects)


def _comes_before(injection: PlannedInjection) -> bool:
    if changes_socket(injection):
        return False
    return injection.stage == "request" or amends_response(injection)
