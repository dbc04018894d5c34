"""python -m bench coverage: simulate the coverage of intervals and the false positives of tests.

Simulates runs of agents with known success rates on six populations of tasks, with as many tasks
and repeats as campaigns have. Each figure is that of the worst population.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, sqrt

import numpy as np
import numpy.typing as npt

from warex.analysis.output.thresholds import bonferroni_factor, optimistic_bound
from warex.analysis.stats.clustered import (
    Interval,
    PairCounts,
    mean_interval,
    paired_difference_interval,
    retained_share_interval,
    trend,
)
from warex.analysis.stats.proportions import ALPHA

TASKS = (6, 10, 30, 60, 116)
REPEATS = (1, 2, 5)
MIN_COVERAGE = 0.93
"""Required coverage of each nominal 95 % interval."""
_SPREADS = (0.1, 0.25)
"""Of ``cost_coverage``; they give coefficients of variation of 0.2 and 0.6."""

type _Rates = npt.NDArray[np.float64]
type _Rng = np.random.Generator


@dataclass(frozen=True, slots=True)
class Population:
    """The probabilities that tasks are solved before and after a change."""

    name: str
    draw: Callable[[_Rng, int], tuple[_Rates, _Rates]]
    before: float
    """Expected probability before."""
    after: float
    """Expected probability after."""


def _uniform(before: float, after: float) -> Callable[[_Rng, int], tuple[_Rates, _Rates]]:
    return lambda rng, n: (np.full(n, before), np.full(n, after))


def _unchanged(rng: _Rng, n: int) -> tuple[_Rates, _Rates]:
    share = rng.beta(1, 0.6, n)
    return share, share


def _reduced(rng: _Rng, n: int) -> tuple[_Rates, _Rates]:
    share = rng.beta(0.8, 0.4, n)
    return share, share * rng.beta(2, 1, n)


def _collapse(rng: _Rng, n: int) -> tuple[_Rates, _Rates]:
    return np.full(n, 0.95), rng.beta(0.3, 0.9, n)


def _deterministic(rng: _Rng, n: int) -> tuple[_Rates, _Rates]:
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
    disagree: int = 0
    """Runs in which interval and p contradict each other."""


def main(arguments: Sequence[str]) -> int:
    """Simulate, print a table; return 1 if an interval or a test misses its nominal level."""
    parser = argparse.ArgumentParser(prog="python -m bench coverage", description=__doc__)
    parser.add_argument("--draws", type=int, default=1000, metavar="N", help="runs of each size")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    rng = np.random.default_rng(asked.seed)
    wrong = list(_simulate(rng, asked.draws))
    for sentence in wrong:
        print(f"wrong: {sentence}")
    return 1 if wrong else 0


def _simulate(rng: _Rng, draws: int) -> Iterator[str]:
    columns = [
        "tasks",
        "repeats",
        "Δ",
        "R_fault",
        "false,Δ",
        "disagree",
        "cost",
        "trend",
        "threshold",
    ]
    print("| " + " | ".join(columns) + " |")
    print("|" + " --- |" * len(columns))
    for tasks in TASKS:
        for repeats in REPEATS:
            yield from _simulate_size(rng, draws, tasks, repeats)


def _simulate_size(rng: _Rng, draws: int, tasks: int, repeats: int) -> Iterator[str]:
    found = {
        population: tally(rng, population, draws, tasks, repeats) for population in POPULATIONS
    }
    change = min(it.change / it.runs for it in found.values())
    share = min(it.share / it.shares for it in found.values())
    false = max(
        it.significant / it.runs
        for population, it in found.items()
        if population.after == population.before
    )
    disagree = sum(it.disagree for it in found.values())
    cost = min(cost_coverage(rng, spread, draws, tasks, repeats) for spread in _SPREADS)
    rises = false_trends(rng, draws, tasks, repeats)
    failed = false_failures(rng, draws, tasks, repeats)
    print(
        f"| {tasks} | {repeats} | {change:.1%} | {share:.1%} | {false:.1%} | {disagree} |"
        f" {cost:.1%} | {rises:.1%} | {failed:.1%} |"
    )
    doubt = 3 * sqrt(ALPHA * (1 - ALPHA) / draws)
    where = f"{tasks} tasks, {repeats} repeats"
    for name, covered in (("Δ", change), ("R_fault", share), ("cost", cost)):
        if covered < MIN_COVERAGE - doubt:
            yield f"{where}: the interval of {name} covers the true value in {covered:.1%} of runs"
    for name, believed in (("Δ", false), ("the trend", rises), ("the threshold", failed)):
        if believed > ALPHA + doubt:
            yield f"{where}: the test of {name} has {believed:.1%} false positives"
    if disagree:
        yield f"{where}: interval and p disagree in {disagree} runs"


def tally(rng: _Rng, population: Population, draws: int, tasks: int, repeats: int) -> Tally:
    """Draw runs and count which intervals cover the true values."""
    tally = Tally()
    for _ in range(draws):
        before, after = population.draw(rng, tasks)
        cells = _pairs(
            rng.random((tasks, repeats)) < before[:, None],
            rng.random((tasks, repeats)) < after[:, None],
        )
        found = paired_difference_interval(cells)
        assert found is not None
        interval, p = found
        tally.runs += 1
        tally.change += _covers(interval, population.after - population.before)
        tally.significant += p < ALPHA
        tally.disagree += (p < ALPHA) == _covers(interval, 0.0)
        if (of_clean := retained_share_interval(cells)) is not None:
            tally.shares += 1
            tally.share += _covers(of_clean, population.after / population.before)
    return tally


def _pairs(clean: npt.NDArray[np.bool_], hurt: npt.NDArray[np.bool_]) -> list[PairCounts]:
    kinds = (clean & hurt, clean & ~hurt, ~clean & hurt, ~clean & ~hurt)
    both, lost, won, neither = (kind.sum(axis=1).tolist() for kind in kinds)
    return list(zip(both, lost, won, neither, strict=True))


def cost_coverage(rng: _Rng, spread: float, draws: int, tasks: int, repeats: int) -> float:
    """Return the coverage of the interval of a mean cost.

    Costs are lognormal, with twice the spread between tasks as between the trials of a task.
    """
    truth, held = exp(((2 * spread) ** 2 + spread**2) / 2), 0
    for _ in range(draws):
        of_tasks = rng.lognormal(0, 2 * spread, tasks)[:, None]
        figures = of_tasks * rng.lognormal(0, spread, (tasks, repeats))
        interval = mean_interval(
            [(task, figure) for task, row in enumerate(figures.tolist()) for figure in row]
        )
        assert interval is not None
        held += _covers(interval, truth)
    return held / draws


def false_trends(rng: _Rng, draws: int, tasks: int, repeats: int) -> float:
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
        found = trend(runs)
        believed += found is not None and found[1] < ALPHA
    return believed / draws


def false_failures(rng: _Rng, draws: int, tasks: int, repeats: int) -> float:
    """Return how often ``delta>=-0.1`` fails for a run whose three conditions change nothing."""
    reach, failed = bonferroni_factor(3), 0
    for _ in range(draws):
        share, _ = _unchanged(rng, tasks)
        clean = rng.random((tasks, repeats)) < share[:, None]
        for _ in range(3):
            cells = _pairs(clean, rng.random((tasks, repeats)) < share[:, None])
            found = paired_difference_interval(cells)
            assert found is not None
            lost, won = (sum(one[column] for one in cells) for column in (1, 2))
            value = (won - lost) / (tasks * repeats)
            if optimistic_bound(value, found[0], ">=", reach) < -0.1:
                failed += 1
                break
    return failed / draws


def _covers(interval: Interval, value: float) -> bool:
    return interval[0] - 1e-9 <= value <= interval[1] + 1e-9
