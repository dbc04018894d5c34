"""A past trial's ledger, turned into the exact places that are hit.

The same seed gives the same faults on any agent that asks the same way. Another agent asks in
another way; a replay keeps the places (rule, scope and ordinal) that were hit, and draws nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from warex.errors import TraceError
from warex.scenarios.injector import Mark, Schedule
from warex.scenarios.scenario import Arm, Rule, Scenario
from warex.traces import Control, Event, FaultPlanned, TaskBegan, TrialBegan, read_trace


@dataclass(frozen=True, slots=True)
class Replay:
    """All that repeats a trial's faults."""

    scenario: Scenario
    seed: int
    arm: Arm
    schedule: Schedule


def read_replay(trial: Path) -> Replay:
    """Return what repeats a trial's faults.

    ``trial`` is an attempt's folder or its ``events.jsonl``. Raises TraceError where there is no
    such trace, or it was made without a scenario.
    """
    path = trial / "events.jsonl" if trial.is_dir() else trial
    events = [entry.event for entry in read_trace(path).entries]
    began = next((event for event in events if isinstance(event, TrialBegan)), None)
    if began is None:
        raise TraceError(f"{path} has no trial_began event: it does not say which scenario it ran")
    if began.scenario is None:
        raise TraceError(f"{path} was made without a scenario: there are no faults to replay")
    try:
        scenario = Scenario.model_validate(began.scenario)
        arm = Scenario(name="arm", arm=began.arm).arm  # type: ignore[arg-type]
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise TraceError(
            f"{path} holds a scenario that this version cannot run: {where}: "
            f"{error.errors()[0]['msg']}"
        ) from None
    rules = (*scenario.rules, *_one_shots(events))
    return Replay(
        scenario=scenario.model_copy(update={"rules": rules}),
        seed=began.seed,
        arm=arm or "start",
        schedule=frozenset(_marks(events)),
    )


def _one_shots(events: Iterable[Event]) -> tuple[Rule, ...]:
    return tuple(
        Rule.model_validate(event.arguments["rule"])
        for event in events
        if isinstance(event, Control) and event.call == "plan_fault"
    )


def _marks(events: Iterable[Event]) -> Iterable[Mark]:
    task = 0
    for event in events:
        if isinstance(event, TaskBegan):
            task += 1
        elif isinstance(event, FaultPlanned) and event.repeat_of is None:
            yield (task, event.rule, event.scope, event.ordinal)
