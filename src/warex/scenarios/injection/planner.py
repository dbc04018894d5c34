"""The numbered injections of a trial, into exchanges and connection tries alike."""

from copy import copy
from dataclasses import dataclass, field, replace
from itertools import count as counting
from typing import Final, Protocol, Self

from warex.effects import Effect
from warex.exchange import Exchange
from warex.faults import Fault, FaultState, Stage
from warex.scenarios.injection.rule_state import (
    InjectionSchedule,
    Occurrence,
    OngoingHit,
    RuleState,
)
from warex.seeds import KeyedRng


@dataclass(frozen=True, slots=True)
class PlannedInjection:
    """One fault that is planned for one exchange or connection try."""

    id: str
    exchange: str
    """The identifier of the exchange or connection try (``a1``, ``a2``…)."""
    rule: str
    fault: Fault
    scope: str
    ordinal: int
    effects: tuple[Effect, ...]
    repeat_of: str | None = None
    """The first injection of the occurrence, if this exchange or connection try repeats it."""
    occurrence: Occurrence | None = field(default=None, compare=False, repr=False)
    """The occurrence that it shares with its repeats; None if it is superseded."""

    @property
    def stage(self) -> Stage:
        """When the fault is applied."""
        return self.fault.stage_of(self.effects)

    def settle(self, *, delivered: bool) -> None:
        """Note the outcome; later outcomes are ignored.

        A miss returns the budget of ``random.times``, unless a silent repeat of the occurrence is
        pending or was delivered.
        """
        if self.occurrence is not None:
            self.occurrence.settle(self.id, delivered=delivered)

    def note_report(self, exchange: Exchange, what: str) -> None:
        """Let the fault remember what a client has done with it."""
        if self.occurrence is not None:
            count = self.occurrence.count
            count.fault_state = self.fault.noted(count.fault_state, exchange, what)


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens to an exchange or connection try, in the order of the rules."""

    injections: tuple[PlannedInjection, ...] = ()
    superseded: tuple[PlannedInjection, ...] = ()
    """Planned, but in collision with one of ``injections``."""
    repeat_of: str | None = None
    """The exchange that the browser silently repeats (the latest of several), or the first
    connection try of the occurrence."""


NO_INJECTION: Final = Decision()


class Planner:
    """Numbers injections and tracks their budgets, for one trial.

    With a ``schedule`` the triggers are ignored and exactly its places are hit. ``from_start``: the
    schedule's places are those of a trial that was always armed.
    """

    def __init__(self, seed: int, schedule: InjectionSchedule | None, *, from_start: bool) -> None:
        self.seed = seed
        self.replays = schedule is not None
        self._schedule = schedule
        self._from_start = from_start
        self._task = 0
        # Shared by all planners of a trial.
        self._tasks = counting(1)
        self._injections = counting(1)

    def begin_task(self, seed: int) -> None:
        """Begin a task, under its own seed."""
        self.seed = seed
        self._task = next(self._tasks)

    def for_concurrent_task(self, seed: int) -> Self:
        """Return the planner of a concurrent task of this trial."""
        other = copy(self)
        other.begin_task(seed)
        return other

    def fires(
        self,
        count: RuleState,
        scope: str,
        ordinal: int,
        number: int = 0,
        *,
        goes_on: bool = False,
    ) -> bool:
        """Whether a rule hits this place in its count.

        ``number``: in a replay, of the exchange among those with its method and URL. ``goes_on``:
        an earlier hit still applies. A schedule has the places of those hits, too.
        """
        if self._schedule is not None:
            if (self._task, count.rule.name, f"EXCHANGE {scope}", number) in self._schedule:
                return True
            if self._from_start:
                # Places count on while disarmed.
                ordinal += count.unarmed[scope]
            return (self._task, count.rule.name, scope, ordinal) in self._schedule
        return goes_on or count.fires(self.seed, scope, ordinal)

    def plan(
        self, count: RuleState, exchange: Exchange, scope: str, ordinal: int
    ) -> tuple[PlannedInjection, FaultState]:
        """Return a rule's injection at a place, and the fault's new state."""
        rule = count.rule
        rng = KeyedRng(self.seed, rule.name)
        effects, state = rule.fault.effects(exchange, count.fault_state, rng)
        injection = PlannedInjection(
            id=self._new_id(),
            exchange=exchange.id,
            rule=rule.name,
            fault=rule.fault,
            scope=scope,
            ordinal=ordinal,
            effects=effects,
        )
        return injection, state

    def commit(
        self, count: RuleState, injection: PlannedInjection, state: FaultState
    ) -> PlannedInjection:
        """Commit a planned injection, which uses its rule's budget unless it is missed.

        An injection of an earlier hit that still applies shares that hit's budget.
        """
        count.fault_state = state
        if injection.repeat_of is not None and count.ongoing is not None:
            occurrence = count.ongoing.occurrence
        else:
            occurrence = Occurrence(count, injection.scope)
            count.ongoing = OngoingHit(injection.id, occurrence)
        occurrence.plan(injection.id)
        return replace(injection, occurrence=occurrence)

    def plan_repeat(self, injection: PlannedInjection, exchange_id: str) -> PlannedInjection:
        """Plan an injection again, for the same occurrence."""
        root = injection.repeat_of or injection.id
        copy = replace(injection, id=self._new_id(), exchange=exchange_id, repeat_of=root)
        if copy.occurrence is not None:
            copy.occurrence.plan(copy.id)
        return copy

    def _new_id(self) -> str:
        return f"i{next(self._injections)}"


class Planned(Protocol):
    """What is planned for an exchange or connection try."""

    @property
    def stage(self) -> Stage:
        """When it is applied."""

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What is done."""


def collide(earlier: Planned, later: Planned) -> bool:
    """Whether the earlier injection prevents the later one.

    An exchange ends only once. If it ends at the request, the site is not asked, and there is no
    answer of it: only an answer of ours is left, whose page can be changed as the site's. One that
    is cut cannot be held.
    """
    if _ends(earlier) and _ends(later):
        return True
    if _ends(earlier):
        cut_already = earlier.stage == later.stage and _cuts(earlier)
        return cut_already or _leaves_nothing_for(earlier, later)
    return _ends(later) and _leaves_nothing_for(later, earlier)


def _leaves_nothing_for(end: Planned, other: Planned) -> bool:
    """Whether a fault that ends an exchange prevents one that does not, whichever comes first."""
    if end.stage != "request":
        return False
    if other.stage == "request":
        return any(effect.traits.depends_on_site for effect in other.effects)
    return _cuts(end) or not all(effect.traits.rewrites for effect in other.effects)


def _ends(planned: Planned) -> bool:
    return any(effect.traits.is_terminal for effect in planned.effects)


def _cuts(planned: Planned) -> bool:
    return any(effect.traits.sends_no_response for effect in planned.effects)
