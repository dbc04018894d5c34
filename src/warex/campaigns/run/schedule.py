"""Decides which trial is next, without I/O, threads or a clock.

A runner takes attempts from the queue and reports their outcomes; each call takes constant time.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from warex.campaigns.config.campaign import Budget
from warex.campaigns.plan.grid import MAX_ATTEMPTS, TrialHistory, remaining
from warex.campaigns.run.circuit_breaker import CircuitBreaker
from warex.campaigns.run.spending import Spending
from warex.text.english import count_noun
from warex.traces import Outcome, TrialKey, Void


@dataclass(frozen=True, slots=True)
class PlannedAttempt:
    """One attempt that is to be made."""

    key: TrialKey
    attempt: int
    """Its number, higher than those on disk."""
    voids: int = 0
    losses: int = 0
    """Number of earlier attempts that were lost in this invocation."""


class TrialQueue:
    """The attempts of one invocation of a campaign.

    A void trial is repeated after all others, when its cause may have passed. With ``after``, a
    trial waits until another one needs no more attempt.
    """

    def __init__(
        self,
        trials: Sequence[TrialKey],
        past: Mapping[TrialKey, TrialHistory] | None = None,
        *,
        after: Mapping[TrialKey, TrialKey] | None = None,
        budget: Budget | None = None,
        spent: Spending | None = None,
        limit: int | None = None,
        taken: Callable[[PlannedAttempt], None] = lambda turn: None,
    ) -> None:
        """Queue the attempts.

        ``past`` is the history on disk, ``spent`` its cost; ``limit`` is the most trials to begin;
        ``taken`` is called for each attempt that is taken.
        """
        past, after = past or {}, after or {}
        left = remaining(trials, past)
        self.trials = left
        """Trials that need an attempt, in order."""
        self.total = len(left) if limit is None else min(limit, len(left))
        """How many of them this invocation runs."""
        self.stopped: str | None = None
        """Why the budget lets no trial begin, in words."""
        self.given_up: list[TrialKey] = []
        """Trials whose attempts were lost repeatedly; a later invocation tries them again."""
        self._taken = taken
        self._budget = budget or Budget()
        self._spent = spent or Spending()
        self._began: float | None = None
        self._counted = False
        self._begun = self._running = self._settled = 0
        self._pending: deque[PlannedAttempt] = deque()
        self._retries: deque[PlannedAttempt] = deque()
        self._blocked: dict[TrialKey, list[PlannedAttempt]] = {}
        self._breaker = CircuitBreaker(tasks=len({key.task for key in left[: self.total]}))
        unsettled = set(left) if after else set()
        for key in left:
            before = past.get(key, TrialHistory())
            # An interrupted attempt keeps its folder and number.
            turn = PlannedAttempt(key, before.last + 1, len(before.outcomes))
            if (first := after.get(key)) in unsettled and first is not None:
                self._blocked.setdefault(first, []).append(turn)
            else:
                self._pending.append(turn)

    @property
    def left(self) -> int:
        """How many trials of this invocation still need an attempt, including running ones."""
        return self.total - self._settled

    @property
    def is_finished(self) -> bool:
        """Whether no attempt will follow."""
        stopped = self.stopped is not None or not (self._retries or self._may_begin)
        return stopped and not self._running

    def take(self, now: float) -> PlannedAttempt | None:
        """Return the next attempt, or None; ``now`` is in seconds of a monotonic clock."""
        if self._began is None:
            self._began = now
        if self.stopped is None:
            self.stopped = self._exhausted_budget(now - self._began)
        if self.stopped is not None:
            return None
        if self._may_begin:
            turn = self._pending.popleft()
            self._begun += 1
        elif self._retries:
            turn = self._retries.popleft()
        else:
            return None
        self._running += 1
        self._taken(turn)
        return turn

    def done(self, turn: PlannedAttempt, outcome: Outcome, spent: Spending | None = None) -> None:
        """Record an attempt's outcome and cost. Raises CampaignStopped after repeated voids."""
        self._running -= 1
        self._spent += spent or Spending()
        voids = turn.voids + isinstance(outcome, Void)
        if isinstance(outcome, Void) and voids < MAX_ATTEMPTS:
            self._retries.append(PlannedAttempt(turn.key, turn.attempt + 1, voids, turn.losses))
        else:
            self._settle(turn.key)
        self._counted |= not isinstance(outcome, Void)
        if not (self._counted and turn.voids and isinstance(outcome, Void) and not outcome.died):
            # At the end only trials that were void are left: if others count, further voids of
            # these, now in a row, do not stop the campaign.
            self._breaker.record(turn.key.task, outcome)

    def lost(self, turn: PlannedAttempt) -> None:
        """Record an attempt whose worker was lost.

        The trial gets another attempt after the others; after repeated losses it is given up.
        """
        self._running -= 1
        losses = turn.losses + 1
        if losses < MAX_ATTEMPTS:
            self._retries.append(PlannedAttempt(turn.key, turn.attempt + 1, turn.voids, losses))
        else:
            self.given_up.append(turn.key)
            self._settle(turn.key)

    @property
    def _may_begin(self) -> bool:
        return bool(self._pending) and self._begun < self.total

    def _settle(self, key: TrialKey) -> None:
        """Queue the trials that waited for this one first, to run near it."""
        self._settled += 1
        self._pending.extendleft(reversed(self._blocked.pop(key, ())))

    def _exhausted_budget(self, seconds: float) -> str | None:
        """Return which part of the budget is used up, or None."""
        budget, spent = self._budget, self._spent
        if budget.usd is not None and spent.unpriced:
            names = ", ".join(map(repr, sorted(spent.unpriced)))
            return (
                f"budget.usd cannot be kept: the price table has no {names}; say in the campaign's"
                " [prices] what it costs, or give budget.tokens in its place"
            )
        if budget.usd is not None and spent.usd >= budget.usd:
            return f"the budget of {budget.usd:g} US dollars is used up: {spent.usd:.2f} are spent"
        if budget.tokens is not None and spent.tokens >= budget.tokens:
            tokens = count_noun(budget.tokens, "token")
            return f"the budget of {tokens} is used up: {spent.tokens:,} are spent"
        if budget.minutes is not None and seconds >= 60 * budget.minutes:
            return f"the budget of {budget.minutes:g} minutes is used up"
        return None


@dataclass(frozen=True, slots=True)
class AttemptDone:
    """An attempt is over."""

    key: TrialKey
    attempt: int
    outcome: Outcome
