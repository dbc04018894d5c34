"""Simulated differences between two sides: their intervals and tests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from warex.analysis.output.thresholds import Claim, Threshold, judge
from warex.analysis.stats.clustered import (
    Interval,
    PairCounts,
    paired_difference_interval,
    retained_share_interval,
    sign_flip_p,
    trend,
    within_tasks_p,
)
from warex.analysis.stats.paired import paired_difference
from warex.analysis.stats.proportions import ALPHA

type Rates = npt.NDArray[np.float64]
type Rng = np.random.Generator


@dataclass(frozen=True, slots=True)
class Population:
    """The probabilities that tasks are solved before and after a change."""

    name: str
    draw: Callable[[Rng, int], tuple[Rates, Rates]]
    before: float
    """Expected probability before."""
    after: float
    """Expected probability after."""


def _uniform(before: float, after: float) -> Callable[[Rng, int], tuple[Rates, Rates]]:
    return lambda rng, n: (np.full(n, before), np.full(n, after))


def _unchanged(rng: Rng, n: int) -> tuple[Rates, Rates]:
    share = rng.beta(1, 0.6, n)
    return share, share


def _reduced(rng: Rng, n: int) -> tuple[Rates, Rates]:
    share = rng.beta(0.8, 0.4, n)
    return share, share * rng.beta(2, 1, n)


def _collapse(rng: Rng, n: int) -> tuple[Rates, Rates]:
    return np.full(n, 0.95), rng.beta(0.3, 0.9, n)


def _deterministic(rng: Rng, n: int) -> tuple[Rates, Rates]:
    share = (rng.random(n) < 0.8).astype(float)
    return share, share * (rng.random(n) < 0.6)


POPULATIONS = (
    Population("all tasks alike, 70 % to 50 %", _uniform(0.7, 0.5), 0.7, 0.5),
    Population("all tasks alike, 95 % to 90 %", _uniform(0.95, 0.9), 0.95, 0.9),
    Population("tasks differ, nothing changes", _unchanged, 1 / 1.6, 1 / 1.6),
    Population("tasks differ and fall by a third", _reduced, 2 / 3, 4 / 9),
    Population("nearly all solved falls to a quarter", _collapse, 0.95, 0.25),
    Population("each task is solved always or never", _deterministic, 0.8, 0.48),
)


@dataclass(slots=True)
class Tally:
    """Counts over many runs of one size from one population."""

    runs: int = 0
    change: int = 0
    """Runs whose interval of Δ covers the true value."""
    share: int = 0
    """Runs whose interval of R_fault covers the true value."""
    shares: int = 0
    """Runs in which clean solved anything."""
    significant: int = 0
    these: int = 0
    """Runs with a significant difference on the very tasks."""
    pooled: int = 0
    """Runs in which McNemar's mid-p test over all pairs, as if they were tasks, is significant."""
    disagree: int = 0
    """Runs in which interval and p contradict each other."""


def tally(rng: Rng, population: Population, draws: int, tasks: int, repeats: int) -> Tally:
    """Draw runs and count which intervals cover the true values."""
    tally = Tally()
    for _ in range(draws):
        before, after = population.draw(rng, tasks)
        cells = _pairs(
            rng.random((tasks, repeats)) < before[:, None],
            rng.random((tasks, repeats)) < after[:, None],
        )
        difference = paired_difference_interval(cells)
        assert difference is not None
        interval, p = difference
        tally.runs += 1
        tally.change += covers(interval, population.after - population.before)
        tally.significant += p < ALPHA
        tally.these += within_tasks_p(_sides(cells)) < ALPHA
        _, lost, won, _ = (round(sum(column)) for column in zip(*cells, strict=True))
        tally.pooled += sign_flip_p([1] * won + [-1] * lost) < ALPHA
        tally.disagree += (p < ALPHA) == covers(interval, 0.0)
        if (of_clean := retained_share_interval(cells)) is not None:
            tally.shares += 1
            tally.share += covers(of_clean, population.after / population.before)
    return tally


def _sides(cells: list[PairCounts]) -> list[tuple[int, int, int]]:
    return [
        (int(both + lost + won + neither), int(both + won), int(both + lost))
        for both, lost, won, neither in cells
    ]


def _pairs(clean: npt.NDArray[np.bool_], hurt: npt.NDArray[np.bool_]) -> list[PairCounts]:
    kinds = (clean & hurt, clean & ~hurt, ~clean & hurt, ~clean & ~hurt)
    both, lost, won, neither = (kind.sum(axis=1).tolist() for kind in kinds)
    return list(zip(both, lost, won, neither, strict=True))


def false_trends(rng: Rng, draws: int, tasks: int, repeats: int) -> float:
    """Return how often a trend is significant though tasks change with the dose by chance."""
    believed = 0
    for _ in range(draws):
        starts, slopes = rng.beta(1, 1, tasks), rng.normal(0, 0.2, tasks)
        runs = [
            [
                (2.0**dose, bool(rng.random() < min(1.0, max(0.0, start + slope * (dose - 1)))))
                for dose in range(3)
                for _ in range(repeats)
            ]
            for start, slope in zip(starts.tolist(), slopes.tolist(), strict=True)
        ]
        result = trend(runs)
        believed += result is not None and result[1] < ALPHA
    return believed / draws


def false_breaks(rng: Rng, name: str, draws: int, tasks: int, repeats: int, rows: int) -> float:
    """Return how often ``delta>=-0.1`` breaks though every row falls by exactly that."""
    threshold, broken = Threshold("delta>=-0.1", "", "delta", ">=", -0.1), 0
    for _ in range(draws):
        claims = []
        for _ in range(rows):
            before, after = (
                rng.random((tasks, repeats)) < share[:, None] for share in FALLS[name](rng, tasks)
            )
            sides = [
                (("b", str(task)), bool(after[task, repeat]), bool(before[task, repeat]))
                for task in range(tasks)
                for repeat in range(repeats)
            ]
            claims.append(Claim("", paired_difference(sides), threshold))
        broken += judge(claims).end == "broken"
    return broken / draws


def _scaled(rng: Rng, tasks: int) -> tuple[Rates, Rates]:
    share = rng.beta(2, 1, tasks)
    return share, 0.85 * share


def _some_fall(rng: Rng, tasks: int) -> tuple[Rates, Rates]:
    before = (rng.random(tasks) < 0.8).astype(float)
    return before, before * (rng.random(tasks) < 0.875)


def _both_ways(rng: Rng, tasks: int) -> tuple[Rates, Rates]:
    low = rng.random(tasks) < 0.5
    return np.where(low, 0.2, 0.9), np.where(low, 0.6, 0.3)


FALLS: Mapping[str, Callable[[Rng, int], tuple[Rates, Rates]]] = {
    "all tasks alike, 80 % to 70 %": _uniform(0.8, 0.7),
    "all tasks alike, 95 % to 85 %": _uniform(0.95, 0.85),
    "tasks differ and fall by a seventh": _scaled,
    "some tasks are lost for good": _some_fall,
    "half of the tasks rise, half fall": _both_ways,
}
"""Populations that fall by 10 points."""


def covers(interval: Interval, value: float) -> bool:
    """Return whether an interval covers a value, but for rounding."""
    return interval[0] - 1e-9 <= value <= interval[1] + 1e-9
