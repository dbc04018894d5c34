"""The ledger's events of an injection, for exchanges and for connection tries."""

from collections.abc import Iterator, Sequence

from warex.effects import Reply
from warex.faults import ConnectionPhase
from warex.lane.record.recorder import Recorder
from warex.scenarios import Decision, Injector, PlannedInjection
from warex.traces import ChangedValue, FaultDelivered, FaultMissed, FaultPlanned, MissReason


def record_plan(
    recorder: Recorder, decision: Decision, url: str, point: ConnectionPhase | None = None
) -> None:
    """Write the planned and the superseded injections of a decision."""
    for injection in decision.injections:
        recorder.write(planned(injection, url, point))
    for injection in decision.superseded:
        recorder.write(planned(injection, url, point))
        recorder.write(missed(injection, "superseded"))


def settle(
    recorder: Recorder,
    injection: PlannedInjection,
    reason: MissReason | None,
    waited_s: float = 0.0,
    *,
    client_left: bool = False,
    changes: Sequence[ChangedValue] = (),
    left_out: int = 0,
) -> None:
    """Record the outcome of an injection: delivered, or missed for a reason."""
    injection.settle(delivered=reason is None)
    if reason is None:
        recorder.write(delivered(injection, waited_s, client_left, changes, left_out))
    else:
        recorder.write(missed(injection, reason, waited_s))


def planned(
    injection: PlannedInjection, url: str, point: ConnectionPhase | None = None
) -> FaultPlanned:
    """Return the event of a planned injection.

    ``point``: the phase that fails, for a fault of a connection try.
    """
    fault = injection.fault
    return FaultPlanned(
        injection=injection.id,
        exchange=injection.exchange,
        rule=injection.rule,
        fault=fault.model_dump(mode="json"),
        category=fault.category,
        target=fault.target,
        inaction_resists=fault.inaction_resists,
        looks_healthy=fault.looks_healthy,
        only_late=fault.only_late,
        stage=fault.stage,
        scope=injection.scope,
        ordinal=injection.ordinal,
        effects=tuple(effect.name for effect in injection.effects),
        url=url,
        point=point,
        repeat_of=injection.repeat_of,
        page=next((it.page for it in injection.effects if isinstance(it, Reply)), ""),
    )


def delivered(
    injection: PlannedInjection,
    waited_s: float,
    client_left: bool,
    changes: Sequence[ChangedValue],
    left_out: int = 0,
) -> FaultDelivered:
    """Return the event of an injection that reached the client."""
    return FaultDelivered(
        injection=injection.id,
        exchange=injection.exchange,
        rule=injection.rule,
        waited_s=round(waited_s, 6),
        client_left=client_left,
        changes=list(changes),
        left_out=left_out,
    )


def missed(injection: PlannedInjection, reason: MissReason, waited_s: float = 0.0) -> FaultMissed:
    """Return the event of an injection that did not reach the client."""
    return FaultMissed(
        injection=injection.id,
        exchange=injection.exchange,
        rule=injection.rule,
        reason=reason,
        waited_s=round(waited_s, 6),
    )


def skipped(injector: Injector) -> Iterator[FaultMissed]:
    """Yield an event for each rule and reason with the number of skipped exchanges."""
    for each in injector.skipped():
        yield FaultMissed(rule=each.rule, reason=each.reason, count=each.count)
