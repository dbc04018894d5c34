"""A past trial's ledger, turned into the exact places that are hit.

The same seed gives the same faults on any agent that asks the same way. Another agent asks in
another way; a replay keeps the places (rule, scope and ordinal) that were hit, and draws nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from warex.errors import TraceError
from warex.scenarios.counting import Mark, Schedule
from warex.scenarios.scenario import Arm, Rule, Scenario
from warex.traces import (
    EVENTS,
    Control,
    Event,
    FaultPlanned,
    RequestSeen,
    TaskBegan,
    TrialBegan,
    read_trace,
)


@dataclass(frozen=True, slots=True)
class Replay:
    """All that repeats a trial's faults."""

    scenario: Scenario
    """The rules of the trial's own scenario, and the one-shots that were planned meanwhile."""
    seed: int
    arm: Arm
    schedule: Schedule
    sites: tuple[str, ...] = ()
    """What `{sites}` stood for."""
    never: tuple[str, ...] = ()
    """What the trial left alone beside the scenario's own and the built-in."""


def read_replay(trial: Path) -> Replay:
    """Return what repeats a trial's faults.

    ``trial`` is an attempt's folder or its ``events.jsonl``. Raises TraceError where there is no
    such trace, or it does not say what it ran, or ran no scenario, or one that this version cannot
    run.
    """
    path = trial / EVENTS if trial.is_dir() else trial
    events = [entry.event for entry in read_trace(path).entries]
    began = next((event for event in events if isinstance(event, TrialBegan)), None)
    if began is None:
        raise TraceError(f"{path} has no trial_began event: it does not say which scenario it ran")
    if began.scenario is None and not any(map(_plans_fault, events)):
        raise TraceError(f"{path} was made without a scenario: there are no faults to replay")
    what = "a scenario"
    try:
        scenario = Scenario.model_validate(began.scenario or {"name": "one-shots"})
        what = "an arming"
        arm: Arm = _ARM.validate_python(began.arm)
        what = "a planned fault"
        one_shots = tuple(_one_shots(events))
    except ValidationError as error:
        mistake = error.errors()[0]
        said = ": ".join(filter(None, (".".join(map(str, mistake["loc"])), mistake["msg"])))
        raise TraceError(f"{path} holds {what} that this version cannot run: {said}") from None
    return Replay(
        scenario=scenario.model_copy(update={"rules": (*scenario.rules, *one_shots)}),
        seed=began.seed,
        arm=arm,
        schedule=_marks(events),
        sites=began.sites,
        never=began.never,
    )


_ARM: TypeAdapter[Arm] = TypeAdapter(Arm)


def _plans_fault(event: Event) -> bool:
    return isinstance(event, Control) and event.call == "plan_fault"


def _one_shots(events: Iterable[Event]) -> Iterator[Rule]:
    """Return the rules that were added, once each: another task may have added one again."""
    names: set[str] = set()
    for event in events:
        if isinstance(event, Control) and _plans_fault(event):
            rule = Rule.model_validate(event.arguments.get("rule"))
            if rule.name not in names:
                names.add(rule.name)
                yield rule


def _marks(events: Iterable[Event]) -> Schedule:
    """Return the places that were hit, by the number of their task.

    Where all of the trial was one task, its places are those of a trial without a task, too: a
    replay may begin the task or leave it.
    """
    task, asked = 0, False
    marks: set[Mark] = set()
    one_task = False
    for event in events:
        match event:
            case TaskBegan():
                task += 1
                one_task = task == 1 and not asked
            case RequestSeen():
                asked = True
            case FaultPlanned():
                # A silent repeat stands at the place of what it repeats.
                marks.add((task, event.rule, event.scope, event.ordinal))
            case _:
                pass
    if one_task:
        marks |= {(0, rule, scope, ordinal) for _, rule, scope, ordinal in marks}
    return frozenset(marks)


def tasks_to_begin(schedule: Schedule) -> int:
    """Return how many tasks must be begun until all places of a schedule can be hit."""
    places: dict[int, set[tuple[str, str, int]]] = {}
    for task, rule, scope, ordinal in schedule:
        places.setdefault(task, set()).add((rule, scope, ordinal))
    last = max(places, default=0)
    return 0 if last == 1 and places[1] == places.get(0) else last
