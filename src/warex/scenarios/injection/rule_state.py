"""The counts and the budget of one rule in a trial, and the places that its trigger hits."""

from collections import Counter
from typing import Literal, Protocol

from msgspec import Struct, field

from warex.exchange import Exchange
from warex.faults import FaultState
from warex.hash_counter import HashCounter
from warex.scenarios.matching.candidate import Candidate, rule_matcher
from warex.scenarios.matching.url_patterns import matcher
from warex.scenarios.scenario import Rule
from warex.seeds import draw

type CountPosition = tuple[int, str, str, int]
"""Task (0 before the first), rule, scope ("", "METHOD URL" or "CONNECT HOST:PORT"), ordinal.

The scope "EXCHANGE METHOD URL" numbers all exchanges there, whether the rule matches or not.
"""

type SkipReason = Literal["not_armed", "never", "trial_over", "websocket"]
"""Why a rule skips what it matches."""

type InjectionSchedule = frozenset[CountPosition]
"""The places to hit, from a past ledger."""


class Scoped(Protocol):
    """An exchange or connection try, as rules count it."""

    @property
    def scope(self) -> str:
        """What ``per: url`` numbers."""


class RuleState:
    """The state of one rule in one task of a trial."""

    def __init__(self, rule: Rule, sites: tuple[str, ...], *, once: bool = False) -> None:
        self.rule = rule
        self.of_connections = rule.fault.point is not None
        """Whether the rule is about connection tries, not exchanges."""
        self.matches = rule_matcher(rule, sites)
        """Whether a rule about exchanges matches a candidate."""
        self.judged_at_response = rule.needs_response
        """Whether the rule is judged at the site's answer, not at the request."""
        self.fault_state: FaultState = {}
        self.ongoing: OngoingHit | None = None
        """The latest hit, which may still apply."""
        self.skipped: Counter[SkipReason] = Counter()
        """Skipped matches, by reason."""
        self.unarmed: Counter[str] = Counter()
        """Matches while the rules were not armed, by scope."""
        self.earlier: dict[str, int] = {}
        """Of a one-shot about connection tries: armed matches before it was added, by scope."""
        self._url_fits = matcher(rule.match, sites)
        self._once = once
        self._has_window = rule.trigger.between is not None or rule.trigger.after_step is not None
        self._seen = HashCounter()
        self._spent = HashCounter()

    def still_applies(self, exchange: Exchange) -> bool:
        """Whether an earlier hit still applies to this exchange."""
        return self.ongoing is not None and self.rule.fault.still_applies(
            exchange, self.fault_state
        )

    def is_reached(self, exchange: Exchange, candidate: Candidate) -> bool:
        """Whether an earlier hit has a consequence for a request that the rule does not match."""
        if self.ongoing is None or self.matches(candidate):
            return False
        return self.rule.fault.reaches(exchange, self.fault_state)

    def observe(self, exchange: Exchange) -> None:
        """Let the fault of an earlier hit see a request, whether the rule matches it or not."""
        self.fault_state = self.rule.fault.observed(self.fault_state, exchange)

    def may_concern(self, method: str, url: str) -> bool:
        """Whether the rule could be about a request, as far as method and URL tell."""
        methods = self.rule.methods
        fits = methods is None or method in methods
        return bool(fits and not self.of_connections and self._url_fits(url))

    def count(self, what: Scoped) -> tuple[str, int]:
        """Count a match; return its place: scope and ordinal."""
        scope = self._scope(what)
        return scope, self._seen.add(scope, 1)

    def count_anew(self) -> None:
        """Forget what was counted."""
        self._seen = HashCounter()

    def next(self, what: Scoped) -> tuple[str, int]:
        """Return the place that ``count`` would give."""
        scope = self._scope(what)
        return scope, self._seen[scope] + 1

    def count_unarmed(self, what: Scoped, number: int = 1) -> tuple[str, int]:
        """Count a match, or ``number`` of them, while the rules are not armed."""
        scope = self._scope(what)
        self.unarmed[scope] += number
        return scope, self.unarmed[scope]

    def skip(
        self, what: Scoped, reason: SkipReason, now: float, steps: int
    ) -> tuple[str, int] | None:
        """Note a skipped match; return its place among the unarmed ones, None if it has none."""
        self.skipped[reason] += 1
        counts = reason != "never" and not self.outside_window(now, steps)
        return self.count_unarmed(what) if counts else None

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
        drawn = draw(seed, *about, ordinal)
        if trigger.random is not None:
            within_budget = self._spent[scope] < trigger.random.times
            return within_budget and drawn < trigger.random.probability
        return trigger.probability is not None and drawn < trigger.probability

    def outside_window(self, now: float, steps: int) -> bool:
        """Whether this moment is outside the trigger's windows, so that nothing is counted."""
        if not self._has_window:
            return False
        window, after_step = self.rule.trigger.between, self.rule.trigger.after_step
        return (window is not None and not window[0] <= now < window[1]) or (
            after_step is not None and steps < after_step
        )

    def spend(self, scope: str, amount: int) -> None:
        """Use the budget of ``random.times``, or return it."""
        self._spent[scope] += amount


class Occurrence(Struct):
    """One hit as its rule counts it, including silent repeats.

    It uses one unit of the budget while one of its injections is pending or was delivered.
    """

    count: RuleState
    scope: str
    _under_way: set[str] = field(default_factory=set)
    _delivered: bool = False

    def plan(self, injection: str) -> None:
        """Note a pending injection."""
        if not self._spends:
            self.count.spend(self.scope, 1)
        self._under_way.add(injection)

    def settle(self, injection: str, *, delivered: bool) -> None:
        """Note the outcome of an injection; later outcomes are ignored."""
        if injection not in self._under_way:
            return
        self._under_way.remove(injection)
        self._delivered = self._delivered or delivered
        if not self._spends:
            self.count.spend(self.scope, -1)

    @property
    def _spends(self) -> bool:
        return self._delivered or bool(self._under_way)


class OngoingHit(Struct, frozen=True):
    """A hit that later ones may belong to: its injection and its occurrence."""

    id: str
    occurrence: Occurrence
