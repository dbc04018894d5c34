"""Paired differences between two sides of a run, with their intervals and tests."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import Literal

from warex.analysis.stats.clustered import (
    PairCounts,
    PairKey,
    TaskId,
    paired_difference_interval,
    retained_share_interval,
)
from warex.analysis.stats.estimates import Mean, Rate, clustered_rate
from warex.analysis.stats.proportions import (
    ALPHA,
    fisher,
    holm,
    smallest_drop,
    tasks_needed,
    wilson,
)
from warex.text.english import count_noun

ASSUMED_FLIPS = 0.1
"""Share of pairs that flip by chance alone, if the run has no noise floor."""
_ASSUMED_RANGE = (0.05, 0.2)
STATED_DROP = 0.2
"""The drop of a success rate for which the required tasks are computed. It is fixed beforehand,
since an observed drop is often too large by chance."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A difference of success rates over the trials of both sides, by pairs."""

    value: float
    """From -1 to 1."""
    pairs: int
    interval: tuple[float, float] | None = field(default=None, compare=False)
    """95 %; None for several repeats of a single task."""
    p: float | None = field(default=None, compare=False)
    """Two-sided mid-p; None as for ``interval``."""
    p_holm: float | None = field(default=None, compare=False)
    """``p`` adjusted for several tests (Holm 1979): all conditions of an agent, defences, or a
    comparison of two agents. None elsewhere."""
    method: Literal["mcnemar", "clustered"] | None = field(default=None, compare=False)
    """``mcnemar``: McNemar's mid-p test and Newcombe's interval, for one repeat. ``clustered``: a
    sign-flip test, and Newcombe's interval over the effective number of pairs, for several."""
    lost: int = field(default=0, compare=False)
    """Pairs solved on the other side only."""
    won: int = field(default=0, compare=False)
    """Pairs solved on this side only."""
    tasks: int = field(default=0, compare=False)
    """Number of tasks of the pairs."""

    @property
    def significant(self) -> bool:
        """Whether the adjusted p is below 5 %."""
        return self.adjusted_p is not None and self.adjusted_p < ALPHA

    @property
    def adjusted_p(self) -> float | None:
        """``p_holm``, or ``p`` if that is None."""
        return self.p if self.p_holm is None else self.p_holm


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """The difference between equal sides (A/A)."""

    delta: Delta
    flips: int
    """Pairs solved on one side only."""
    pairs: int
    source: Literal["control", "repeats"]
    """A control against ``clean``, or each repeat of ``clean`` against the one before."""


@dataclass(frozen=True, slots=True)
class Power:
    """The effects that a run of this size can detect."""

    n: int
    """Tasks with a score under ``clean``; repeats do not count."""
    smallest_detectable_drop: float | None
    """The smallest drop of the success rate detected with 80 % probability, 0 to 1; None if even a
    drop to 0 is not."""
    alpha: float
    """Two-sided level of McNemar's mid-p test: 0.05 over the number of conditions."""
    flips: float
    """Share of pairs that flip by chance alone."""
    assumed: bool
    """Whether ``flips`` is assumed because the run has no noise floor."""
    needed: tuple[int, int] | None = None
    """Fewest and most tasks required to detect a drop of 20 points with 80 % probability, depending
    on flips and on what repeats contribute. None for more than 20,000."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two agents under one condition."""

    condition: str
    figure: Literal["success", "recovery"]
    agents: tuple[str, str]
    rates: tuple[Rate, Rate]
    p_fisher: float | None
    """Fisher's exact test, two-sided, not adjusted; None if a task has several trials."""
    relative_change: float | None
    """The second's rate over the first's, minus 1; None if the first is 0."""
    paired: Delta | None
    """The second minus the first over shared tasks and repeats, which is the better test."""


@dataclass(frozen=True, slots=True)
class DefenceEffect:
    """The effect of a defence under the same faults."""

    agent: str
    condition: str
    """With the defence."""
    against: str
    """The same scenario and dose without the defence."""
    defence: str
    delta: Delta
    """Success with the defence minus without, adjusted over the agent's defences."""


type ScoredPairs = Mapping[PairKey, bool]
"""Whether each trial succeeded."""


def delta(of: ScoredPairs, against: ScoredPairs) -> Delta | None:
    """Return the difference over the pairs on both sides; None if there are none."""
    return paired_difference(_sides(of, against))


def _sides(of: ScoredPairs, against: ScoredPairs) -> list[tuple[TaskId, bool, bool]]:
    return [(pair[:2], of[pair], against[pair]) for pair in sorted(of.keys() & against.keys())]


def paired_difference(sides: Sequence[tuple[TaskId, bool, bool]]) -> Delta | None:
    """Return the difference over pairs, each (task, this side, the other); None for no pairs."""
    if not sides:
        return None
    tasks = _cells(sides)
    _, lost, won, _ = (round(sum(column)) for column in zip(*tasks, strict=True))
    bare = Delta((won - lost) / len(sides), len(sides), lost=lost, won=won, tasks=len(tasks))
    found = paired_difference_interval(tasks)
    if found is None:
        return bare
    interval, p = found
    method: Literal["mcnemar", "clustered"] = "mcnemar" if len(tasks) == len(sides) else "clustered"
    return replace(bare, interval=interval, p=p, method=method)


def _cells(sides: Iterable[tuple[TaskId, bool, bool]]) -> list[PairCounts]:
    """Return the pair counts of each task."""
    tasks: dict[TaskId, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for task, this, other in sides:
        tasks[task][this, other] += 1
    return [
        (found[True, True], found[False, True], found[True, False], found[False, False])
        for found in tasks.values()
    ]


def holm_adjusted(deltas: Sequence[Delta | None]) -> list[Delta | None]:
    """Return the same differences with p adjusted for several tests, in order."""
    rest = iter(holm([d.p for d in deltas if d and d.p is not None]))
    return [replace(d, p_holm=next(rest)) if d and d.p is not None else d for d in deltas]


def retained_share(of: ScoredPairs, against: ScoredPairs) -> Mean | None:
    """Return R_fault, the share of the other side's success rate that this side keeps, over pairs.

    None if the other side solved nothing.
    """
    sides = _sides(of, against)
    there = sum(other for _, _, other in sides)
    if not there:
        return None
    kept = sum(this for _, this, _ in sides) / there
    return Mean(kept, retained_share_interval(_cells(sides)), len(sides))


def noise_floor(clean: ScoredPairs, control: ScoredPairs) -> NoiseFloor | None:
    """Return the difference between equal sides; None if nothing was run twice."""
    source: Literal["control", "repeats"] = "control"
    sides = _sides(control, clean)
    if not sides:
        source = "repeats"
        sides = [
            (later[:2], clean[later], clean[earlier])
            for earlier, later in pairwise(sorted(clean))
            if earlier[:2] == later[:2]
        ]
    found = paired_difference(sides)
    return NoiseFloor(found, found.lost + found.won, found.pairs, source) if found else None


def detectable_drop(clean: ScoredPairs, floor: NoiseFloor | None, conditions: int) -> Power | None:
    """Return the power against ``clean`` with so many conditions; None without a score."""
    if not clean:
        return None
    n = len({pair[:2] for pair in clean})
    # Adds one flip and one pair without (Laplace), so that few pairs do not give a share of 0.
    flips = (floor.flips + 1) / (floor.pairs + 2) if floor else ASSUMED_FLIPS
    alpha = ALPHA / max(1, conditions)
    drop = smallest_drop(n, sum(clean.values()) / len(clean), flips, alpha)
    between = wilson(floor.flips, floor.pairs) if floor else _ASSUMED_RANGE
    needed = tasks_needed(STATED_DROP, between, len(clean) / n, alpha)
    return Power(n, drop, alpha, flips, assumed=floor is None, needed=needed)


def required_tasks(delta: Delta, alpha: float) -> tuple[int, int] | None:
    """Return the tasks required to detect a drop of 20 points; see ``Power.needed``."""
    return tasks_needed(STATED_DROP, _ASSUMED_RANGE, delta.pairs / delta.tasks, alpha)


def describe_required_tasks(needed: tuple[int, int] | None) -> str:
    """Say how many tasks are required to detect ``STATED_DROP``."""
    drop = f"a drop of {100 * STATED_DROP:.0f} points takes"
    if needed is None:
        return f"{drop} more tasks than can be run"
    fewest, most = needed
    return f"{drop} {f'{fewest:,} to ' if fewest < most else ''}{count_noun(most, 'task')}"


def describe_p(p: float) -> str:
    """Write a p-value: ``p = 0.012``, ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def contrasts(
    condition: str, figure: Literal["success", "recovery"], by_agent: Mapping[str, ScoredPairs]
) -> list[Contrast]:
    """Compare each pair of agents that have a rate."""
    found = []
    for agents in combinations((agent for agent, scored in by_agent.items() if scored), 2):
        one, other = (by_agent[agent] for agent in agents)
        first, second = rate_of(one), rate_of(other)
        independent = all(len({pair[:2] for pair in side}) == len(side) for side in (one, other))
        p = fisher((first.hits, first.n), (second.hits, second.n)) if independent else None
        base, value = first.value, second.value
        change = value / base - 1 if base and value is not None else None
        rates, paired = (first, second), delta(other, one)
        found.append(Contrast(condition, figure, agents, rates, p, change, paired))
    return found


def rate_of(scored: ScoredPairs) -> Rate:
    """Return the rate over trials, clustered by task."""
    return clustered_rate((pair[:2], hit) for pair, hit in scored.items())
