"""Intervals by resampling tasks.

Trials of one task are alike, so that a task is drawn with all its trials or not at all. One set of
draws serves a whole agent: its rows are then compared over the same resampled tasks. The draws are
keyed by the campaign's seed: the same run has the same intervals for ever.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from warex.seeds import derive

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    type Floats = npt.NDArray[np.float64]

type Task = tuple[str, str]
"""Benchmark and task."""

DRAWS = 2000
"""Resamples of the tasks."""
_FLIPS = 20_000
_MOST_EXACT = 14
"""Up to so many differing tasks every way to flip them is tried."""


class Resampled:
    """So many tasks, drawn anew ``DRAWS`` times."""

    def __init__(self, tasks: Iterable[Task], seed: int) -> None:
        self.seed = seed
        self._place = {task: place for place, task in enumerate(sorted(set(tasks)))}
        self._weights: Floats | None = None

    def mean(self, figures: Sequence[tuple[Task, float]]) -> tuple[float, float] | None:
        """Return the 95 % interval of the mean of trials' figures, each with its task.

        None for fewer than two tasks.
        """
        return self.ratio(figures, [(task, 1.0) for task, _ in figures])

    def difference(self, figures: Sequence[tuple[Task, float]]) -> tuple[float, float] | None:
        """Return the 95 % interval of a mean difference of scores, each from -1 to 1.

        Where every task differs by the same, resampling shows no spread. Two tasks are then added
        of which one is won and one lost (Agresti and Min 2005). None for fewer than two tasks.
        """
        by_task = _sums(figures)
        counts = _sums([(task, 1.0) for task, _ in figures])
        means = {by_task[task] / counts[task] for task in by_task}
        if len(means) > 1 or len(by_task) < 2:
            return self.mean(figures)
        return self._padded([means.pop()] * len(by_task) + [1.0, -1.0], [1.0] * (len(by_task) + 2))

    def share(
        self, kept: Sequence[tuple[Task, float]], of: Sequence[tuple[Task, float]]
    ) -> tuple[float, float] | None:
        """Return the 95 % interval of a ratio of two numbers of successes over the same tasks.

        Where every task kept the same share, two are added of which one kept all and one nothing,
        as for ``difference``. None for fewer than two tasks, and where there is nothing to keep.
        """
        tops, bottoms = _sums(kept), _sums(of)
        if not any(bottoms.values()):
            return None
        shares = {
            tops.get(task, 0.0) / bottom if bottom else None for task, bottom in bottoms.items()
        }
        lone = any(tops.get(task) for task, bottom in bottoms.items() if not bottom)
        if lone or len(shares - {None}) > 1 or len(bottoms) < 2:
            return self.ratio(kept, of)
        return self._padded(
            [tops.get(task, 0.0) for task in sorted(bottoms)] + [1.0, 0.0],
            [bottoms[task] for task in sorted(bottoms)] + [1.0, 1.0],
        )

    def ratio(
        self, above: Sequence[tuple[Task, float]], below: Sequence[tuple[Task, float]]
    ) -> tuple[float, float] | None:
        """Return the 95 % interval of the ratio of two sums; None for fewer than two tasks."""
        tops, bottoms = _sums(above), _sums(below)
        if len(tops.keys() | bottoms.keys()) < 2:
            return None
        return _between(
            self._drawn() @ self._column(tops),
            self._drawn() @ self._column(bottoms),
            sum(tops.values()) / sum(bottoms.values()) if any(bottoms.values()) else None,
        )

    def _padded(self, tops: list[float], bottoms: list[float]) -> tuple[float, float] | None:
        import numpy as np

        weights = _draw(len(tops), derive(self.seed, "padded", len(tops)))
        real = slice(0, len(tops) - 2)
        return _between(
            weights @ np.array(tops),
            weights @ np.array(bottoms),
            sum(tops[real]) / sum(bottoms[real]),
        )

    def _drawn(self) -> "Floats":
        if self._weights is None:
            self._weights = _draw(len(self._place), derive(self.seed, "bootstrap"))
        return self._weights

    def _column(self, sums: Mapping[Task, float]) -> "Floats":
        import numpy as np

        column = np.zeros(len(self._place))
        for task, total in sums.items():
            column[self._place[task]] = total
        return column


def flip_p(differences: Sequence[float], seed: int) -> float:
    """Return the two-sided p of tasks' mean differences, were each as likely the other way round.

    The wild cluster bootstrap under the null hypothesis with Rademacher weights (Cameron, Gelbach
    and Miller 2008): unlike the resampling of few tasks it does not claim more than they can show.
    With one trial a task and side it is McNemar's exact test.
    """
    import numpy as np

    moved = np.array([d for d in differences if d], dtype=float)
    if not len(moved):
        return 1.0
    seen = abs(moved.sum()) - 1e-9
    if len(moved) <= _MOST_EXACT:
        bits = np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1
        return float(np.mean(np.abs((1 - 2 * bits) @ moved) >= seen))
    chance = np.random.Generator(np.random.PCG64(derive(seed, "flips", len(moved))))
    hits = 0
    for _ in range(10):
        signs = chance.integers(0, 2, size=(_FLIPS // 10, len(moved)), dtype=np.int8)
        hits += int(np.sum(np.abs((1 - 2 * signs.astype(float)) @ moved) >= seen))
    return (hits + 1) / (_FLIPS + 1)


def _draw(tasks: int, seed: int) -> "Floats":
    import numpy as np

    chance = np.random.Generator(np.random.PCG64(seed))
    weights = np.empty((DRAWS, tasks))
    for draw in range(DRAWS):
        weights[draw] = np.bincount(chance.integers(0, tasks, tasks), minlength=tasks)
    return weights


def _between(tops: "Floats", bottoms: "Floats", value: float | None) -> tuple[float, float] | None:
    """Return the middle 95 % of the draws that have a ratio, widened to hold the value itself."""
    import numpy as np

    known = bottoms != 0
    if value is None or not known.any():
        return None
    low, high = np.quantile(tops[known] / bottoms[known], (0.025, 0.975))
    # Sums of floats differ in their last bits from machine to machine.
    return round(min(float(low), value), 12), round(max(float(high), value), 12)


def _sums[T: Hashable](figures: Iterable[tuple[T, float]]) -> dict[T, float]:
    sums: dict[T, float] = {}
    for task, figure in figures:
        sums[task] = sums.get(task, 0.0) + figure
    return sums
