"""The injections of a trial, as its ledger tells them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import JsonValue

from warex.text.arguments import made_by
from warex.traces import Event, FaultDelivered, FaultMissed, FaultPlanned


@made_by("the ledger of warex.intercept(…)")
@dataclass(frozen=True, slots=True)
class Injection:
    """One fault planned for one exchange, and its state."""

    id: str
    rule: str
    kind: str
    """The fault's kind, as ``warex faults`` lists it."""
    fault: Mapping[str, JsonValue]
    url: str
    exchange: str
    ordinal: int
    """Its number among the exchanges that the rule counts, from 1."""
    state: Literal["planned", "delivered", "missed"]
    reason: str | None = None
    waited_s: float = 0.0
    repeat_of: str | None = None
    """The injection that this one repeats, because the browser silently resent its request."""


def injections_of(events: Iterable[Event]) -> list[Injection]:
    """Return the injections of a ledger or a trace, in planning order."""
    injections: dict[str, Injection] = {}
    for event in events:
        match event:
            case FaultPlanned():
                injections[event.injection] = Injection(
                    id=event.injection,
                    rule=event.rule,
                    kind=str(event.fault.get("kind", "")),
                    fault=event.fault,
                    url=event.url,
                    exchange=event.exchange,
                    ordinal=event.ordinal,
                    state="planned",
                    repeat_of=event.repeat_of,
                )
            case FaultDelivered() if injection := injections.get(event.injection):
                injections[injection.id] = replace(
                    injection, state="delivered", waited_s=event.waited_s
                )
            case FaultMissed(injection=str(missed)) if injection := injections.get(missed):
                injections[injection.id] = replace(
                    injection, state="missed", reason=event.reason, waited_s=event.waited_s
                )
            case _:
                pass
    return list(injections.values())
