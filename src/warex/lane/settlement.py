"""Follows plans to their end, and settles the injections in them by what became of them."""

from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import SplitResult

from warex.engine.handler import (
    Abort,
    ExchangeTimings,
    Forward,
    Outcome,
    Plan,
    ReadWhole,
    Relay,
    Respond,
    SiteFailure,
)
from warex.lane.ending import ended_response, ending_of
from warex.lane.outcome import (
    CUT,
    GAVE_UP_AFTER,
    Arrival,
    arrival_of,
    delivery_of,
    share_holds,
    site_failed,
)
from warex.lane.record.fault_events import missed, settle
from warex.lane.record.recorder import Recorder
from warex.lane.response_faults.previous_responses import PreviousResponses
from warex.lane.response_faults.site_readers import copy_of
from warex.lane.sending.body_pace import note_unmet
from warex.lane.state import AppliedInjection, ExchangeState, ends_open
from warex.lane.tasks import Task
from warex.lane.traffic.base import Ending
from warex.lane.traffic.llm import LlmCalls
from warex.traces import ChangedValue, MissReason, SiteUnreachable

_RETRIED_STATUSES: Final = (408, 421)
"""Statuses after which Chromium silently retries on another connection (measured; RFC 9110 §15.5.9
and §15.5.20 allow it)."""
_TWICE: Final = ChangedValue(where="request", before="once", after="twice")


class Settlement:
    """Settles the injections of a trial's exchanges."""

    def __init__(
        self,
        recorder: Recorder,
        previous: PreviousResponses,
        *,
        on_unreachable: Callable[[SiteUnreachable, SplitResult], None],
        on_task_ended: Callable[[Task[LlmCalls]], None],
    ) -> None:
        self._recorder = recorder
        self._previous = previous
        self._on_unreachable = on_unreachable
        self._on_task_ended = on_task_ended

    def planned[T: Forward | Respond | Relay | ReadWhole | Abort](
        self, state: ExchangeState, plan: Plan[T]
    ) -> Plan[T]:
        """Note when a plan was made; injections without holds are done now."""
        state.plan = plan.then
        if isinstance(plan.then, Respond) and state.draft.response is not None:
            state.answer = state.draft.response.head
        if state.draft.holds:
            state.planned_at = self._recorder.clock.now()
        state.holds, state.draft.holds = state.draft.holds, []
        if not state.holds:
            self._perform(state)
        return plan

    def hold_ended(self, state: ExchangeState) -> None:
        """Settle the faults that only hold, and expect what the browser does next."""
        held_s = self._recorder.clock.now() - state.planned_at
        self._end_holds(state, held_s, over=True)
        self._perform(state)

    def _end_holds(
        self, state: ExchangeState, held_s: float, *, over: bool
    ) -> AppliedInjection | None:
        """Give each injection its share of the holds; return that in whose hold the client left."""
        last = None
        for applied, seconds in share_holds(state.holds, held_s, over=over):
            applied.waited_s += seconds
            last = applied
        state.held_s += held_s
        state.holds = []
        return last

    def _perform(self, state: ExchangeState) -> None:
        """Note the effects of the plan that begins now, before any of it is sent."""
        for applied in [it for it in state.applied if it.ends_with_holds]:
            self._settle(state, applied, Arrival(arrived=True))
        match state.plan:
            case Abort() if any(ends_open(it.injection) for it in state.applied):
                pass  # As long as it lasts, the fault hits the repeated request itself.
            case Abort(how="reset"):  # The browser retries every exchange that it ends.
                self._expect_retries(state.connection.live.values())
            case Abort():
                self._expect_retries([state])
            case Respond(status=status) if status in _RETRIED_STATUSES:
                self._expect_retries([state])
            case Relay() if state.answer and state.answer.status in _RETRIED_STATUSES:
                self._expect_retries([state])
            case _:
                pass

    def _expect_retries(self, ended: Iterable[ExchangeState]) -> None:
        """Expect that the browser silently retries exchanges that end."""
        now = self._recorder.clock.now()
        for state in ended:
            state.task.injector.died(state.id, now)

    def connection_resets(self, state: ExchangeState) -> None:
        """Expect the browser to repeat what a reset within a body left unanswered."""
        self._expect_retries(it for it in state.connection.live.values() if it.answer is None)

    def fell_silent(self, state: ExchangeState) -> None:
        """Settle the injection in whose silence a client has been waiting for a while."""
        if state.finished or not state.draft.stops:
            return
        applied = state.draft.stops[-1].applied
        applied.waited_s += GAVE_UP_AFTER
        self._settle(state, applied, Arrival(arrived=True))

    def miss_pending(self, state: ExchangeState, reason: MissReason) -> None:
        """Settle the injections that can no longer be applied."""
        for injection in state.pending:
            settle(self._recorder, injection, reason)
        state.pending = []

    def settle(self, state: ExchangeState, applied: AppliedInjection, arrived: bool) -> None:
        """Record the outcome of an injection that was open after its exchange."""
        if applied.amendment is not None:
            applied.waited_s += applied.amendment.waited_s
        self._settle(state, applied, Arrival(arrived))

    def settle_left(self, state: ExchangeState, applied: AppliedInjection) -> None:
        """Record the outcome of an injection whose channel has ended, perhaps while it held it."""
        hits = applied.messages
        if hits is None or hits.count or hits.held_since is None:
            self._settle(state, applied, Arrival(arrived=True))
            return
        applied.waited_s += self._recorder.clock.now() - hits.held_since
        self._settle(
            state, applied, Arrival(arrived=False, client_left=True, left_during_hold=True)
        )

    def _settle(self, state: ExchangeState, applied: AppliedInjection, arrival: Arrival) -> None:
        """Record the outcome of an injection, once."""
        if applied not in state.applied:
            return
        state.applied.remove(applied)
        delivery = delivery_of(applied, arrival)
        if delivery.missed is None:
            state.traffic.note_delivered(applied.injection)
        settle(
            self._recorder,
            applied.injection,
            delivery.missed,
            applied.waited_s,
            client_left=delivery.client_left,
            changes=applied.changes,
            left_out=applied.changes_left_out,
        )

    # ---- the end

    def end(self, state: ExchangeState, outcome: Outcome) -> None:
        """Record what has become of an exchange, once its request is recorded."""
        draft = state.draft
        error = CUT if outcome.end == "aborted" and draft.is_cut else outcome.error
        if isinstance(state.plan, Respond) and outcome.head_sent and not draft.is_cut:
            error = None  # The client has the beginning of an answer of ours.
        error = state.refusal or error
        if (outcome.unreachable or state.refusal) and not state.by_warex:
            self._note_unreachable(state, outcome.unreachable or "dns_error", error or "")
        if outcome.refused_unprocessed:
            self._expect_retries([state])
        if state.applied:
            note_unmet(state, outcome)
        arrivals = self._arrivals(state, outcome) if state.applied or state.holds else {}
        if not outcome.head_sent:  # The client left in a hold, before the end of the exchange.
            for applied in [it for it in state.applied if arrivals[id(it)].left_during_hold]:
                self._settle(state, applied, arrivals[id(applied)])
        if state.draft.abort is not None and outcome.end == "aborted":
            self._settle_cuts(state, arrivals)
        ending = ending_of(state, outcome, error)
        self._recorder.write(ended_response(state, outcome, ending, self._recorder))
        if error is None and outcome.arrived and self._previous.wanted:
            self._keep(state, ending)
        state.traffic.keep_open(ending)
        # A page of which the client has the beginning may still report.
        began = outcome.arrived or outcome.head_sent
        for applied in list(state.applied):
            if applied.outlives_exchange(arrived=began):
                continue
            if applied.messages is not None and outcome.end == "client_left":
                self.settle_left(state, applied)
            else:
                self._settle(state, applied, arrivals[id(applied)])
        if state.pending:
            self.miss_pending(state, "site_failed" if site_failed(outcome) else "client_gone")
        if state.traffic.end(ending):
            self._on_task_ended(state.task)
        state.task.injector.finish(state.id)

    def _note_unreachable(self, state: ExchangeState, failure: SiteFailure, error: str) -> None:
        request = state.request
        self._on_unreachable(
            SiteUnreachable(
                connection=state.connection.name,
                exchange=state.id,
                host=request.host,
                port=request.port,
                failure=failure,
                error=error,
            ),
            request.parts,
        )

    def _arrivals(self, state: ExchangeState, outcome: Outcome) -> dict[int, Arrival]:
        """Return what reached the client of each applied injection, by its identity."""
        unfinished = None
        if state.holds:
            held_s = max(0.0, outcome.held_s - state.held_s)
            unfinished = self._end_holds(state, held_s, over=False)
            self._unapply(state, unfinished)
            # The client has nothing of what was planned.
            state.by_warex, state.answer = False, None
        elif paused := max(0.0, outcome.held_s - state.held_s):
            for applied in state.applied:
                applied.waited_s += paused
        for applied, _ in zip(state.draft.copies, range(outcome.copies_sent), strict=False):
            applied.site_change = _TWICE
        return {
            id(it): arrival_of(it, outcome, left_during_hold=it is unfinished)
            for it in state.applied
        }

    def _unapply(self, state: ExchangeState, last: AppliedInjection | None) -> None:
        """Take back the injections after that in whose hold the exchange ended."""
        if last is None or last not in state.applied:
            return
        at = state.applied.index(last)
        for applied in state.applied[:at]:
            if applied.ends_with_holds:
                self._settle(state, applied, Arrival(arrived=True))
        at = state.applied.index(last)
        later = [it.injection for it in state.applied[at + 1 :]]
        state.applied = state.applied[: at + 1]
        state.pending = [*later, *state.pending]

    def _settle_cuts(self, state: ExchangeState, arrivals: dict[int, Arrival]) -> None:
        for applied in [it for it in state.applied if it.is_cut]:
            self._settle(state, applied, arrivals[id(applied)])
        self.miss_pending(state, "superseded")

    def _keep(self, state: ExchangeState, ending: Ending) -> None:
        """Keep a complete response of the site, which a fault may give again."""
        if state.by_warex or state.traffic.exchange.server != "site" or ending.head is None:
            return
        strayed = any(it.site_change for it in state.applied)
        self._previous.note_complete(
            state.task_key,
            state.id,
            state.request,
            state.resource,
            ending.head,
            "" if strayed else state.draft.head.path,
            copy_of(state.rewriters),
        )

    def end_trial(self, state: ExchangeState) -> None:
        """Settle what is applied to an exchange that is open when the trial ends."""
        now = self._recorder.clock.now()
        self._end_holds(state, now - state.planned_at if state.holds else 0.0, over=False)
        for applied in state.applied:
            self._recorder.write(missed(applied.injection, "trial_over", applied.waited_s))
        for injection in state.pending:
            self._recorder.write(missed(injection, "trial_over"))
        state.applied, state.pending = [], []
        wall = self._recorder.clock.wall()
        timings = ExchangeTimings(started=wall - (now - state.began), ended=wall)
        self.end(state, Outcome(end="shut_down", error="the trial ended", timings=timings))
