"""Rates and means with their intervals."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from warex.analysis.stats.clustered import rate_interval
from warex.analysis.stats.proportions import wilson


@dataclass(frozen=True, slots=True)
class Rate:
    """``hits`` of ``n`` trials."""

    hits: int
    n: int
    clustered_interval: tuple[float, float] | None = field(default=None, compare=False)
    """The interval if trials are not independent: several of one task."""

    @property
    def value(self) -> float | None:
        """The rate, 0 to 1; None if n is 0."""
        return self.hits / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson 95 % interval; for several trials per task, see ``rate_interval``."""
        return self.clustered_interval or wilson(self.hits, self.n)

    def __str__(self) -> str:
        return f"{self.hits}/{self.n}"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its interval."""

    value: float
    interval: tuple[float, float] | None
    """95 %, over tasks; None for fewer than two."""
    n: int
    """Number of trials, pairs or injections."""


def clustered_rate(found: Iterable[tuple[Hashable, bool]]) -> Rate:
    """Return the rate over (task, whether it is a hit), clustered by task."""
    tasks = hits_by_task(found)
    hits, n = sum(hits for hits, _ in tasks), sum(n for _, n in tasks)
    return Rate(hits, n, None if n == len(tasks) else rate_interval(tasks))


def hits_by_task(found: Iterable[tuple[Hashable, bool]]) -> list[tuple[int, int]]:
    """Return the hits and the trials of each task, of (task, whether it is a hit)."""
    tasks: dict[Hashable, tuple[int, int]] = {}
    for task, hit in found:
        hits, n = tasks.get(task, (0, 0))
        tasks[task] = hits + hit, n + 1
    return list(tasks.values())
