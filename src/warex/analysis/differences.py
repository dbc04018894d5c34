"""Differences between two sides of a run, each with what says whether it is more than chance."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from statistics import fmean
from typing import Literal

from warex.analysis.bootstrap import Resampled, Task, flip_p
from warex.analysis.intervals import Mean, Rate, rate_over
from warex.analysis.statistics import (
    LEVEL,
    fisher,
    holm,
    mcnemar_exact,
    paired_interval,
    smallest_drop,
)
from warex.analysis.trial import TrialRecord

ASSUMED_FLIPS = 0.1
"""Share of pairs that flip by chance alone, where the run does not say."""

type Pair = tuple[str, str, int]
"""Benchmark, task and repeat: what conditions have in common."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A difference of success rates over trials that exist on both sides."""

    value: float
    """From -1 to 1."""
    pairs: int
    interval: tuple[float, float] | None = field(default=None, compare=False)
    """95 %; None where several repeats of a single task leave nothing to judge by."""
    p: float | None = field(default=None, compare=False)
    """Two-sided: how often chance alone gives as much. None as for ``interval``."""
    p_holm: float | None = field(default=None, compare=False)
    """``p`` adjusted for being one of several (Holm 1979): all conditions of an agent against
    ``clean``, all its defences, all that a comparison of two agents rests on. None elsewhere."""
    method: Literal["mcnemar", "cluster-bootstrap"] | None = field(default=None, compare=False)
    """One repeat: exact McNemar test, Newcombe's interval. More: bootstrap clustered on task, with
    the task's sign flipped for p and the task drawn anew for the interval."""
    lost: int = field(default=0, compare=False)
    """Pairs solved on the other side only."""
    won: int = field(default=0, compare=False)
    """Pairs solved on this side only."""

    @property
    def significant(self) -> bool:
        """Whether it is more than chance at 5 %, adjusted where it is adjusted at all."""
        p = self.p if self.p_holm is None else self.p_holm
        return p is not None and p < LEVEL


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """What differs where nothing was varied: A/A. No smaller Δ means anything."""

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
    drop: float | None
    """The smallest fall of the success rate seen with 80 % probability, 0 to 1; None where not
    even losing every solved task would be."""
    alpha: float
    """Two-sided level of the exact McNemar test: 0.05 over the number of conditions."""
    flips: float
    """Share of pairs that flip by chance alone."""
    assumed: bool
    """Whether ``flips`` is assumed, since the run has no noise floor."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two agents under one condition."""

    condition: str
    figure: Literal["success", "recovery"]
    agents: tuple[str, str]
    rates: tuple[Rate, Rate]
    p: float | None
    """Fisher's exact test, two-sided, not adjusted; None where a task has several trials, which
    are not independent."""
    relative: float | None
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


type Scored = Mapping[Pair, bool]
"""Trials with a yes or no."""


def pair_of(trial: TrialRecord) -> Pair:
    """Return what a trial has in common with those of other conditions and agents."""
    return trial.key.benchmark, trial.key.task, trial.key.repeat


def task_of(trial: TrialRecord) -> Task:
    """Return a trial's task: what trials are resampled by."""
    return trial.key.benchmark, trial.key.task


def solved(trials: Iterable[TrialRecord]) -> dict[Pair, bool]:
    """Return which trials were solved; those without a score are missing."""
    return {pair_of(t): t.solved for t in trials if t.solved is not None}


def delta(of: Scored, against: Scored, tasks: Resampled) -> Delta | None:
    """Return the difference over the pairs on both sides; None where there are none."""
    return compared([(p[:2], of[p], against[p]) for p in sorted(of.keys() & against.keys())], tasks)


def compared(sides: Sequence[tuple[Task, bool, bool]], tasks: Resampled) -> Delta | None:
    """Return the difference over pairs, each (task, this side, the other); None for no pairs."""
    if not sides:
        return None
    lost = sum(other and not this for _, this, other in sides)
    won = sum(this and not other for _, this, other in sides)
    both = sum(this and other for _, this, other in sides)
    bare = Delta((won - lost) / len(sides), len(sides), lost=lost, won=won)
    by_task: dict[Task, list[int]] = {}
    for task, this, other in sides:
        by_task.setdefault(task, []).append(this - other)
    if len(by_task) == len(sides):
        return replace(
            bare,
            interval=paired_interval(both, lost, won, len(sides) - both - lost - won),
            p=mcnemar_exact(lost, won),
            method="mcnemar",
        )
    if len(by_task) < 2:
        return bare
    return replace(
        bare,
        interval=tasks.difference([(task, this - other) for task, this, other in sides]),
        p=flip_p([sum(found) for found in by_task.values()], tasks.seed),
        method="cluster-bootstrap",
    )


def adjusted(deltas: Sequence[Delta | None]) -> list[Delta | None]:
    """Return the same differences with p adjusted for being several, in their order."""
    ps = holm([d.p for d in deltas if d is not None and d.p is not None])
    rest = iter(ps)
    return [
        replace(d, p_holm=next(rest)) if d is not None and d.p is not None else d for d in deltas
    ]


def kept_share(of: Scored, against: Scored, tasks: Resampled) -> Mean | None:
    """Return R_fault, the share of the other side's success rate that this side keeps, over pairs.

    None where the other side solved nothing.
    """
    shared = sorted(of.keys() & against.keys())
    there = sum(against[pair] for pair in shared)
    if not there:
        return None
    here = [(pair[:2], float(of[pair])) for pair in shared]
    base = [(pair[:2], float(against[pair])) for pair in shared]
    value = sum(of[pair] for pair in shared) / there
    return Mean(value, tasks.share(here, base), len(shared))


def paired_seconds(
    of: Iterable[TrialRecord], against: Iterable[TrialRecord], tasks: Resampled
) -> Mean | None:
    """Return by how much longer trials took than their pairs, in seconds of client latency."""
    base = {pair_of(trial): trial.latency_s for trial in against}
    longer = [
        (task_of(trial), trial.latency_s - other)
        for trial in of
        if trial.latency_s is not None and (other := base.get(pair_of(trial))) is not None
    ]
    if not longer:
        return None
    return Mean(fmean(seconds for _, seconds in longer), tasks.mean(longer), len(longer))


def noise_floor(clean: Scored, control: Scored, tasks: Resampled) -> NoiseFloor | None:
    """Return what differs between equals; None where nothing was run twice."""
    source: Literal["control", "repeats"] = "control"
    sides = [(p[:2], control[p], clean[p]) for p in sorted(control.keys() & clean.keys())]
    if not sides:
        source = "repeats"
        sides = [
            (later[:2], clean[later], clean[earlier])
            for earlier, later in pairwise(sorted(clean))
            if earlier[:2] == later[:2]
        ]
    found = compared(sides, tasks)
    return NoiseFloor(found, found.lost + found.won, found.pairs, source) if found else None


def power_of(clean: Scored, floor: NoiseFloor | None, conditions: int) -> Power | None:
    """Return what can be seen against ``clean`` with so many conditions; None without a score."""
    if not clean:
        return None
    n = len({pair[:2] for pair in clean})
    # One more flip and one more that stayed: of few pairs without a flip, flips are not ruled out.
    flips = (floor.flips + 1) / (floor.pairs + 2) if floor else ASSUMED_FLIPS
    alpha = LEVEL / max(1, conditions)
    drop = smallest_drop(n, sum(clean.values()) / len(clean), flips, alpha)
    return Power(n, drop, alpha, flips, assumed=floor is None)


def contrasts(
    condition: str,
    figure: Literal["success", "recovery"],
    by_agent: Mapping[str, Scored],
    tasks: Resampled,
) -> list[Contrast]:
    """Compare each two agents that have a rate at all."""
    return [
        _contrast(condition, figure, (first, second), by_agent, tasks)
        for first, second in combinations(by_agent, 2)
        if by_agent[first] and by_agent[second]
    ]


def _contrast(
    condition: str,
    figure: Literal["success", "recovery"],
    agents: tuple[str, str],
    by_agent: Mapping[str, Scored],
    tasks: Resampled,
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
        p=fisher((rates[0].hits, rates[0].n), (rates[1].hits, rates[1].n)) if independent else None,
        relative=value / base - 1 if base and value is not None else None,
        paired=delta(other, one, tasks),
    )


def rate_of(scored: Scored) -> Rate:
    """Return the rate over trials, their tasks minded."""
    hits: list[tuple[Hashable, bool]] = [(pair[:2], hit) for pair, hit in scored.items()]
    return rate_over(hits)
