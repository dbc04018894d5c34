"""Responses of sites that are relayed as they come: read, rewritten and paced on the way."""

from typing import Final

from warex.engine.handler import Control, Plan, Relay
from warex.lane.plan import EffectApplier, hold_seconds
from warex.lane.record.fault_events import settle
from warex.lane.record.recorder import Recorder
from warex.lane.response_faults.rewritten_pages import RewrittenPages, rewrites
from warex.lane.response_faults.site_readers import SiteReaders
from warex.lane.response_faults.stream_rewriter import BodyReader, changes_length_of
from warex.lane.sending.body_pace import can_relay, length_of, pace_of
from warex.lane.state import AppliedInjection, ExchangeState
from warex.lane.traffic.llm import LlmTraffic
from warex.lane.traffic.mcp import McpTraffic
from warex.scenarios import PlannedInjection

_SWITCHING: Final = 101


class RelayedResponses:
    """Plans the responses of a trial that are not read whole first."""

    def __init__(
        self,
        recorder: Recorder,
        readers: SiteReaders,
        rewritten: RewrittenPages,
        effects: EffectApplier,
        control: Control,
    ) -> None:
        self._recorder = recorder
        self._readers = readers
        self._rewritten = rewritten
        self._effects = effects
        self._control = control

    def can_apply(self, state: ExchangeState) -> bool:
        """Whether the pending injections can be applied to a response while it comes."""
        if not state.pending:
            return True
        head = state.wire.response
        length = None if head is None else length_of(state.request.method, head)
        return all(rewrites(it) or can_relay(it, length) for it in state.pending)

    def plan(self, state: ExchangeState, beginning: bytes) -> Plan[Relay]:
        """Relay the response; ``beginning``: what was read of it, if it was needed."""
        wire = state.wire
        head = wire.response
        assert head is not None
        length = length_of(state.request.method, head)
        state.relays = True
        state.rewriters += self._readers.of_relayed(
            state.task_key,
            state.request,
            state.resource,
            head,
            is_rewritten=any(map(rewrites, state.pending)),
            of_agent=state.traffic.is_agent_request,
        )
        changes_length = False
        for injection in state.pending:
            if not rewrites(injection):
                self._apply(state, injection)
                continue
            applied = AppliedInjection(injection)
            state.applied.append(applied)
            change = self._effects.page_change(state, applied)
            head = self._rewritten.begin(change, wire.request, head, beginning)
            if change.rewriter is not None:
                state.rewriters.append(change.rewriter)
                changes_length |= changes_length_of(change.rewriter)
        state.pending = []
        state.answer = head
        traffic = state.traffic
        if isinstance(traffic, McpTraffic):
            self._push_events(state, traffic)
        is_read = isinstance(traffic, LlmTraffic | McpTraffic)
        tap = is_read or bool(state.rewriters)
        changing = [it for it in state.rewriters if not isinstance(it, BodyReader)]
        state.only_reads = tap and not (is_read or changing)
        if tap and not state.only_reads:
            state.response_size = 0
        relay = Relay(
            None if head is wire.response else head,
            tap=tap,
            changes_length=changes_length
            or (isinstance(traffic, McpTraffic) and traffic.tap.can_change),
            only_reads=state.only_reads,
            pace=None if head.status == _SWITCHING else pace_of(state.draft, length),
        )
        return Plan(relay, hold_seconds(state.draft))

    def _apply(self, state: ExchangeState, injection: PlannedInjection) -> None:
        if not state.traffic.can_apply(injection):
            settle(self._recorder, state.task.injector, injection, "nothing_to_rewrite")
            return
        applied = AppliedInjection(injection)
        state.applied.append(applied)
        self._effects.apply(state, applied)

    def _push_events(self, state: ExchangeState, traffic: McpTraffic) -> None:
        """Have messages of WAREX's own sent between two events of the server."""

        def push() -> None:
            traffic.tap.on_queued = push
            if queued := traffic.tap.take_queued():
                self._control.push(state.wire, queued)

        traffic.tap.on_queued = push
        traffic.tap.client_has_left = lambda: state.finished
