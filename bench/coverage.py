"""python -m bench coverage: do intervals hold the truth, and is chance believed as rarely as said?

Runs of made-up agents whose truth is known, drawn again and again: six kinds of tasks, with as many
tasks and repeats as campaigns have. Each figure is the worst of its kinds.
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
LEAST = 0.93
"""Coverage that every interval is to have, of 95 %."""
_SPREADS = (0.1, 0.25)
"""Of costs, see ``costs``: coefficients of variation of 0.2 and 0.6."""

type _Shares = npt.NDArray[np.float64]
type _Chance = np.random.Generator


@dataclass(frozen=True, slots=True)
class World:
    """How likely tasks are solved on either side."""

    name: str
    draw: Callable[[_Chance, int], tuple[_Shares, _Shares]]
    before: float
    """Mean of the first."""
    after: float
    """Mean of the second."""


def _even(before: float, after: float) -> Callable[[_Chance, int], tuple[_Shares, _Shares]]:
    return lambda chance, n: (np.full(n, before), np.full(n, after))


def _unmoved(chance: _Chance, n: int) -> tuple[_Shares, _Shares]:
    share = chance.beta(1, 0.6, n)
    return share, share


def _partly(chance: _Chance, n: int) -> tuple[_Shares, _Shares]:
    share = chance.beta(0.8, 0.4, n)
    return share, share * chance.beta(2, 1, n)


def _collapse(chance: _Chance, n: int) -> tuple[_Shares, _Shares]:
    return np.full(n, 0.95), chance.beta(0.3, 0.9, n)


def _certain(chance: _Chance, n: int) -> tuple[_Shares, _Shares]:
    share = (chance.random(n) < 0.8).astype(float)
    return share, share * (chance.random(n) < 0.6)


WORLDS = (
    World("all tasks alike, 70 % to 50 %", _even(0.7, 0.5), 0.7, 0.5),
    World("all tasks alike, 95 % to 90 %", _even(0.95, 0.9), 0.95, 0.9),
    World("tasks differ, nothing changes", _unmoved, 1 / 1.6, 1 / 1.6),
    World("tasks differ and fall by a third", _partly, 2 / 3, 4 / 9),
    World("nearly all solved falls to a quarter", _collapse, 0.95, 0.25),
    World("each task is solved always or never", _certain, 0.8, 0.48),
)


@dataclass(slots=True)
class Tally:
    """What came of many runs of one size in one world."""

    runs: int = 0
    change: int = 0
    """Runs whose interval of Δ holds the truth; the next likewise."""
    share: int = 0
    shares: int = 0
    """Runs in which clean solved anything."""
    significant: int = 0
    disagree: int = 0
    """Runs in which interval and p do not agree."""


def main(arguments: Sequence[str]) -> int:
    """Simulate, print a table, and return 1 where an interval or a test does not keep its word."""
    parser = argparse.ArgumentParser(prog="python -m bench coverage", description=__doc__)
    parser.add_argument("--draws", type=int, default=1000, metavar="N", help="runs of each size")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    chance = np.random.default_rng(asked.seed)
    wrong = list(_told(chance, asked.draws))
    for sentence in wrong:
        print(f"wrong: {sentence}")
    return 1 if wrong else 0


def _told(chance: _Chance, draws: int) -> Iterator[str]:
    columns = ["tasks", "repeats", "Δ", "R_fault", "false,Δ", "disagree", "cost", "trend", "gate"]
    print("| " + " | ".join(columns) + " |")
    print("|" + " --- |" * len(columns))
    for tasks in TASKS:
        for repeats in REPEATS:
            yield from _line(chance, draws, tasks, repeats)


def _line(chance: _Chance, draws: int, tasks: int, repeats: int) -> Iterator[str]:
    found = {world: tally(chance, world, draws, tasks, repeats) for world in WORLDS}
    change = min(it.change / it.runs for it in found.values())
    share = min(it.share / it.shares for it in found.values())
    false = max(
        it.significant / it.runs for world, it in found.items() if world.after == world.before
    )
    disagree = sum(it.disagree for it in found.values())
    cost = min(costs(chance, spread, draws, tasks, repeats) for spread in _SPREADS)
    rises = trends(chance, draws, tasks, repeats)
    failed = gates(chance, draws, tasks, repeats)
    print(
        f"| {tasks} | {repeats} | {change:.1%} | {share:.1%} | {false:.1%} | {disagree} |"
        f" {cost:.1%} | {rises:.1%} | {failed:.1%} |"
    )
    doubt = 3 * sqrt(ALPHA * (1 - ALPHA) / draws)
    where = f"{tasks} tasks, {repeats} repeats"
    for name, covered in (("Δ", change), ("R_fault", share), ("cost", cost)):
        if covered < LEAST - doubt:
            yield f"{where}: the interval of {name} holds the truth in {covered:.1%} of runs"
    for name, believed in (("Δ", false), ("the trend", rises), ("the gate", failed)):
        if believed > ALPHA + doubt:
            yield f"{where}: chance is believed in {believed:.1%} of runs by the test of {name}"
    if disagree:
        yield f"{where}: interval and p disagree in {disagree} runs"


def tally(chance: _Chance, world: World, draws: int, tasks: int, repeats: int) -> Tally:
    """Draw runs and judge each."""
    tally = Tally()
    for _ in range(draws):
        before, after = world.draw(chance, tasks)
        cells = _pairs(
            chance.random((tasks, repeats)) < before[:, None],
            chance.random((tasks, repeats)) < after[:, None],
        )
        found = paired_difference_interval(cells)
        assert found is not None
        interval, p = found
        tally.runs += 1
        tally.change += _holds(interval, world.after - world.before)
        tally.significant += p < ALPHA
        tally.disagree += (p < ALPHA) == _holds(interval, 0.0)
        if (of_clean := retained_share_interval(cells)) is not None:
            tally.shares += 1
            tally.share += _holds(of_clean, world.after / world.before)
    return tally


def _pairs(clean: npt.NDArray[np.bool_], hurt: npt.NDArray[np.bool_]) -> list[PairCounts]:
    kinds = (clean & hurt, clean & ~hurt, ~clean & hurt, ~clean & ~hurt)
    both, lost, won, neither = (kind.sum(axis=1).tolist() for kind in kinds)
    return list(zip(both, lost, won, neither, strict=True))


def costs(chance: _Chance, spread: float, draws: int, tasks: int, repeats: int) -> float:
    """Return how often the interval of a mean cost holds it.

    Costs are lognormal between the trials of a task, and twice as wide between tasks.
    """
    truth, held = exp(((2 * spread) ** 2 + spread**2) / 2), 0
    for _ in range(draws):
        of_tasks = chance.lognormal(0, 2 * spread, tasks)[:, None]
        figures = of_tasks * chance.lognormal(0, spread, (tasks, repeats))
        interval = mean_interval(
            [(task, figure) for task, row in enumerate(figures.tolist()) for figure in row]
        )
        assert interval is not None
        held += _holds(interval, truth)
    return held / draws


def trends(chance: _Chance, draws: int, tasks: int, repeats: int) -> float:
    """Return how often a trend is believed where tasks rise and fall with the dose by chance."""
    believed = 0
    for _ in range(draws):
        starts, slopes = chance.beta(1, 1, tasks), chance.normal(0, 0.2, tasks)
        runs = [
            [
                (2.0**dose, bool(chance.random() < min(1.0, max(0.0, start + slope * (dose - 1)))))
                for dose in range(3)
                for _ in range(repeats)
            ]
            for start, slope in zip(starts.tolist(), slopes.tolist(), strict=True)
        ]
        found = trend(runs)
        believed += found is not None and found[1] < ALPHA
    return believed / draws


def gates(chance: _Chance, draws: int, tasks: int, repeats: int) -> float:
    """Return how often ``delta>=-0.1`` fails a run in which three conditions change nothing."""
    reach, failed = bonferroni_factor(3), 0
    for _ in range(draws):
        share, _ = _unmoved(chance, tasks)
        clean = chance.random((tasks, repeats)) < share[:, None]
        for _ in range(3):
            cells = _pairs(clean, chance.random((tasks, repeats)) < share[:, None])
            found = paired_difference_interval(cells)
            assert found is not None
            lost, won = (sum(one[column] for one in cells) for column in (1, 2))
            value = (won - lost) / (tasks * repeats)
            if optimistic_bound(value, found[0], ">=", reach) < -0.1:
                failed += 1
                break
    return failed / draws


def _holds(interval: Interval, value: float) -> bool:
    return interval[0] - 1e-9 <= value <= interval[1] + 1e-9
