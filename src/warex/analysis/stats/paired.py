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
    difference_p,
    effective_counts,
    paired_difference_interval,
    retained_share_interval,
    within_tasks_p,
)
from warex.analysis.stats.estimates import INTERNAL, Mean, Rate, clustered_rate
from warex.analysis.stats.exact_difference import MOST_PAIRS, exact_difference_p
from warex.analysis.stats.proportions import (
    ALPHA,
    fisher,
    holm,
    smallest_drop,
    tasks_needed,
)
from warex.text.english import count_noun

ASSUMED_FLIPS = 0.1
"""Share of pairs that flip by chance alone, if the run has no noise floor."""
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
    """``p`` adjusted for several tests (Holm 1979): all of the run's table, or of a comparison of
    two agents. None elsewhere."""
    method: Literal["mcnemar", "clustered"] | None = field(default=None, compare=False)
    """``mcnemar``: McNemar's mid-p test and Newcombe's interval, for one repeat. ``clustered``: a
    sign-flip test, and Newcombe's interval over the effective number of pairs, for several."""
    lost: int = field(default=0, compare=False)
    """Pairs solved on the other side only."""
    won: int = field(default=0, compare=False)
    """Pairs solved on this side only."""
    tasks: int = field(default=0, compare=False)
    """Number of tasks of the pairs."""
    p_these: float | None = field(default=None, compare=False)
    """Two-sided mid-p of another question: whether these very tasks changed. Trials are exchanged
    within tasks (see ``within_tasks_p``); ``p`` is about tasks like these. With one repeat they are
    equal."""
    p_these_holm: float | None = field(default=None, compare=False)
    """``p_these``, adjusted as ``p_holm``."""
    cells: PairCounts | None = field(default=None, compare=False, metadata=INTERNAL)
    """The effective number of pairs, by kind; None as for ``interval``."""

    @property
    def significant(self) -> bool:
        """Whether success on tasks like these changed: the adjusted p is below 5 %."""
        return self.adjusted_p is not None and self.adjusted_p < ALPHA

    @property
    def significant_these(self) -> bool:
        """Whether success on these very tasks changed: its adjusted p is below 5 %."""
        return self.adjusted_p_these is not None and self.adjusted_p_these < ALPHA

    @property
    def adjusted_p_these(self) -> float | None:
        """``p_these_holm``, or ``p_these`` if that is None."""
        return self.p_these if self.p_these_holm is None else self.p_these_holm

    def bound_p(self, bound: float, *, at_least: bool) -> float | None:
        """Return the one-sided p of the hypothesis that the true difference is at least (most) it.

        The greater of ``difference_p`` and, with one pair a task, ``exact_difference_p``. A bound
        that no change reaches is not missed unless ``p`` rejects no change. None without an
        interval.
        """
        if self.cells is None or self.p is None:
            return None
        cells, value = self.cells, self.value
        if not at_least:
            both, lost, won, neither = cells
            cells, value, bound = (both, won, lost, neither), -value, -bound
        p = difference_p(cells, bound)
        if self.pairs == self.tasks <= MOST_PAIRS:
            _, lost, won, _ = cells
            p = max(p, exact_difference_p(round(lost), round(won), self.pairs, bound))
        return max(p, self.p / 2) if value < bound <= 0 else p

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
    flips_interval: tuple[float, float] = (0.0, 1.0)
    """95 %, of the share of flips, over tasks."""


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
    on flips and on what repeats contribute. None without a control, and for more than 20,000."""


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
    p_holm: float | None = None
    """The p of ``paired``, or else of Fisher's test, adjusted over all contrasts of the run."""

    @property
    def p(self) -> float | None:
        """The p that is adjusted."""
        return self.p_fisher if self.paired is None or self.paired.p is None else self.paired.p


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
    """Success with the defence minus without, adjusted over all defences of the run."""


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
    by_task = [
        (round(both + lost + won + neither), round(both + won), round(both + lost))
        for both, lost, won, neither in tasks
    ]
    bare = Delta(
        (won - lost) / len(sides),
        len(sides),
        lost=lost,
        won=won,
        tasks=len(tasks),
        p_these=within_tasks_p(by_task) if len(sides) > 1 else None,
        cells=effective_counts(tasks),
    )
    result = paired_difference_interval(tasks)
    if result is None:
        return bare
    interval, p = result
    method: Literal["mcnemar", "clustered"] = "mcnemar" if len(tasks) == len(sides) else "clustered"
    return replace(bare, interval=interval, p=p, method=method)


def _cells(sides: Iterable[tuple[TaskId, bool, bool]]) -> list[PairCounts]:
    """Return the pair counts of each task."""
    tasks: dict[TaskId, Counter[tuple[bool, bool]]] = defaultdict(Counter)
    for task, this, other in sides:
        tasks[task][this, other] += 1
    return [
        (counts[True, True], counts[False, True], counts[True, False], counts[False, False])
        for counts in tasks.values()
    ]


def holm_adjusted(deltas: Sequence[Delta | None]) -> list[Delta | None]:
    """Return the same differences with p adjusted for several tests, in order."""
    like = iter(holm([d.p for d in deltas if d and d.p is not None]))
    these = iter(holm([d.p_these for d in deltas if d and d.p_these is not None]))
    return [
        d
        and replace(
            d,
            p_holm=None if d.p is None else next(like),
            p_these_holm=None if d.p_these is None else next(these),
        )
        for d in deltas
    ]


def retained_share(of: ScoredPairs, against: ScoredPairs) -> Mean | None:
    """Return R_fault, the share of the other side's success rate that this side keeps, over pairs.

    None if the other side solved nothing.
    """
    sides = _sides(of, against)
    total = sum(other for _, _, other in sides)
    if not total:
        return None
    share = sum(this for _, this, _ in sides) / total
    cells = _cells(sides)
    return Mean(share, retained_share_interval(cells), len(sides), len(cells))


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
    difference = paired_difference(sides)
    if difference is None:
        return None
    flips = clustered_rate((task, this != other) for task, this, other in sides)
    return NoiseFloor(difference, flips.hits, flips.n, source, flips.interval)


def detectable_drop(clean: ScoredPairs, floor: NoiseFloor | None, conditions: int) -> Power | None:
    """Return the power against ``clean`` with so many conditions; None without a score."""
    if not clean:
        return None
    n = len({pair[:2] for pair in clean})
    # Adds one flip and one pair without (Laplace), so that few pairs do not give a share of 0.
    flips = (floor.flips + 1) / (floor.pairs + 2) if floor else ASSUMED_FLIPS
    alpha = ALPHA / max(1, conditions)
    drop = smallest_drop(n, sum(clean.values()) / len(clean), flips, alpha)
    needed = None
    if floor is not None and floor.source == "control":
        needed = tasks_needed(STATED_DROP, floor.flips_interval, len(clean) / n, alpha)
    return Power(n, drop, alpha, flips, assumed=floor is None, needed=needed)


def describe_required_tasks(needed: tuple[int, int]) -> str:
    """Say how many tasks are required to detect ``STATED_DROP``."""
    fewest, most = needed
    return (
        f"a drop of {100 * STATED_DROP:.0f} points takes"
        f" {f'{fewest:,} to ' if fewest < most else ''}{count_noun(most, 'task')}"
    )


def describe_p(p: float) -> str:
    """Write a p-value: ``p = 0.012``, ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def contrasts(
    condition: str, figure: Literal["success", "recovery"], by_agent: Mapping[str, ScoredPairs]
) -> list[Contrast]:
    """Compare each pair of agents that have a rate."""
    contrasts = []
    for agents in combinations((agent for agent, scored in by_agent.items() if scored), 2):
        one, other = (by_agent[agent] for agent in agents)
        first, second = rate_of(one), rate_of(other)
        independent = all(len({pair[:2] for pair in side}) == len(side) for side in (one, other))
        p = fisher((first.hits, first.n), (second.hits, second.n)) if independent else None
        base, value = first.value, second.value
        change = value / base - 1 if base and value is not None else None
        rates, paired = (first, second), delta(other, one)
        contrasts.append(Contrast(condition, figure, agents, rates, p, change, paired))
    return contrasts


def adjusted_contrasts(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """Return the same contrasts with their p adjusted for their number, in order."""
    rest = iter(holm([one.p for one in contrasts if one.p is not None]))
    return [one if one.p is None else _adjusted(one, next(rest)) for one in contrasts]


def _adjusted(one: Contrast, p_holm: float) -> Contrast:
    paired = one.paired
    if paired is not None and paired.p is not None:
        paired = replace(paired, p_holm=p_holm)
    return replace(one, paired=paired, p_holm=p_holm)


def rate_of(scored: ScoredPairs) -> Rate:
    """Return the rate over trials, clustered by task."""
    return clustered_rate((pair[:2], hit) for pair, hit in scored.items())
