"""Regimes: success and effort under a fault, read together.

Effort alone misleads, since an agent that gives up early looks efficient. A regime is named only if
the intervals support it.

Source: the paper, appendix E.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from warex.analysis.stats.clustered import TaskId
from warex.analysis.stats.estimates import Rate
from warex.analysis.stats.means import median_interval
from warex.analysis.stats.paired import Delta
from warex.analysis.trial.record import TrialRecord
from warex.text.english import count_noun

EQUIVALENCE_MARGIN = 0.10
"""Success is kept if the interval of Δ excludes a larger drop."""
CHEAP_RATIO = 0.80
"""Effort relative to clean up to which a failure is cheap."""
COSTLY_RATIO = 1.25
"""Effort relative to clean that the interval must exclude for an agent to be unaffected."""

type RegimeName = Literal[
    "premature termination",
    "resource-intensive failure",
    "recovered at a cost",
    "unaffected",
    "unclear",
]


@dataclass(frozen=True, slots=True)
class Regime:
    """The effect of a condition on success and effort together."""

    name: RegimeName
    why: str
    """One sentence with the figures that decide."""


@dataclass(frozen=True, slots=True)
class EffortRatio:
    """The effort of tasks relative to their pairs under ``clean``."""

    what: str
    ratio: float
    """The median of the tasks' ratios."""
    interval: tuple[float, float]

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.what} of the median task at {self.ratio:.0%} of clean"
            f" [{100 * low:.0f}, {100 * high:.0f}]"
        )


def effort(
    trials: Sequence[TrialRecord],
    clean: Sequence[TrialRecord],
    measures: Mapping[str, Callable[[TrialRecord], float | None]],
) -> EffortRatio | None:
    """Return the effort over pairs, by the first measure that is known for all of them.

    None if there is none, or if there are too few tasks for an interval. It is a median, since the
    interval of a ratio of sums misses the truth too often where effort has a long tail.
    """
    base = {trial.pair: trial for trial in clean}
    pairs = [(trial, base[trial.pair]) for trial in trials if trial.pair in base]
    for what, figure_of in measures.items():
        ratios = _task_ratios([(t.task, figure_of(t), figure_of(other)) for t, other in pairs])
        if ratios is not None and (interval := median_interval(ratios)) is not None:
            return EffortRatio(what, median(ratios), interval)
    return None


def _task_ratios(pairs: Sequence[tuple[TaskId, float | None, float | None]]) -> list[float] | None:
    """Return each task's ratio of sums; None if a figure is unknown, or a ratio has none."""
    tops, bottoms = defaultdict[TaskId, float](float), defaultdict[TaskId, float](float)
    for task, top, bottom in pairs:
        if top is None or bottom is None:
            return None
        tops[task] += top
        bottoms[task] += bottom
    return [tops[task] / bottoms[task] for task in tops] if all(bottoms.values()) else None


def regime(delta: Delta | None, spent: EffortRatio | None, exposure: Rate | None) -> Regime | None:
    """Name the regime of a condition with faults; None for one without."""
    if exposure is None:
        return None
    if not exposure.hits:
        return Regime("unclear", "No fault was delivered.")
    if exposure.hits < exposure.n / 2:
        trials = count_noun(exposure.n, "trial")
        return Regime("unclear", f"The fault reached only {exposure.hits} of {trials}.")
    if delta is None or delta.interval is None:
        return Regime("unclear", "There are too few pairs with clean to tell.")
    if spent is None:
        return Regime("unclear", f"{_success(delta)}; what it took is not known.")
    figures = f"{_success(delta)}, {spent}"
    low, high = spent.interval
    if delta.significant and delta.value < 0:
        if high < 1 and spent.ratio <= CHEAP_RATIO:
            return Regime("premature termination", f"It fails and is cheap: {figures}.")
        if low > CHEAP_RATIO:
            return Regime("resource-intensive failure", f"It fails and is not cheap: {figures}.")
        return Regime("unclear", f"It fails; the cost is inconclusive: {figures}.")
    if delta.interval[0] < -EQUIVALENCE_MARGIN:
        return Regime("unclear", f"Success is inconclusive: {figures}.")
    if low > 1:
        return Regime("recovered at a cost", f"Success is kept, at a price: {figures}.")
    if high <= COSTLY_RATIO:
        return Regime("unaffected", f"Success is kept at no extra cost: {figures}.")
    return Regime("unclear", f"Success is kept; the cost is inconclusive: {figures}.")


def _success(delta: Delta) -> str:
    low, high = delta.interval or (-1.0, 1.0)
    return f"success {100 * delta.value:+.0f} points [{100 * low:+.0f}, {100 * high:+.0f}]"
