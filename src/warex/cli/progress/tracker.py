"""Tracks a campaign's progress and estimates the time left."""

from collections.abc import Callable
from dataclasses import dataclass, field

from warex.campaigns.run.schedule import PlannedAttempt
from warex.clock import Clock
from warex.text.english import count_noun
from warex.traces import Counted, Outcome, TrialKey, Unscored

_MOST = 8
_STEP = 5
"""Seconds to which estimates are rounded."""
_NEWS, _LEAST = 0.25, 2.0 * _STEP
"""An estimate is updated if it changes by more than this share and these seconds."""


@dataclass(slots=True)
class ProgressTracker:
    """Counts a campaign's trials."""

    now: Callable[[], float] = field(default_factory=lambda: Clock().now)
    total: int | None = None
    """Trials of this invocation; None until known."""
    settled: int = 0
    """Trials with an outcome that counts."""
    _running: dict[TrialKey, tuple[int, float]] = field(default_factory=dict)
    _lanes: int = 0
    _busy_s: float = 0.0
    _over_at: float | None = None
    _each_s: float = 0.0

    def attempt_started(self, turn: PlannedAttempt) -> None:
        """Record that an attempt begins."""
        self._running[turn.key] = (turn.attempt, self.now())
        self._lanes = max(self._lanes, len(self._running))

    def attempt_ended(self, key: TrialKey, outcome: Outcome) -> None:
        """Record that an attempt has ended."""
        now = self.now()
        _, since = self._running.pop(key, (0, now))
        self._busy_s += now - since
        self._lanes = max(1, self._lanes)
        self.settled += isinstance(outcome, Counted | Unscored)
        # Quick trials end first, so the mean is too low until each lane has finished one.
        known = self.settled >= self._lanes or (self.settled and not self._waiting)
        if not known or self.total is None:
            return
        mean = self._mean_s(now)
        rest = sum(max(0.0, mean - (now - since)) for _, since in self._running.values())
        expected = (rest + self._waiting * mean) / self._lanes
        announced = None if self._over_at is None else self._over_at - now
        # A slightly longer trial does not change the estimate; a large change does.
        if announced is None or abs(expected - announced) > max(_LEAST, _NEWS * announced):
            self._over_at, self._each_s = now + expected, mean

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds left, or None if unknown.

        It counts down while trials run, and rises only if a trial took much longer than expected.
        """
        if self._over_at is None or self.total is None:
            return None
        return max(self._over_at - self.now(), self._waiting * self._each_s / self._lanes)

    @property
    def time_left(self) -> str:
        """The estimated time left in words."""
        if self.seconds_left is None:
            return "time left unknown"
        rounded = _STEP * max(1, round(self.seconds_left / _STEP))
        seconds = rounded if self.seconds_left < 90 else self.seconds_left
        return f"about {format_duration(seconds)} left"

    def _mean_s(self, now: float) -> float:
        """Return the mean time of a trial, including its void attempts.

        Running trials count with at least their time so far, because quick ones end first.
        """
        mean = self._busy_s / self.settled
        total = self._busy_s + sum(max(mean, now - at) for _, at in self._running.values())
        return total / (self.settled + len(self._running))

    @property
    def _waiting(self) -> int:
        return max(0, (self.total or 0) - self.settled - len(self._running))

    @property
    def running(self) -> list[str]:
        """The oldest running trials, each with its seconds, and the number of the others."""
        now = self.now()
        shown = [
            f"{key.agent} / {key.condition} / {key.task}"
            + (f" / repeat {key.repeat}" if key.repeat > 1 else "")
            + (f" / attempt {attempt}" if attempt > 1 else "")
            + f", {format_duration(now - since)}"
            for key, (attempt, since) in tuple(self._running.items())
        ]
        more = len(shown) - _MOST
        return [*shown[:_MOST], f"and {more} more"] if more > 0 else shown

    def __str__(self) -> str:
        """Return all of it in one line."""
        elapsed = format_duration(self.now())
        line = f"{self.settled} of {count_noun(self.total or 0, 'trial')}, {elapsed} elapsed"
        running = self.running
        return f"{line}, {self.time_left}" + (f"; running: {'; '.join(running)}" if running else "")


def format_duration(seconds: float) -> str:
    """Return a rounded duration: 45 s, 12 minutes, 1.5 hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
