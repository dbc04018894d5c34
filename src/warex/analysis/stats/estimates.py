"""Rates and means with their intervals and tests."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean, median

from warex.analysis.stats.means import (
    Interval,
    TaskFigures,
    mean_interval,
    median_interval,
    task_means,
)
from warex.analysis.stats.proportions import student_cdf, t_quantile
from warex.analysis.stats.rates import TaskCounts, rate_interval, rate_p

INTERNAL: Mapping[str, bool] = {"internal": True}
"""Metadata of a field that is not a figure: JSON leaves it out."""


@dataclass(frozen=True, slots=True)
class Rate:
    """``hits`` of ``n`` trials."""

    hits: int
    n: int
    tasks: TaskCounts | None = field(default=None, compare=False)
    """Hits and trials of each task; None if each trial is of another task."""

    @property
    def value(self) -> float | None:
        """The rate, 0 to 1; None if n is 0."""
        return self.hits / self.n if self.n else None

    @property
    def task_count(self) -> int:
        """The number of tasks that the trials are of."""
        return self.n if self.tasks is None else len(self.tasks)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval: Clopper and Pearson's; for several trials a task, Gaffke's."""
        return rate_interval(self._by_task)

    def bound_p(self, bound: float, *, at_least: bool) -> float:
        """Return the one-sided p of the hypothesis that the true rate is at least (most) a bound.

        The exact binomial test; for several trials a task, Gaffke's.
        """
        return rate_p(self._by_task, bound, at_least=at_least)

    @property
    def _by_task(self) -> TaskCounts:
        if self.tasks is not None:
            return self.tasks
        return ((1, 1),) * self.hits + ((0, 1),) * (self.n - self.hits)

    def __str__(self) -> str:
        return f"{self.hits}/{self.n}"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with its interval, and the median of the tasks' means."""

    value: float
    interval: Interval | None
    """95 %, over tasks; None for fewer than two."""
    n: int
    """Number of trials, pairs or injections."""
    tasks: int = 0
    median: float | None = None
    """Of the tasks' own means."""
    median_interval: Interval | None = None
    """95 %, for any distribution; None for fewer than six tasks."""

    def bound_p(self, bound: float, *, at_least: bool) -> float | None:
        """Return the one-sided p of the hypothesis that the true mean is at least ``bound``.

        Or at most. It is the p of a t test with the standard error that the interval's end implies.
        None without an interval.
        """
        if self.interval is None or self.tasks < 2:
            return None
        over = bound - self.value if at_least else self.value - bound
        reach = self.interval[1] - self.value if at_least else self.value - self.interval[0]
        if reach <= 0:
            return float(over <= 0)
        return 1 - student_cdf(over / reach * t_quantile(self.tasks - 1), self.tasks - 1)


def mean_over(figures: TaskFigures) -> Mean | None:
    """Return the mean of figures, each with its task; None if there are none."""
    if not figures:
        return None
    means = task_means(figures)
    return Mean(
        fmean(figure for _, figure in figures),
        mean_interval(figures),
        len(figures),
        len(means),
        median(means),
        median_interval(means),
    )


def clustered_rate(outcomes: Iterable[tuple[Hashable, bool]]) -> Rate:
    """Return the rate over (task, whether it is a hit), clustered by task."""
    tasks = tuple(hits_by_task(outcomes))
    hits, n = sum(hits for hits, _ in tasks), sum(n for _, n in tasks)
    return Rate(hits, n, None if n == len(tasks) else tasks)


def hits_by_task(outcomes: Iterable[tuple[Hashable, bool]]) -> list[tuple[int, int]]:
    """Return the hits and the trials of each task, of (task, whether it is a hit)."""
    tasks: dict[Hashable, tuple[int, int]] = {}
    for task, hit in outcomes:
        hits, n = tasks.get(task, (0, 0))
        tasks[task] = hits + hit, n + 1
    return list(tasks.values())
