"""Differences between two sides of a run, each with what says whether it is more than chance."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
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
"""Share of pairs that flip by chance alone, where the run does not say."""
_ASSUMED_RANGE = (0.05, 0.2)
STATED_DROP = 0.2
"""The fall of a success rate for which the needed tasks are told: one stated beforehand, since the
one that was seen is too often one that chance made large."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A difference of success rates over trials that exist on both sides."""

    value: float
    """From -1 to 1."""
    pairs: int
    interval: tuple[float, float] | None = field(default=None, compare=False)
    """95 %; None where several repeats of a single task leave nothing to judge by."""
    p: float | None = field(default=None, compare=False)
    """Two-sided mid-p: how often chance alone gives as much. None as for ``interval``."""
    p_holm: float | None = field(default=None, compare=False)
    """``p`` adjusted for being one of several (Holm 1979): all conditions of an agent against
    ``clean``, all its defences, all that a comparison of two agents rests on. None elsewhere."""
    method: Literal["mcnemar", "clustered"] | None = field(default=None, compare=False)
    """One repeat: McNemar's mid-p test, Newcombe's interval. More: the same over tasks, with each
    task's sign flipped for p and as many pairs as its trials are worth for the interval."""
    lost: int = field(default=0, compare=False)
    """Pairs solved on the other side only."""
    won: int = field(default=0, compare=False)
    """Pairs solved on this side only."""
    tasks: int = field(default=0, compare=False)
    """Tasks that the pairs belong to."""

    @property
    def significant(self) -> bool:
        """Whether it is more than chance at 5 %, adjusted where it is adjusted at all."""
        p = self.p if self.p_holm is None else self.p_holm
        return p is not None and p < ALPHA


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """What differs where nothing was varied: A/A."""

    delta: Delta
    flips: int
    """Pairs of which one side was solved and the other not."""
    pairs: int
    source: Literal["control", "repeats"]
    """A control condition against ``clean``, else each repeat of ``clean`` against the one before.
    """


@dataclass(frozen=True, slots=True)
class Power:
    """What a run of this size can see."""

    n: int
    """Tasks with a score under ``clean``; repeats of one are not counted as more."""
    smallest_detectable_drop: float | None
    """The smallest fall of the success rate seen with 80 % probability, 0 to 1; None where not
    even losing every solved task would be."""
    alpha: float
    """Two-sided level of McNemar's mid-p test: 0.05 over the number of conditions."""
    flips: float
    """Share of pairs that flip by chance alone."""
    assumed: bool
    """Whether ``flips`` is assumed, since the run has no noise floor."""
    needed: tuple[int, int] | None = None
    """Tasks that it takes to see a fall of 20 points with 80 % probability: at least, where repeats
    tell as much as tasks and few pairs flip, and at most. None for more than 20,000."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two agents under one condition."""

    condition: str
    figure: Literal["success", "recovery"]
    agents: tuple[str, str]
    rates: tuple[Rate, Rate]
    p_fisher: float | None
    """Fisher's exact test, two-sided, not adjusted; None where a task has several trials, which
    are not independent."""
    relative_change: float | None
    """The second's rate over the first's, minus 1; None where the first is 0."""
    paired: Delta | None
    """The second minus the first over shared tasks and repeats: the better test wherever both ran
    the same tasks."""


@dataclass(frozen=True, slots=True)
class DefenceEffect:
    """What a defence changes under the same faults."""

    agent: str
    condition: str
    """With the defence."""
    against: str
    """The same scenario at the same dose without it."""
    defence: str
    delta: Delta
    """Success with it minus without it; adjusted over the agent's defences."""


type ScoredPairs = Mapping[PairKey, bool]
"""Trials with a yes or no."""


def delta(of: ScoredPairs, against: ScoredPairs) -> Delta | None:
    """Return the difference over the pairs on both sides; None where there are none."""
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
    """Return each task's pairs by how they came out."""
    kinds = [(True, True), (False, True), (True, False), (False, False)]
    by_task: dict[TaskId, list[tuple[bool, bool]]] = {}
    for task, this, other in sides:
        by_task.setdefault(task, []).append((this, other))
    return [
        (found.count(kinds[0]), found.count(kinds[1]), found.count(kinds[2]), found.count(kinds[3]))
        for found in by_task.values()
    ]


def holm_adjusted(deltas: Sequence[Delta | None]) -> list[Delta | None]:
    """Return the same differences with p adjusted for being several, in their order."""
    ps = holm([d.p for d in deltas if d is not None and d.p is not None])
    rest = iter(ps)
    return [
        replace(d, p_holm=next(rest)) if d is not None and d.p is not None else d for d in deltas
    ]


def retained_share(of: ScoredPairs, against: ScoredPairs) -> Mean | None:
    """Return R_fault, the share of the other side's success rate that this side keeps, over pairs.

    None where the other side solved nothing.
    """
    sides = _sides(of, against)
    there = sum(other for _, _, other in sides)
    if not there:
        return None
    return Mean(
        sum(this for _, this, _ in sides) / there,
        retained_share_interval(_cells(sides)),
        len(sides),
    )


def noise_floor(clean: ScoredPairs, control: ScoredPairs) -> NoiseFloor | None:
    """Return what differs between equals; None where nothing was run twice."""
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
    """Return what can be seen against ``clean`` with so many conditions; None without a score."""
    if not clean:
        return None
    n = len({pair[:2] for pair in clean})
    # One more flip and one more that stayed: of few pairs without a flip, flips are not ruled out.
    flips = (floor.flips + 1) / (floor.pairs + 2) if floor else ASSUMED_FLIPS
    alpha = ALPHA / max(1, conditions)
    drop = smallest_drop(n, sum(clean.values()) / len(clean), flips, alpha)
    between = wilson(floor.flips, floor.pairs) if floor else _ASSUMED_RANGE
    needed = tasks_needed(STATED_DROP, between, len(clean) / n, alpha)
    return Power(n, drop, alpha, flips, assumed=floor is None, needed=needed)


def required_tasks(delta: Delta, alpha: float) -> tuple[int, int] | None:
    """Return the tasks it takes to see a fall of 20 points with as many repeats; see ``Power``."""
    return tasks_needed(STATED_DROP, _ASSUMED_RANGE, delta.pairs / delta.tasks, alpha)


def describe_required_tasks(needed: tuple[int, int] | None) -> str:
    """Say how many tasks a stated fall takes."""
    drop = f"a drop of {100 * STATED_DROP:.0f} points takes"
    if needed is None:
        return f"{drop} more tasks than can be run"
    fewest, most = needed
    return f"{drop} {f'{fewest:,} to ' if fewest < most else ''}{count_noun(most, 'task')}"


def contrasts(
    condition: str,
    figure: Literal["success", "recovery"],
    by_agent: Mapping[str, ScoredPairs],
) -> list[Contrast]:
    """Compare each two agents that have a rate at all."""
    return [
        _contrast(condition, figure, (first, second), by_agent)
        for first, second in combinations(by_agent, 2)
        if by_agent[first] and by_agent[second]
    ]


def _contrast(
    condition: str,
    figure: Literal["success", "recovery"],
    agents: tuple[str, str],
    by_agent: Mapping[str, ScoredPairs],
) -> Contrast:
    one, other = (by_agent[agent] for agent in agents)
    rates = rate_of(one), rate_of(other)
    independent = all(len({pair[:2] for pair in side}) == len(side) for side in (one, other))
    base, value = rates[0].value, rates[1].value
    return Contrast(
        condition=condition,
        figure=figure,
        agents=agents,
        rates=rates,
        p_fisher=fisher((rates[0].hits, rates[0].n), (rates[1].hits, rates[1].n))
        if independent
        else None,
        relative_change=value / base - 1 if base and value is not None else None,
        paired=delta(other, one),
    )


def rate_of(scored: ScoredPairs) -> Rate:
    """Return the rate over trials, their tasks minded."""
    hits: list[tuple[Hashable, bool]] = [(pair[:2], hit) for pair, hit in scored.items()]
    return clustered_rate(hits)
