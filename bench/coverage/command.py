"""python -m bench coverage: simulate what reports say, against truths that are known.

Each table has a row for each number of tasks and repeats. A figure is that of the worst population
of tasks. The command ends with 1 if an interval that is to cover the truth in 95 % of runs covers
it in fewer than 93 %, or if a test or a gate at 5 % is wrong more often, beyond what so few
simulated runs may show by chance (three standard errors).
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from bench.coverage import amounts, differences, rates, runs
from bench.coverage.differences import Rng
from warex.analysis.stats.proportions import ALPHA

MIN_COVERAGE = 0.93
"""Required coverage of each nominal 95 % interval."""
_LEAST_POWER = 0.05
"""By how much the test on these very tasks may be weaker than McNemar's over all pairs."""

_SIZES = ((6, 1), (10, 1), (6, 5), (10, 3), (30, 1), (30, 5))
_MORE_SIZES = (*_SIZES, (60, 1), (60, 5), (116, 1))
_ROWS = (1, 4)
_VOIDS = (0.0, 0.04, 0.08, 0.1)

type Wrong = Iterator[str]


@dataclass(frozen=True, slots=True)
class _Check:
    draws: int

    @property
    def doubt(self) -> float:
        """Three standard errors of a share of 5 %."""
        return 3 * sqrt(ALPHA * (1 - ALPHA) / self.draws)

    def covered(self, where: str, what: str, share: float) -> Wrong:
        if share < MIN_COVERAGE - self.doubt:
            yield f"{where}: the interval of {what} covers the truth in {share:.1%} of runs"

    def rare(self, where: str, what: str, share: float) -> Wrong:
        if share > ALPHA + self.doubt:
            yield f"{where}: {what} in {share:.1%} of runs"


def main(arguments: Sequence[str]) -> int:
    """Simulate, print tables; return 1 if an interval, a test or a gate misses its level."""
    parser = argparse.ArgumentParser(
        prog="python -m bench coverage",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--draws", type=int, default=1000, metavar="N", help="runs of each size")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    for name in asked.tables:
        if name not in TABLES:
            parser.error(f"{name!r} is not a table; there are {', '.join(TABLES)}")
    wrong = list[str]()
    for name in asked.tables or TABLES:
        print(f"\n{name}\n")
        wrong += TABLES[name](np.random.default_rng(asked.seed), _Check(asked.draws))
    for sentence in wrong:
        print(f"wrong: {sentence}")
    return 1 if wrong else 0


def _head(*columns: str) -> None:
    print("| " + " | ".join(("tasks", "repeats", *columns)) + " |")
    print("|" + " --- |" * (len(columns) + 2))


def _line(tasks: int, repeats: int, *shares: float) -> str:
    print(f"| {tasks} | {repeats} | " + " | ".join(f"{share:.1%}" for share in shares) + " |")
    return f"{tasks} tasks, {repeats} repeats"


def _rates(rng: Rng, check: _Check) -> Wrong:
    _head("coverage: success", "recovery per injection", *(f"gate of {n} breaks" for n in _ROWS))
    for tasks, repeats in _SIZES:
        # With one trial a task, a population is nothing but its mean.
        names = list(rates.POPULATIONS)[: 1 if repeats == 1 else None]
        cases = [(rates.POPULATIONS[name], mean) for name in names for mean in rates.THRESHOLDS]
        size = (check.draws, tasks, repeats)
        success = min(rates.rate_coverage(rng, of, mean, *size) for of, mean in cases)
        each = [(of, mean) for of in rates.POPULATIONS.values() for mean in (0.5, 0.8)]
        injections = min(rates.injection_coverage(rng, of, mean, *size) for of, mean in each)
        broken = [
            max(rates.false_breaks(rng, of, mean, *size, rows) for of, mean in cases)
            for rows in _ROWS
        ]
        where = _line(tasks, repeats, success, injections, *broken)
        yield from check.covered(where, "a success rate", success)
        yield from check.covered(where, "recovery per injection", injections)
        for rows, share in zip(_ROWS, broken, strict=True):
            yield from check.rare(where, f"a gate of {rows} rows at their truth breaks", share)


def _amounts(rng: Rng, check: _Check) -> Wrong:
    _head("coverage: mean", "mean, heavy tail", "median", "median, heavy tail", "median ratio")
    for tasks, repeats in _SIZES:
        size = (check.draws, tasks, repeats)
        fine, heavy = (
            [amounts.amount_coverage(rng, tail, *size) for tail in tails.values()]
            for tails in (amounts.MODERATE, amounts.HEAVY)
        )
        tails = (*amounts.MODERATE.values(), *amounts.HEAVY.values())
        ratio = min(amounts.ratio_coverage(rng, tail, *size) for tail in tails)
        mean, middle = (min(one[n] for one in fine) for n in (0, 1))
        heavy_mean, heavy_middle = (min(one[n] for one in heavy) for n in (0, 1))
        where = _line(tasks, repeats, mean, heavy_mean, middle, heavy_middle, ratio)
        yield from check.covered(where, "a mean", mean)
        yield from check.covered(where, "a median", min(middle, heavy_middle))
        yield from check.covered(where, "the median ratio", ratio)


def _differences(rng: Rng, check: _Check) -> Wrong:
    _head(
        *("coverage: Δ", "R_fault", "false: like these", "these", "trend", "disagree"),
        *(f"gate of {n} breaks" for n in _ROWS),
        *("power: like these", "these", "McNemar over all pairs"),
    )
    for tasks, repeats in _MORE_SIZES:
        size = (check.draws, tasks, repeats)
        tallies = {of: differences.tally(rng, of, *size) for of in differences.POPULATIONS}
        change = min(it.change / it.runs for it in tallies.values())
        share = min(it.share / it.shares for it in tallies.values())
        same = [it for of, it in tallies.items() if of.after == of.before]
        like, these = (
            max(getattr(it, name) / it.runs for it in same) for name in ("significant", "these")
        )
        disagree = sum(it.disagree for it in tallies.values())
        rises = differences.false_trends(rng, *size)
        broken = [
            max(differences.false_breaks(rng, name, *size, rows) for name in differences.FALLS)
            for rows in _ROWS
        ]
        fell = tallies[differences.POPULATIONS[0]]
        power = [n / fell.runs for n in (fell.significant, fell.these, fell.pooled)]
        where = _line(tasks, repeats, change, share, like, these, rises, disagree, *broken, *power)
        yield from check.covered(where, "Δ", change)
        yield from check.covered(where, "R_fault", share)
        yield from check.rare(where, "Δ on tasks like these is falsely significant", like)
        yield from check.rare(where, "Δ on the very tasks is falsely significant", these)
        yield from check.rare(where, "a trend is falsely significant", rises)
        for rows, part in zip(_ROWS, broken, strict=True):
            yield from check.rare(where, f"delta>=-0.1 of {rows} rows at their truth breaks", part)
        if disagree:
            yield f"{where}: interval and p disagree in {disagree} runs"
        if power[1] < power[2] - _LEAST_POWER:
            yield f"{where}: the very tasks have a power of {power[1]:.1%}, McNemar {power[2]:.1%}"


def _gates(rng: Rng, check: _Check) -> Wrong:
    _head("void", "delta>=-0.1 breaks", "of a comparison", "the verdict is worse")
    for tasks, repeats in ((10, 1), (30, 1), (10, 3)):
        for void in _VOIDS:
            shares = runs.harmless_breaks(rng, check.draws, tasks, repeats, void)
            where = f"{_line(tasks, repeats, void, *shares)}, {void:.0%} void"
            for what, share in zip(("a run", "a comparison", "a verdict"), shares, strict=True):
                yield from check.rare(where, f"{what} of a harmless build is broken", share)


def _tables(rng: Rng, check: _Check) -> Wrong:
    names = ("contrasts", "Δ, tasks like these", "Δ, these tasks")
    _head("some p < .05: contrasts, raw", *(f"{name}, adjusted" for name in names))
    for tasks, repeats in ((6, 1), (10, 1), (30, 1), (6, 5), (10, 3)):
        raw, *adjusted = runs.false_tables(rng, check.draws, tasks, repeats)
        where = _line(tasks, repeats, raw, *adjusted)
        for name, share in zip(names, adjusted, strict=True):
            yield from check.rare(where, f"a table of {name} shows an adjusted p below 5 %", share)


TABLES: Mapping[str, Callable[[Rng, _Check], Wrong]] = {
    "rates": _rates,
    "amounts": _amounts,
    "differences": _differences,
    "gates": _gates,
    "tables": _tables,
}
