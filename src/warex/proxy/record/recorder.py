"""Keeps the trial's record: numbers its events, writes them, and remembers the injections.

It is the one writer of a trial's trace. When it cannot write, nothing may go on as if it had: the
``broken`` sentence is set, and the lane stops.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from warex.clock import Clock
from warex.errors import WarexError
from warex.packed import CompressedList, HashCounter
from warex.proxy.record.traffic_summary import TrafficCounter, TrafficSummary
from warex.traces import Event, FaultDelivered, FaultMissed, FaultPlanned, HarnessBroke, TraceWriter
from warex.traces.blobs import BlobStore

_MISSED, _DELIVERED = 1, 2


@dataclass(slots=True)
class Recorder:
    """Writes events and counts what the trial's end reports."""

    clock: Clock
    writer: TraceWriter | None = None
    blobs: BlobStore | None = None
    on_broken: Callable[[str], None] = lambda reason: None
    broken: str | None = None
    """Why the trial is void, in a sentence."""
    exchanges: int = 0
    delivered: int = 0
    """Occurrences: what a client tries again silently belongs to the first try."""
    missed: int = 0
    """Occurrences that are over, none of their injections delivered."""
    traffic: TrafficCounter = field(default_factory=TrafficCounter)
    on_written: Callable[[Event], None] = lambda event: None
    """Told of each event, once it stands in the trace."""
    _ledger: CompressedList[Event] = field(default_factory=CompressedList)
    _bodies: HashCounter = field(default_factory=HashCounter)
    _first: dict[str, str] = field(default_factory=dict)
    """Of each silent repeat under way, the first injection of its occurrence."""
    _outcomes: HashCounter = field(default_factory=HashCounter)

    @property
    def ledger(self) -> list[Event]:
        """The injection events so far, for the control API."""
        return list(self._ledger)

    def write(self, event: Event, t: float | None = None) -> None:
        """Record an event; ``t`` in seconds of the trial, now if left out.

        Raises WarexError where the trace cannot be written; the trial is then void.
        """
        match event:
            case FaultPlanned(injection=injection):
                if event.repeat_of is not None:
                    self._first[injection] = event.repeat_of
                self._ledger.append(event)
            case FaultDelivered(injection=injection):
                self._settled(injection, delivered=True)
                self._ledger.append(event)
            case FaultMissed(injection=injection):
                # What a rule left alone was never on its way.
                if injection is not None:
                    self._settled(injection, delivered=False)
                self._ledger.append(event)
            case _:
                self.traffic.add(event)
        if self.writer is not None:
            try:
                self.writer.write(event, t)
            except WarexError as error:
                self._break(str(error))
                raise
        self.on_written(event)

    def body(self, digest: str) -> int:
        """Return the number of a request's body, from 1; 0 for an empty digest.

        A number and not the digest: that of a password could be guessed from.
        """
        if not digest:
            return 0
        number = self._bodies[digest]
        if not number:
            number = self._bodies[digest] = len(self._bodies) + 1
        return number

    def harness_broke(self, reason: str, exchange: str | None = None) -> None:
        """Record that WAREX itself failed: the trial is void from here on."""
        first = self.broken is None
        try:
            self.write(HarnessBroke(reason=reason, exchange=exchange))
        except WarexError:
            return  # The sentence about the trace itself is set by then, and says more.
        if first:
            self._break(reason)

    def summary(self) -> TrafficSummary:
        """Return what was seen and done so far."""
        return TrafficSummary(
            hosts=dict(self.traffic.hosts),
            browser=self.traffic.browser,
            llm_unread=self.traffic.llm_unread,
            llm_unread_first=self.traffic.llm_unread_first,
            armed=self.traffic.armed,
            tasks=self.traffic.tasks,
            unattributed=self.traffic.unattributed,
            exchanges=self.exchanges,
            llm_calls=self.traffic.llm_calls,
            delivered=self.delivered,
            missed=self.missed,
        )

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

    def _break(self, reason: str) -> None:
        if self.broken is None:
            self.broken = reason
            self.on_broken(reason)
