"""Which trial is next, and when there is none: pure, so whoever runs trials can ask it.

It starts nothing, waits for nobody and asks no clock. A runner takes turns from it and tells it how
they ended; a turn costs it the same, however many there are.
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
    """Its number; all that lie on disk have lower ones."""
    voids: int = 0
    """How many attempts before it were void."""
    losses: int = 0
    """How many before it were lost in this go."""


class TrialQueue:
    """The turns of one go at a campaign.

    A trial is tried again where it was void, after all others: what was in its way may have passed
    by then. Where ``after`` says so, a trial waits until another one needs no more attempt.
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
        """Lay out the turns.

        ``past`` is what lies on disk, ``spent`` what that cost; ``limit``: begin at most so many
        trials; ``taken`` is told of each turn that is taken.
        """
        past, after = past or {}, after or {}
        left = remaining(trials, past)
        self.trials = left
        """Those that need an attempt, in their order."""
        self.total = len(left) if limit is None else min(limit, len(left))
        """How many of them this go is about."""
        self.stopped: str | None = None
        """Why no trial begins any more, in words, where it is the budget."""
        self.given_up: list[TrialKey] = []
        """Trials whose attempts were lost again and again; a later go tries them anew."""
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
            # An attempt that was cut off keeps its folder and its number: nothing is ever lost.
            turn = PlannedAttempt(key, before.last + 1, len(before.outcomes))
            if (first := after.get(key)) in unsettled and first is not None:
                self._blocked.setdefault(first, []).append(turn)
            else:
                self._pending.append(turn)

    @property
    def left(self) -> int:
        """How many of this go's trials still need an attempt, those that run included."""
        return self.total - self._settled

    @property
    def is_finished(self) -> bool:
        """Whether no turn will come any more."""
        if self._running:
            return False
        return self.stopped is not None or not (self._retries or self._may_begin)

    def take(self, now: float) -> PlannedAttempt | None:
        """Return the next turn; None where there is none, now or, if ``over``, ever.

        ``now`` counts the seconds of any clock that only goes forward.
        """
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
        """Take note of how a turn ended and what it cost.

        Raises CampaignStopped where the same thing voids trial after trial.
        """
        self._running -= 1
        self._spent += spent or Spending()
        voids = turn.voids + isinstance(outcome, Void)
        if isinstance(outcome, Void) and voids < MAX_ATTEMPTS:
            self._retries.append(PlannedAttempt(turn.key, turn.attempt + 1, voids, turn.losses))
        else:
            self._settle(turn.key)
        self._counted |= not isinstance(outcome, Void)
        if not (self._counted and turn.voids and isinstance(outcome, Void) and not outcome.died):
            # At the end only those that were void are left. Where others count, their being void
            # once more, in a row by then, says nothing of these.
            self._breaker.record(turn.key.task, outcome)

    def lost(self, turn: PlannedAttempt, spent: Spending | None = None) -> None:
        """Take note that nobody will tell how a turn ended: what ran it has gone.

        The trial gets another attempt, after the others; one that takes down whatever runs it is
        given up for this go.
        """
        self._running -= 1
        self._spent += spent or Spending()
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
        """Let those begin that waited for a trial: before others, to stand near it."""
        self._settled += 1
        self._pending.extendleft(reversed(self._blocked.pop(key, ())))

    def _exhausted_budget(self, seconds: float) -> str | None:
        """Say which part of the budget is used up; None if none is."""
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
            whole = count_noun(budget.tokens, "token")
            return f"the budget of {whole} is used up: {spent.tokens:,} are spent"
        if budget.minutes is not None and seconds >= 60 * budget.minutes:
            return f"the budget of {budget.minutes:g} minutes is used up"
        return None


@dataclass(frozen=True, slots=True)
class AttemptDone:
    """An attempt is over."""

    key: TrialKey
    attempt: int
    outcome: Outcome
