"""Differences between two sides of a run, each with what says whether it is more than chance."""

from dataclasses import dataclass, field
from typing import Literal

from warex.analysis.intervals import Rate


@dataclass(frozen=True, slots=True)
class Delta:
    """A difference of success rates over trials that exist on both sides."""

    value: float
    """From -1 to 1."""
    pairs: int
    interval: tuple[float, float] | None = field(default=None, compare=False)
    """95 %; None where fewer than two tasks leave nothing to judge by."""
    p: float | None = field(default=None, compare=False)
    """Two-sided: how often chance alone gives as much. None as for ``interval``."""
    p_holm: float | None = field(default=None, compare=False)
    """``p`` adjusted for all conditions of the agent (Holm 1979); None where the comparison is
    none of a condition with ``clean``."""
    method: Literal["mcnemar", "cluster-bootstrap"] | None = field(default=None, compare=False)
    """One repeat: exact McNemar test, Newcombe's interval. More: bootstrap clustered on task."""

    @property
    def significant(self) -> bool:
        """Whether it is more than chance at 5 %, adjusted where it is adjusted at all."""
        p = self.p if self.p_holm is None else self.p_holm
        return p is not None and p < 0.05


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """What differs where nothing was varied: A/A. No smaller Δ means anything."""

    delta: Delta
    flips: int
    """Pairs of which one side was solved and the other not."""
    pairs: int
    source: Literal["control", "repeats"]
    """A control condition against ``clean``, else each repeat of ``clean`` against the next."""


@dataclass(frozen=True, slots=True)
class Power:
    """What a run of this size can see."""

    n: int
    """Tasks that stand on both sides."""
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
    """Success of the second minus the first's over shared tasks and repeats; the better test
    wherever both ran the same tasks."""
