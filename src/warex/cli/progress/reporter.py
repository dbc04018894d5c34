"""Prints progress lines of a long count on standard error."""

from collections.abc import Callable
from dataclasses import dataclass, field

from warex.cli.output import warn
from warex.cli.progress.tracker import format_duration
from warex.clock import Clock

_SOONEST, _SHARE = 10.0, 0.1
"""A line follows after these seconds or this share of the time so far, whichever is longer."""


@dataclass(slots=True)
class ProgressReporter:
    """Reports progress and the estimated time left."""

    what: str
    """The unit: ``steps``."""
    now: Callable[[], float] = field(default_factory=lambda: Clock().now)
    initial: int = 0
    """What was done earlier, without taking time."""
    _last: float = 0.0

    def update(self, done: int, total: int, more: str = "") -> None:
        """Print the progress, unless it was printed recently; ``more`` is appended."""
        now = self.now()
        over = done >= total
        if not over and now - self._last < max(_SOONEST, _SHARE * now):
            return
        self._last = now
        new = done - self.initial
        left = ""
        if new > 0 and not over:
            left = f", about {format_duration(now / new * (total - done))} left"
        line = f"{done} of {total} {self.what}, {format_duration(now)} elapsed{left}"
        warn(f"{line}{f'; {more}' if more else ''}")
