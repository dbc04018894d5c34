"""The fate of each planned injection, and the exchanges that rules skipped."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from warex.traces.events import Entry, FaultDelivered, FaultMissed, FaultPlanned

type Fate = Literal["delivered", "missed", "open"]
"""``open``: the trace ends before the fate is known."""


@dataclass(frozen=True, slots=True)
class InjectionRecord:
    """One fault planned for one exchange, with its lines of the trace."""

    id: str
    rule: str
    kind: str
    exchange: str
    url: str
    ordinal: int
    """Number of the occurrence among those of the rule, from 1."""
    planned_seq: int
    planned_t: float
    repeat_of: str | None = None
    """The injection of which this is a silent repeat by the client: the same occurrence."""
    fate: Fate = "open"
    fate_seq: int | None = None
    reason: str = ""
    """Why it was missed."""
    waited_s: float = 0.0
    """Seconds that the client was held."""
    client_left: bool = False


def injections(entries: Iterable[Entry]) -> tuple[InjectionRecord, ...]:
    """Return every planned injection with its fate, in the order of planning."""
    records: dict[str, InjectionRecord] = {}
    for entry in entries:
        match entry.event:
            case FaultPlanned() as plan:
                records[plan.injection] = InjectionRecord(
                    id=plan.injection,
                    rule=plan.rule,
                    kind=str(plan.fault.get("kind", "")),
                    exchange=plan.exchange,
                    url=plan.url,
                    ordinal=plan.ordinal,
                    planned_seq=entry.seq,
                    planned_t=entry.t,
                    repeat_of=plan.repeat_of,
                )
            case FaultDelivered() as done if done.injection in records:
                records[done.injection] = replace(
                    records[done.injection],
                    fate="delivered",
                    fate_seq=entry.seq,
                    waited_s=done.waited_s,
                    client_left=done.client_left,
                )
            case FaultMissed(injection=str(name)) as missed if name in records:
                records[name] = replace(
                    records[name],
                    fate="missed",
                    fate_seq=entry.seq,
                    reason=missed.reason,
                    waited_s=missed.waited_s,
                )
            case _:
                pass
    return tuple(records.values())


def skipped(entries: Iterable[Entry]) -> tuple[tuple[str, int], ...]:
    """Count the exchanges that rules skipped, by reason."""
    counts: Counter[str] = Counter()
    for entry in entries:
        if isinstance(entry.event, FaultMissed) and entry.event.injection is None:
            counts[entry.event.reason] += entry.event.count
    return tuple(sorted(counts.items()))


def occurrences(of: Iterable[InjectionRecord]) -> tuple[InjectionRecord, ...]:
    """Return one injection for each occurrence of one trial, in the order of planning.

    Connection tries and silent repeats of a request by the browser are one occurrence. It is
    delivered if any of its injections is; otherwise it has the fate of the last one.
    """
    records: dict[str, InjectionRecord] = {}
    for injection in of:
        root = injection.repeat_of or injection.id
        if root not in records or records[root].fate != "delivered":
            records[root] = injection
    return tuple(records.values())


def missed(of: Iterable[InjectionRecord]) -> tuple[tuple[str, int], ...]:
    """Count the injections that were not delivered, by reason; ``trace_cut`` for an open fate."""
    counts = Counter(i.reason or "trace_cut" for i in of if i.fate != "delivered")
    return tuple(sorted(counts.items()))
