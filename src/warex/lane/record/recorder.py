"""Records a trial: writes its events, and keeps the ledger of injections.

It is the only writer of a trial's trace. If it cannot write, ``void`` is set, and the lane stops.
"""

from collections.abc import Callable

from msgspec import Struct, field

from warex.clock import Clock
from warex.errors import TrialVoid, WarexError
from warex.hash_counter import HashCounter
from warex.lane.record.ledger import InjectionEvent, iter_ledger
from warex.lane.record.recorded_bodies import RecordedBodies
from warex.lane.record.recorded_heads import RecordedHeads
from warex.lane.record.traffic_summary import TrafficCounter, TrafficSummary
from warex.traces import (
    Event,
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    HarnessBroke,
    TraceWriter,
    TrialEnded,
)
from warex.traces.blobs import BlobStore
from warex.traces.redaction.event_lines import EventLines
from warex.traces.redaction.redactor import Redactor

_MISSED, _DELIVERED = 1, 2


class Recorder(Struct):
    """Writes events, and counts for the end of the trial."""

    clock: Clock
    writer: TraceWriter | None = None
    blobs: BlobStore | None = None
    bodies: RecordedBodies | None = None
    """Keeps the bodies of pages' exchanges; None if they are not recorded."""
    on_broken: Callable[[WarexError], None] = lambda cause: None
    void: WarexError | None = None
    """Why the trial is void: a TrialVoid, or the error of a trace that cannot be written."""
    heads: RecordedHeads = field(default_factory=RecordedHeads)
    exchanges: int = 0
    delivered: int = 0
    """Delivered occurrences: a client's silent retries belong to the same occurrence."""
    missed: int = 0
    """Occurrences that have ended with none of their injections delivered."""
    traffic: TrafficCounter = field(default_factory=TrafficCounter)
    on_settled: Callable[[FaultPlanned, FaultDelivered | FaultMissed], None] | None = None
    """Called for each injection that has ended, with its plan; set before the first is planned."""
    on_written: Callable[[Event], None] | None = None
    """Called for each event after it is written."""
    _lines: EventLines = field(default_factory=lambda: EventLines(Redactor()))
    """Redacts a trial without a trace."""
    _ledger: list[InjectionEvent] = field(default_factory=list)
    """The injection events of a trial without a trace."""
    _bodies: HashCounter = field(default_factory=HashCounter)
    _plans: dict[str, FaultPlanned] = field(default_factory=dict)
    """The open injections, if their ends are reported."""
    _first: dict[str, str] = field(default_factory=dict)
    """The first injection of the occurrence, by each open silent retry."""
    _outcomes: HashCounter = field(default_factory=HashCounter)

    @property
    def broken(self) -> str | None:
        """Why the trial is void, in a sentence."""
        return None if self.void is None else str(self.void)

    @property
    def redactor(self) -> Redactor:
        """What redacts the trial."""
        return self._lines.redactor if self.writer is None else self.writer.redactor

    @property
    def ledger(self) -> list[InjectionEvent]:
        """The injection events so far, as in the trace; without one, with their secrets.

        Raises TraceError if the trace cannot be read.
        """
        return list(self._ledger if self.writer is None else iter_ledger(self.writer.path))

    def as_json(self, event: Event) -> str:
        """Return an event as JSON without secrets."""
        lines = self._lines if self.writer is None else self.writer.lines
        return lines.of(event)

    def write(self, event: Event, t: float | None = None) -> None:
        """Record an event at second ``t`` of the trial, by default now.

        Raises WarexError if the trace cannot be written; the trial is then void.
        """
        if isinstance(event, FaultPlanned | FaultDelivered | FaultMissed):
            self._count(event)
        else:
            self.traffic.add(event)
        if self.writer is not None:
            try:
                self.writer.write(event, t)
            except WarexError as error:
                self._break(error)
                raise
        if self.on_written is not None:
            self.on_written(event)

    def _count(self, event: InjectionEvent) -> None:
        match event:
            case FaultPlanned(injection=injection):
                if event.repeat_of is not None:
                    self._first[injection] = event.repeat_of
                if self.on_settled is not None:
                    self._plans[injection] = event
            case FaultDelivered(injection=injection):
                self._settled(injection, delivered=True)
                self._report(injection, event)
            case FaultMissed(injection=injection):
                if injection is not None:  # None for skipped exchanges.
                    self._settled(injection, delivered=False)
                    self._report(injection, event)
        if self.writer is None:
            self._ledger.append(event)

    def _report(self, injection: str, end: FaultDelivered | FaultMissed) -> None:
        plan = self._plans.pop(injection, None)
        if plan is not None and self.on_settled is not None:
            self.on_settled(plan, end)

    def body(self, digest: str) -> int:
        """Return the number of a request's body, from 1; 0 for an empty digest.

        The digest itself is not recorded, since a password could be guessed from it.
        """
        if not digest:
            return 0
        number = self._bodies[digest]
        if not number:
            number = self._bodies[digest] = len(self._bodies) + 1
        return number

    def harness_broke(self, reason: str, exchange: str | None = None) -> None:
        """Record that WAREX itself failed, which voids the trial."""
        first = self.void is None
        try:
            self.write(HarnessBroke(reason=reason, exchange=exchange))
        except WarexError:
            return  # ``void`` already says that the trace cannot be written.
        if first:
            self._break(TrialVoid(reason))

    def summary(self) -> TrafficSummary:
        """Return the traffic and counts so far."""
        return TrafficSummary(
            hosts=dict(self.traffic.hosts),
            browser=self.traffic.browser,
            llm_unread=self.traffic.llm_unread,
            llm_unread_first=self.traffic.llm_unread_first,
            answers=self.traffic.answers,
            acts=self.traffic.acts,
            armed=self.traffic.armed,
            tasks=self.traffic.tasks,
            unattributed=self.traffic.unattributed,
            exchanges=self.exchanges,
            llm_calls=self.traffic.llm_calls,
            delivered=self.delivered,
            missed=self.missed,
        )

    def close(self) -> None:
        """End the trace; raise WarexError if that cannot be written."""
        try:
            if self.bodies is not None:
                self.bodies.close()
            if self.void is None:
                exchanges, delivered, missed = self.exchanges, self.delivered, self.missed
                self.write(TrialEnded(exchanges=exchanges, delivered=delivered, missed=missed))
        finally:
            if self.writer is not None:
                self.writer.close()

    def _settled(self, injection: str, *, delivered: bool) -> None:
        occurrence = self._first.pop(injection, injection)
        before = self._outcomes[occurrence]
        if delivered and before != _DELIVERED:
            self.delivered += 1
            self.missed -= before == _MISSED
            self._outcomes[occurrence] = _DELIVERED
        elif not delivered and not before:
            self.missed += 1
            self._outcomes[occurrence] = _MISSED

    def _break(self, cause: WarexError) -> None:
        if self.void is None:
            self.void = cause
            self.on_broken(cause)
