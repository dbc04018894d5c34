"""How far a campaign is: what runs, what is done, and about how long the rest takes."""

from collections.abc import Callable
from dataclasses import dataclass, field

from warex.campaigns.run.schedule import PlannedAttempt
from warex.clock import Clock
from warex.text.english import count_noun
from warex.traces import Counted, Outcome, TrialKey, Unscored

_MOST = 8
"""So many running trials are named."""
_STEP = 5
"""Seconds: nearer than that nobody knows."""
_NEWS, _LEAST = 0.25, 2.0 * _STEP
"""More than this share, or these seconds, is a new estimate."""


@dataclass(slots=True)
class ProgressTracker:
    """Counts a campaign's trials."""

    now: Callable[[], float] = field(default_factory=lambda: Clock().now)
    total: int | None = None
    """Trials of this go; None before it is known."""
    settled: int = 0
    """Those that came to an outcome which counts."""
    _running: dict[TrialKey, tuple[int, float]] = field(default_factory=dict)
    _lanes: int = 0
    """The most trials that ran at once."""
    _busy_s: float = 0.0
    """What the attempts that are over took together."""
    _over_at: float | None = None
    """When the whole is expected to end."""
    _each_s: float = 0.0
    """What a trial then takes."""

    def attempt_started(self, turn: PlannedAttempt) -> None:
        """Take note that an attempt begins."""
        self._running[turn.key] = (turn.attempt, self.now())
        self._lanes = max(self._lanes, len(self._running))

    def attempt_ended(self, key: TrialKey, outcome: Outcome) -> None:
        """Take note that an attempt is over."""
        now = self.now()
        _, since = self._running.pop(key, (0, now))
        self._busy_s += now - since
        self._lanes = max(1, self._lanes)
        self.settled += isinstance(outcome, Counted | Unscored)
        # The quick ones end first: before each lane has had its turn they say too little.
        told = self.settled >= self._lanes or (self.settled and not self._waiting)
        if not told or self.total is None:
            return
        mean = self._mean_s(now)
        rest = sum(max(0.0, mean - (now - since)) for _, since in self._running.values())
        expected = (rest + self._waiting * mean) / self._lanes
        said = None if self._over_at is None else self._over_at - now
        # A trial that took a little longer is no news; one that changes the whole is.
        if said is None or abs(expected - said) > max(_LEAST, _NEWS * said):
            self._over_at, self._each_s = now + expected, mean

    @property
    def seconds_left(self) -> float | None:
        """Seconds that the rest takes if it goes on like this; None while nobody can tell.

        It counts down while trials run, and rises only where one ends that took so long that more
        is to be expected of the rest.
        """
        if self._over_at is None or self.total is None:
            return None
        return max(self._over_at - self.now(), self._waiting * self._each_s / self._lanes)

    @property
    def time_left(self) -> str:
        """The same in words."""
        if self.seconds_left is None:
            return "time left unknown"
        rounded = _STEP * max(1, round(self.seconds_left / _STEP))
        seconds = rounded if self.seconds_left < 90 else self.seconds_left
        return f"about {format_duration(seconds)} left"

    def _mean_s(self, now: float) -> float:
        """Return what a trial takes, its void attempts included.

        Those that run take no less than they took till now: the quick ones end first.
        """
        mean = self._busy_s / self.settled
        whole = self._busy_s + sum(max(mean, now - at) for _, at in self._running.values())
        return whole / (self.settled + len(self._running))

    @property
    def _waiting(self) -> int:
        return max(0, (self.total or 0) - self.settled - len(self._running))

    @property
    def running(self) -> list[str]:
        """The trials that run, the oldest first, each with its seconds; of many the first ones."""
        now = self.now()
        told = [
            f"{key.agent} / {key.condition} / {key.task}"
            + (f" / repeat {key.repeat}" if key.repeat > 1 else "")
            + (f" / attempt {attempt}" if attempt > 1 else "")
            + f", {format_duration(now - since)}"
            for key, (attempt, since) in tuple(self._running.items())
        ]
        more = len(told) - _MOST
        return [*told[:_MOST], f"and {more} more"] if more > 0 else told

    def __str__(self) -> str:
        """Say all of it in one line."""
        elapsed = format_duration(self.now())
        line = f"{self.settled} of {count_noun(self.total or 0, 'trial')}, {elapsed} elapsed"
        running = self.running
        return f"{line}, {self.time_left}" + (f"; running: {'; '.join(running)}" if running else "")


def format_duration(seconds: float) -> str:
    """Write a time as people say it: 45 s, 12 minutes, 1.5 hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"
