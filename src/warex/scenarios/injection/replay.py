"""A replay: the exact places (rule, scope and ordinal) that were hit in a past trial.

The same seed gives the same faults to an agent with the same requests. For another agent, a replay
hits the same places and draws nothing.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from msgspec import Struct
from pydantic import TypeAdapter, ValidationError

from warex.errors import TraceError
from warex.exchange import Request
from warex.llm.defences import Defence
from warex.scenarios.injection.rule_state import CountPosition, InjectionSchedule
from warex.scenarios.matching.url_patterns import normalise
from warex.scenarios.scenario import Rule, Scenario
from warex.traces import (
    EVENTS,
    AgentAction,
    Armed,
    Control,
    Event,
    FaultPlanned,
    RequestSeen,
    ResponseSeen,
    TaskBegan,
    TrialBegan,
    read_trace,
)
from warex.traffic import Arm


class Replay(Struct, frozen=True):
    """Everything that repeats a trial's faults, and its defence."""

    scenario: Scenario
    """The trial's scenario, with its one-shots as rules."""
    seed: int
    arm: Arm
    schedule: InjectionSchedule
    sites: tuple[str, ...] = ()
    """The values of `{sites}`."""
    never: tuple[str, ...] = ()
    """The trial's exclusions beyond the scenario's own and the built-in."""
    defence: Defence | None = None
    """The additions to the agent's LLM requests."""


def read_replay(trial: Path) -> Replay:
    """Return the replay of a trial's faults.

    ``trial`` is an attempt's folder or its ``events.jsonl``. Raises TraceError if there is no such
    trace, or it has no scenario, or one that this version cannot run.
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
        what = "a defence"
        defence = None if began.defence is None else Defence.model_validate(began.defence)
        what = "an arming"
        arm: Arm = _ARM.validate_python(began.arm)
        what = "a planned fault"
        one_shots = tuple(_one_shots(events))
        scenario = scenario.model_copy(update={"rules": (*scenario.rules, *one_shots)})
        what = "a count"
        names = frozenset(rule.name for rule in one_shots)
        places = _Places(path, scenario, arm, events, names)
    except ValidationError as error:
        mistake = error.errors()[0]
        problem = ": ".join(filter(None, (".".join(map(str, mistake["loc"])), mistake["msg"])))
        raise TraceError(f"{path} holds {what} that this version cannot run: {problem}") from None
    return Replay(
        scenario=scenario,
        seed=began.seed,
        arm="start" if places.by_hand else arm,
        schedule=places.schedule,
        sites=began.sites,
        never=began.never,
        defence=defence,
    )


_ARM: TypeAdapter[Arm] = TypeAdapter(Arm)


def _plans_fault(event: Event) -> bool:
    return isinstance(event, Control) and event.call == "plan_fault"


def _one_shots(events: Iterable[Event]) -> Iterator[Rule]:
    """Yield the distinct one-shots; several tasks may have added the same."""
    names: set[str] = set()
    for event in events:
        if isinstance(event, Control) and _plans_fault(event):
            rule = Rule.model_validate(event.arguments.get("rule"))
            if rule.name not in names:
                names.add(rule.name)
                yield rule


class _Places:
    """Reads the places that were hit, as a replay counts them.

    Matches before arming were not counted. If the rules arm by themselves, so must those of the
    replay. If a call armed them, the replay is always armed, and each place is shifted by the
    number of matches before the call, which the call has recorded.

    A one-shot counts from when it was added, but a replay has it from the start. So its place is
    the exchange's number among all with its method and URL; of a connection try, whose
    predecessors are not in the trace, it is shifted by what the call has recorded.
    """

    def __init__(
        self,
        path: Path,
        scenario: Scenario,
        arm: Arm,
        events: Sequence[Event],
        one_shots: Container[str],
    ) -> None:
        self.by_hand = any(isinstance(event, Armed) and event.by == "control" for event in events)
        self._path = path
        self._one_shots = one_shots
        self._exchanges: Counter[tuple[int, str, str]] = Counter()
        """By task, method and URL."""
        self._numbers: dict[str, int] = {}
        """Of each exchange, among those with its task, method and URL."""
        self._at_answer = any(rule.needs_response for rule in scenario.rules)
        self._from_start = arm == "start"
        self._begin()
        self._marks: set[CountPosition] = set()
        self._task = self._tasks = 0
        self._beside: dict[str, int] = {}
        """Concurrent tasks, each with its number among all tasks."""
        self._of_beside: dict[str, int] = {}
        """Exchanges of concurrent tasks, each with the task's number."""
        one_task = asked = False
        for event in events:
            if isinstance(event, TaskBegan):
                self._tasks += 1
                one_task = self._tasks == 1 and not asked and not event.beside
                if event.beside:
                    self._beside[event.task] = self._tasks
                else:
                    self._task = self._tasks
                    self._beside.pop(event.task, None)
                    self._begin()
            asked = asked or isinstance(event, RequestSeen)
            self._read(event)
        if one_task:
            # With a single task, a replay need not begin it.
            self._marks |= {(0, *mark[1:]) for mark in self._marks}
        self.schedule: InjectionSchedule = frozenset(self._marks)

    def _begin(self) -> None:
        self._passed: dict[str, dict[str, int]] = {}
        self._earlier: dict[str, dict[str, int]] = {}
        self._known = self._from_start
        self._open: set[str] = set()
        self._finished = False
        self._skipped: set[str] = set()

    def _read(self, event: Event) -> None:
        match event:
            case RequestSeen():
                self._open.add(event.exchange)
                if event.task in self._beside:
                    self._of_beside[event.exchange] = self._beside[event.task]
                self._number(event)
            case ResponseSeen():
                self._open.discard(event.exchange)
            case AgentAction(role="finish"):
                self._finished = True
            case Armed(by="control"):
                if self._finished:
                    self._refuse("it was armed by a call after the agent had ended")
                if self._open and self._at_answer:
                    self._refuse(
                        "it was armed by a call while exchanges were under way, and one of its"
                        " rules goes by the site's answer"
                    )
                self._known = True
            case Control(call="arm" | "plan_fault"):
                if event.call == "arm" and "straddled" in event.arguments:
                    self._skipped |= set(_NAMES.validate_python(event.arguments["straddled"]))
                self._passed = _PASSED.validate_python(event.arguments.get("passed", {}))
                if _plans_fault(event):
                    name = Rule.model_validate(event.arguments.get("rule")).name
                    earlier = event.arguments.get("earlier", {})
                    self._earlier[name] = _EARLIER.validate_python(earlier)
            case FaultPlanned() if event.exchange in self._of_beside:
                if self.by_hand:
                    self._refuse("it was armed by a call while tasks ran at the same time")
                self._mark(event, self._of_beside[event.exchange], event.ordinal)
            case FaultPlanned():
                if event.rule in self._skipped:
                    self._refuse(
                        f"it was armed by a call within the hold of a connection try that rule"
                        f" {event.rule!r} had skipped"
                    )
                if self.by_hand and not self._known:
                    self._refuse("it was armed by itself and, at another time, by a call")
                passed = self._passed.get(event.rule, {}).get(event.scope, 0) * self.by_hand
                self._mark(event, self._task, event.ordinal + passed)
            case _:
                pass

    def _number(self, event: RequestSeen) -> None:
        """Number an exchange as a replay does: what browsers send by themselves varies."""
        if event.repeat_of is not None:
            # A silent repeat has the place of the exchange that it repeats.
            self._numbers[event.exchange] = self._numbers.get(event.repeat_of, 0)
            return
        request = Request(
            event.method, event.url, {name.lower(): value for name, value in event.headers}
        )
        if not (request.is_preflight or request.is_prefetch):
            task = self._of_beside.get(event.exchange, self._task)
            place = (task, event.method, normalise(event.url))
            self._exchanges[place] += 1
            self._numbers[event.exchange] = self._exchanges[place]

    def _mark(self, event: FaultPlanned, task: int, ordinal: int) -> None:
        if event.rule not in self._one_shots or not event.scope:
            self._marks.add((task, event.rule, event.scope, ordinal))
        elif event.point is None and event.exchange in self._numbers:
            number = self._numbers[event.exchange]
            self._marks.add((task, event.rule, f"EXCHANGE {event.scope}", number))
        else:
            ordinal += self._earlier.get(event.rule, {}).get(event.scope, 0)
            self._marks.add((task, event.rule, event.scope, ordinal))

    def _refuse(self, why: str) -> NoReturn:
        raise TraceError(
            f"{self._path} cannot be replayed: {why}, so what had not been counted by then cannot"
            " be found again"
        )


_NAMES: TypeAdapter[list[str]] = TypeAdapter(list[str])
_PASSED: TypeAdapter[dict[str, dict[str, int]]] = TypeAdapter(dict[str, dict[str, int]])
_EARLIER: TypeAdapter[dict[str, int]] = TypeAdapter(dict[str, int])


def tasks_required(schedule: InjectionSchedule) -> int:
    """Return the number of tasks that must begin to reach all places of a schedule."""
    places: dict[int, set[tuple[str, str, int]]] = {}
    for task, rule, scope, ordinal in schedule:
        places.setdefault(task, set()).add((rule, scope, ordinal))
    last = max(places, default=0)
    return 0 if last == 1 and places[1] == places.get(0) else last
