"""Which episodes of a group are faulted, how large their faults are, and their advantages.

All of it is pure. After NoisyAgent (arXiv 2605.27209): a share of a group's episodes is perturbed,
each part has a baseline of its own, and the intensity rises as the gap between them closes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Final, Self

from warex.errors import InputError

if TYPE_CHECKING:
    from warex.api import AnyScenario

_MOST_INTENSITY: Final = 100.0
"""As an episode of the control API allows."""


@dataclass(frozen=True, slots=True)
class EpisodePlan:
    """What one episode meets."""

    is_faulted: bool
    intensity: float = 1.0
    """Times the size of the scenario's faults."""
    scenario: "AnyScenario | None" = None
    """Of a faulted episode; None: the session factory's."""


@dataclass(frozen=True, slots=True)
class ScoredEpisode:
    """An episode's plan and its reward."""

    plan: EpisodePlan
    reward: float | None
    """None if it could not be scored."""


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Plans the episodes of each group; a new one results from each reward.

    Raises InputError if a value is out of range.
    """

    share: float = 0.5
    """Of a group's episodes that are faulted, 0 to 1."""
    intensity: float = 1.0
    """Of the faulted episodes now."""
    factor: float = 1.5
    """By which the intensity rises."""
    most: float = 4.0
    """The largest intensity."""
    gap: float = 0.1
    """The mean reward under clean less that under faults at which the intensity rises."""
    window: int = 32
    """Last rewards of each part that are compared."""
    clean: tuple[float, ...] = ()
    """The last rewards under clean."""
    faulted: tuple[float, ...] = ()
    """The last rewards at this intensity."""

    def __post_init__(self) -> None:
        ranges = (
            ("share", self.share, 0.0, 1.0),
            ("intensity", self.intensity, 0.001, _MOST_INTENSITY),
            ("factor", self.factor, 1.0, _MOST_INTENSITY),
            ("most", self.most, self.intensity, _MOST_INTENSITY),
            ("window", self.window, 1, 100_000),
        )
        for name, value, least, most in ranges:
            if not least <= value <= most:
                raise InputError(f"Curriculum({name}={value!r}): it is {least:g} to {most:g}")
        if not math.isfinite(self.gap):
            raise InputError(f"Curriculum(gap={self.gap!r}): it is a finite number")

    def plan(self, place: int) -> EpisodePlan:
        """Return the plan of a group's episode, from 0; the faulted ones are spread evenly."""
        is_faulted = math.floor((place + 1) * self.share) > math.floor(place * self.share)
        return EpisodePlan(is_faulted, self.intensity if is_faulted else 1.0)

    @property
    def measured_gap(self) -> float | None:
        """The mean reward under clean less that under faults; None until both windows are full."""
        if min(len(self.clean), len(self.faulted)) < self.window:
            return None
        return fmean(self.clean) - fmean(self.faulted)

    def observed(self, episode: ScoredEpisode) -> Self:
        """Return the curriculum after an episode; one that could not be scored changes nothing."""
        reward = episode.reward
        if reward is None or not math.isfinite(reward):
            return self
        if not episode.plan.is_faulted:
            return replace(self, clean=(*self.clean, reward)[-self.window :])._risen()
        if episode.plan.intensity != self.intensity:
            return self  # It began before the last rise.
        return replace(self, faulted=(*self.faulted, reward)[-self.window :])._risen()

    def _risen(self) -> Self:
        gap = self.measured_gap
        if gap is None or gap > self.gap or self.intensity >= self.most:
            return self
        return replace(self, intensity=min(self.intensity * self.factor, self.most), faulted=())


def advantages(group: Sequence[ScoredEpisode], *, normalised: bool = True) -> list[float | None]:
    """Return the advantage of each episode of a group: its reward less the mean of its part.

    ``normalised``: divided by the part's standard deviation; where all rewards are equal it is 0.
    The clean and the faulted episodes have baselines of their own.
    None for an episode that could not be scored, which is in no baseline.
    """
    baselines: dict[bool, tuple[float, float]] = {}
    for is_faulted in (False, True):
        rewards = [
            it.reward for it in group if it.plan.is_faulted is is_faulted and it.reward is not None
        ]
        if rewards:
            baselines[is_faulted] = fmean(rewards), pstdev(rewards) if normalised else 1.0
    result: list[float | None] = []
    for episode in group:
        if episode.reward is None:
            result.append(None)
            continue
        mean, deviation = baselines[episode.plan.is_faulted]
        result.append((episode.reward - mean) / deviation if deviation else 0.0)
    return result
