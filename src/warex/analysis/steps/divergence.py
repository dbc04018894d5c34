"""Where two trials part, where they come together again, and which fault came before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from warex.analysis.steps.path import PathFault, PathStep, TrialPath

type Place = Literal["before_faults", "at_fault", "after_fault"]
"""Where trials part: before any fault was delivered; in the step that a fault hit or the one
after; or later."""

_LONG_ENOUGH = 2
"""Equal steps in a row after which trials are together again, or all that are left."""
_MOST_STEPS = 600
"""Steps of each trial after the first divergence that are aligned."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Steps in which the trials differ: indices of the first, and of the one after the last."""

    first: tuple[int, int]
    end: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Divergence:
    """How two trials part."""

    paths: tuple[TrialPath, TrialPath]
    pairs: tuple[tuple[int, int], ...]
    """Indices of the steps that are aligned as equal, in order."""
    stretches: tuple[Stretch, ...]
    """Where they differ, in order; empty if both did the same."""

    @property
    def equal(self) -> int:
        """The number of equal steps before the first divergence."""
        return self.stretches[0].first[0] if self.stretches else len(self.pairs)

    @property
    def first(self) -> tuple[PathStep | None, PathStep | None] | None:
        """The first steps that differ; None in place of a step if that trial had ended."""
        return self._steps(self.stretches[0].first) if self.stretches else None

    @property
    def sustained(self) -> tuple[PathStep | None, PathStep | None] | None:
        """The first steps after which they do not come together again; None if they do."""
        if not self.stretches or self._rejoins(self.stretches[-1]):
            return None
        return self._steps(self.stretches[-1].first)

    @property
    def rejoined(self) -> tuple[PathStep, PathStep] | None:
        """The first steps in which both are together again after the first divergence."""
        if not self.stretches or not self._rejoins(self.stretches[0]):
            return None
        one, other = self.stretches[0].end
        return self.paths[0].steps[one], self.paths[1].steps[other]

    @property
    def faults(self) -> tuple[PathFault | None, PathFault | None]:
        """The last fault that each trial met before the first divergence."""
        one, other = self.paths
        return _last_fault(one, self.equal), _last_fault(other, self.equal)

    @property
    def place(self) -> Place | None:
        """Where they part, as seen from the faults; None if they do not."""
        return place_of(*self.paths, self.equal)

    def _steps(self, at: tuple[int, int]) -> tuple[PathStep | None, PathStep | None]:
        one, other = (
            path.steps[index] if index < len(path.steps) else None
            for path, index in zip(self.paths, at, strict=True)
        )
        return one, other

    def _rejoins(self, stretch: Stretch) -> bool:
        return all(end < len(path.steps) for end, path in zip(stretch.end, self.paths, strict=True))


def place_of(one: TrialPath, other: TrialPath, equal: int) -> Place | None:
    """Return where two trials diverge after a number of equal steps; None if they do not."""
    if equal == len(one.steps) == len(other.steps):
        return None
    places = {_place(path, equal) for path in (one, other)}
    order: tuple[Place, ...] = ("at_fault", "after_fault", "before_faults")
    return next(place for place in order if place in places)


def _place(path: TrialPath, equal: int) -> Place:
    fault = _last_fault(path, equal)
    if fault is None:
        return "before_faults"
    previous = path.steps[equal - 1].t if equal else float("-inf")
    return "at_fault" if fault.t >= previous else "after_fault"


def _last_fault(path: TrialPath, equal: int) -> PathFault | None:
    """Return the last fault that was planned before the step after the equal ones."""
    until = path.steps[equal].t if equal < len(path.steps) else float("inf")
    before = [fault for fault in path.faults if fault.t <= until]
    return before[-1] if before else None


def diverge(one: TrialPath, other: TrialPath) -> Divergence:
    """Align the steps of two trials, and return where they differ.

    After the first divergence, the longest common subsequence is taken. A stretch ends where at
    least two steps in a row are equal, or all that are left.
    """
    equal = equal_steps(one, other)
    rest = one.steps[equal:][:_MOST_STEPS], other.steps[equal:][:_MOST_STEPS]
    aligned = [(equal + i, equal + j) for i, j in _common_subsequence(*rest)]
    lengths = len(one.steps), len(other.steps)
    runs = [run for run in _runs(aligned) if len(run) >= _LONG_ENOUGH or _ends(run, lengths)]
    prefix = [(index, index) for index in range(equal)]
    return Divergence(
        (one, other),
        (*prefix, *(pair for run in runs for pair in run)),
        tuple(_stretches((equal, equal), runs, lengths)),
    )


def equal_steps(one: TrialPath, other: TrialPath) -> int:
    """Return the number of equal steps at the beginning of two trials."""
    equal = 0
    for mine, theirs in zip(one.steps, other.steps, strict=False):
        if not mine.does_the_same_as(theirs):
            break
        equal += 1
    return equal


def _common_subsequence(
    one: Sequence[PathStep], other: Sequence[PathStep]
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of a longest common subsequence; of several, the earliest in the first."""
    same = [[a.does_the_same_as(b) for b in other] for a in one]
    longest = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in reversed(range(len(one))):
        for j in reversed(range(len(other))):
            longest[i][j] = (
                longest[i + 1][j + 1] + 1
                if same[i][j]
                else max(longest[i + 1][j], longest[i][j + 1])
            )
    i = j = 0
    while i < len(one) and j < len(other):
        if same[i][j]:
            yield i, j
            i, j = i + 1, j + 1
        elif longest[i][j + 1] >= longest[i + 1][j]:
            j += 1
        else:
            i += 1


def _runs(pairs: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Group pairs that follow each other in both trials."""
    runs: list[list[tuple[int, int]]] = []
    for i, j in pairs:
        if runs and runs[-1][-1] == (i - 1, j - 1):
            runs[-1].append((i, j))
        else:
            runs.append([(i, j)])
    return runs


def _ends(run: Sequence[tuple[int, int]], lengths: tuple[int, int]) -> bool:
    return run[-1] == (lengths[0] - 1, lengths[1] - 1)


def _stretches(
    begin: tuple[int, int], runs: Sequence[Sequence[tuple[int, int]]], lengths: tuple[int, int]
) -> Iterator[Stretch]:
    for run in runs:
        yield Stretch(begin, run[0])
        begin = run[-1][0] + 1, run[-1][1] + 1
    if begin != lengths:
        yield Stretch(begin, lengths)
