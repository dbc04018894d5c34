"""What one rule has counted and used up in a trial, and which places in the count are hit."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from warex.exchange import Exchange
from warex.faults import FaultState
from warex.packed import HashCounter
from warex.scenarios.matching.candidate import Candidate, rule_matcher
from warex.scenarios.matching.url_patterns import matcher
from warex.scenarios.scenario import Rule
from warex.seeds import draw

type CountPosition = tuple[int, str, str, int]
"""A place in the count: task (0 before the first begins), rule, scope ("" or "METHOD URL"; of an
attempt "CONNECT HOST:PORT") and ordinal."""

type InjectionSchedule = frozenset[CountPosition]
"""Exactly which places are hit: a past ledger, turned into ordinals."""


class Scoped(Protocol):
    """What can be numbered: an exchange, or an attempt to connect."""

    @property
    def scope(self) -> str:
        """What ``per: url`` numbers."""


class RuleState:
    """The state of one rule in one task of a trial."""

    def __init__(self, rule: Rule, sites: tuple[str, ...], *, once: bool = False) -> None:
        self.rule = rule
        self.of_connections = rule.fault.point is not None
        """Whether the rule is about attempts to connect, and so about no exchange."""
        self._fits = rule_matcher(rule, sites)
        self.judged_at_response = rule.match.needs_response
        """Whether the rule is judged when the site has answered, not when the request arrives."""
        self.memory: FaultState = {}
        self.ongoing: OngoingHit | None = None
        """The latest hit that goes on as long as its fault says."""
        self.skipped: Counter[str] = Counter()
        """Matching exchanges that could not be hit, by reason."""
        self.unarmed: Counter[str] = Counter()
        """What would have been counted had the rules been armed, by scope."""
        self._url_fits = matcher(rule.match, sites)
        self._once = once
        self._seen = HashCounter()
        self._spent = HashCounter()

    def matches(self, candidate: Candidate) -> bool:
        """Whether the rule is about an exchange."""
        return not self.of_connections and self._fits(candidate)

    def still_applies(self, exchange: Exchange) -> bool:
        """Whether an earlier hit is not over, and so hits this exchange too."""
        return self.ongoing is not None and self.rule.fault.still_applies(exchange, self.memory)

    def may_concern(self, method: str, url: str) -> bool:
        """Whether the rule could be about a request, as far as method and URL tell."""
        methods = self.rule.match.method
        fits = methods is None or method in methods
        return fits and not self.of_connections and self._url_fits(url)

    def count(self, what: Scoped, number: int = 1) -> tuple[str, int]:
        """Count what matches, or so many; return its place: scope and ordinal."""
        scope, ordinal = self.next(what, number)
        self._seen[scope] = ordinal
        return scope, ordinal

    def next(self, what: Scoped, number: int = 1) -> tuple[str, int]:
        """Return the place that ``count`` would give."""
        scope = self._scope(what)
        return scope, self._seen[scope] + number

    def count_unarmed(self, what: Scoped, number: int = 1) -> tuple[str, int]:
        """Note that what matches, or so many, came while the rules were not armed."""
        scope = self._scope(what)
        self.unarmed[scope] += number
        return scope, self.unarmed[scope]

    def _scope(self, what: Scoped) -> str:
        return "" if self.rule.per == "rule" else what.scope

    def fires(self, seed: int, scope: str, ordinal: int) -> bool:
        """Whether the trigger hits this place."""
        trigger = self.rule.trigger
        if self._once:
            return self._spent.total() == 0
        if trigger.trials is not None and draw(seed, self.rule.name, "trials") >= trigger.trials:
            return False
        if trigger.first is not None:
            return ordinal <= trigger.first
        if trigger.nth is not None:
            return ordinal in trigger.nth
        if trigger.every is not None:
            return ordinal % trigger.every == 0
        if trigger.always:
            return True
        about = (self.rule.name, *scope.split(" ", 1)) if scope else (self.rule.name,)
        rng = draw(seed, *about, ordinal)
        if trigger.random is not None:
            within_budget = self._spent[scope] < trigger.random.times
            return within_budget and rng < trigger.random.probability
        return trigger.probability is not None and rng < trigger.probability

    def outside_window(self, now: float, steps: int) -> bool:
        """Whether the trigger's windows leave out this moment: nothing is counted then."""
        window, after_step = self.rule.trigger.between, self.rule.trigger.after_step
        return (window is not None and not window[0] <= now < window[1]) or (
            after_step is not None and steps < after_step
        )

    def spend(self, scope: str, amount: int) -> None:
        """Use up the budget of ``random.times``, or give it back."""
        self._spent[scope] += amount


@dataclass(slots=True)
class Occurrence:
    """One exchange that was hit, as its rule counts it, together with its silent repeats.

    It uses up one of the budget as long as one of its injections is under way or was delivered.
    """

    count: RuleState
    scope: str
    _under_way: set[str] = field(default_factory=set)
    _delivered: bool = False

    def plan(self, injection: str) -> None:
        """Note an injection on its way."""
        if not self._spends:
            self.count.spend(self.scope, 1)
        self._under_way.add(injection)

    def settle(self, injection: str, *, delivered: bool) -> None:
        """Note what became of an injection; a second time changes nothing."""
        if injection not in self._under_way:
            return
        self._under_way.remove(injection)
        self._delivered = self._delivered or delivered
        if not self._spends:
            self.count.spend(self.scope, -1)

    @property
    def _spends(self) -> bool:
        return self._delivered or bool(self._under_way)


@dataclass(frozen=True, slots=True)
class OngoingHit:
    """A hit that later ones may belong to: its injection, and what all of them use up."""

    id: str
    occurrence: Occurrence
