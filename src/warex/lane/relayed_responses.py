"""Responses of sites that are relayed as they come: read, rewritten and paced on the way."""

from typing import Final

from msgspec.structs import replace

from warex.effects import ChangeMessages
from warex.engine.handler import Control, Plan, Relay
from warex.engine.http.encoding import StreamDecoder
from warex.engine.http.heads import ResponseHead
from warex.lane.plan import EffectApplier, hold_seconds
from warex.lane.record.fault_events import settle
from warex.lane.record.recorded_bodies import LARGEST
from warex.lane.record.recorder import Recorder
from warex.lane.response_faults.body_copy import BodyCopy
from warex.lane.response_faults.rewritten_pages import RewrittenPages, rewrites
from warex.lane.response_faults.site_readers import SiteReaders
from warex.lane.response_faults.stream_rewriter import BodyReader, changes_length_of
from warex.lane.sending.body_pace import can_relay, length_of, pace_of
from warex.lane.sockets.event_faults import EventFaults
from warex.lane.sockets.hits import MessageRule
from warex.lane.state import (
    AppliedInjection,
    ExchangeState,
    MessageHits,
    changes_events,
    changes_socket,
)
from warex.lane.traffic.llm import LlmTraffic
from warex.lane.traffic.mcp import McpTraffic
from warex.rewriting.event_stream import MEDIA_TYPES
from warex.scenarios import PlannedInjection

_SWITCHING: Final = 101


def is_stream(head: ResponseHead) -> bool:
    """Whether a response is a stream of events, which may have no end."""
    return _media_type(head) in MEDIA_TYPES


def _media_type(head: ResponseHead) -> str:
    return head.headers.get("content-type").partition(";")[0].strip().lower()


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
        head = state.wire.response
        length = None if head is None else length_of(state.request.method, head)
        return all(
            rewrites(it) or changes_socket(it) or changes_events(it) or can_relay(it, length)
            for it in state.pending
        )

    def plan(self, state: ExchangeState, beginning: bytes) -> Plan[Relay]:
        """Relay the response; ``beginning``: what was read of it, if it was needed."""
        wire, draft = state.wire, state.draft
        head = wire.response
        assert head is not None
        site_head = head
        state.relays = True
        state.rewriters += self._readers.of_relayed(
            state.task_key,
            state.request,
            state.resource,
            head,
            is_rewritten=any(map(rewrites, state.pending)),
            of_agent=state.traffic.exchange.server != "site",
        )
        changes_length = False
        of_events = [it for it in state.pending if changes_events(it)]
        for injection in state.pending:
            if changes_events(injection):
                continue
            if changes_socket(injection):  # The site has not opened one.
                settle(self._recorder, injection, "nothing_to_rewrite")
                continue
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
        if of_events:
            head = self._begin_events(state, of_events, head)
        state.answer = head
        traffic = state.traffic
        if self._may_keep_body(state, site_head):
            state.body_copy = BodyCopy(LARGEST)
            state.rewriters.append(state.body_copy)
        if isinstance(traffic, McpTraffic):
            self._push_events(state, traffic)
        is_read = isinstance(traffic, LlmTraffic | McpTraffic)
        tap = is_read or bool(state.rewriters) or state.body_steps is not None
        changing = [it for it in state.rewriters if not isinstance(it, BodyReader)]
        state.only_reads = tap and not (is_read or changing or state.body_steps)
        if tap and not state.only_reads:
            state.response_size = 0
        pace = None
        if (draft.limits or draft.stops or draft.trickle) and head.status != _SWITCHING:
            pace = pace_of(draft, length_of(state.request.method, site_head))
        relay = Relay(
            None if head is wire.response else head,
            tap=tap,
            changes_length=changes_length or state.body_steps is not None or traffic.changes_length,
            only_reads=state.only_reads,
            steps=state.body_steps is not None,
            pace=pace,
            reads_on=is_read and traffic.reads_on,
        )
        return Plan(relay, hold_seconds(draft) if draft.holds else ())

    def _may_keep_body(self, state: ExchangeState, head: ResponseHead) -> bool:
        """Whether the body is to be recorded; a stream of events may have no end."""
        of_site = state.traffic.exchange.server == "site"
        if self._recorder.bodies is None or not of_site or is_stream(head):
            return False
        length = length_of(state.request.method, head)
        return head.status != _SWITCHING and (length is None or 0 < length <= LARGEST)

    def _begin_events(
        self, state: ExchangeState, injections: list[PlannedInjection], head: ResponseHead
    ) -> ResponseHead:
        """Begin to change the events of a stream; return its head."""
        request, coding = state.request, head.headers.get("content-encoding")
        kind = _media_type(head)
        if kind not in MEDIA_TYPES or not StreamDecoder.reads(coding):
            for injection in injections:
                settle(self._recorder, injection, "nothing_to_rewrite")
            return head
        rules: list[MessageRule] = []
        for injection in injections:
            applied = AppliedInjection(injection, messages=MessageHits())
            state.applied.append(applied)
            about = f"{request.method} {request.url}"
            effects = (it for it in injection.effects if isinstance(it, ChangeMessages))
            rules += [MessageRule(applied, effect, about) for effect in effects]
        control, wire = self._control, state.wire
        faults = EventFaults(
            rules,
            kind,
            coding,
            self._recorder.clock.now,
            control.call_later,
            lambda piece: control.push(wire, piece),
        )
        state.body_steps = lambda piece, last: faults.steps(piece, last=last)
        headers = head.headers.without("content-encoding", "content-length")
        version = head.version
        if wire.request.version == "HTTP/1.1":
            version, headers = "HTTP/1.1", headers.with_field("transfer-encoding", "chunked")
        return replace(head, version=version, headers=headers, raw=b"")

    def _apply(self, state: ExchangeState, injection: PlannedInjection) -> None:
        if not state.traffic.can_apply(injection):
            settle(self._recorder, injection, "nothing_to_rewrite")
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
