"""Dose and response: the same fault at rising intensity or frequency."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from warex.analysis.stats.clustered import TaskId, trend
from warex.analysis.stats.estimates import Rate
from warex.analysis.stats.paired import Delta, ScoredPairs
from warex.analysis.stats.proportions import holm

type DoseAxis = Literal["intensity", "frequency", "first"]


@dataclass(frozen=True, slots=True)
class Dose:
    """The dose of a condition on an axis."""

    axis: DoseAxis
    value: float
    of: str
    """What is dosed: the scenario, with the defence and the other axis if they are set."""


@dataclass(frozen=True, slots=True)
class DosePoint:
    """The result of one dose."""

    value: float
    condition: str
    success: Rate
    delta: Delta | None


@dataclass(frozen=True, slots=True)
class DoseSeries:
    """One agent under at least two doses of the same fault."""

    agent: str
    axis: DoseAxis
    of: str
    points: tuple[DosePoint, ...]
    """By rising dose. ``clean`` is not a point; Δ is relative to it."""
    slope: float | None
    """Change of the success rate per doubling of the dose (least squares within tasks)."""
    slope_p: float | None
    """Of the trend, two-sided, by a sign-flip test over the tasks' slopes."""
    slope_p_holm: float | None = None
    """``slope_p``, adjusted over all series of the run (Holm 1979)."""


def dose_series(
    agent: str, doses: Iterable[tuple[Dose, DosePoint]], scored: Mapping[str, ScoredPairs]
) -> list[DoseSeries]:
    """Return each axis on which an agent met at least two doses.

    ``doses`` are its conditions' doses; ``scored`` its trials by condition.
    """
    points_of: dict[tuple[DoseAxis, str], list[DosePoint]] = defaultdict(list)
    for dose, point in doses:
        points_of[dose.axis, dose.of].append(point)
    series = []
    for (axis, of), points in points_of.items():
        if len({point.value for point in points}) < 2:
            continue
        points.sort(key=lambda point: (point.value, point.condition))
        tasks: dict[TaskId, list[tuple[float, bool]]] = defaultdict(list)
        for point in points:
            for pair, hit in scored.get(point.condition, {}).items():
                tasks[pair[:2]].append((point.value, hit))
        slope, p = trend(list(tasks.values())) or (None, None)
        series.append(DoseSeries(agent, axis, of, tuple(points), slope, p))
    return series


def adjusted_series(series: Sequence[DoseSeries]) -> list[DoseSeries]:
    """Return the same series with their p adjusted for their number, in order."""
    rest = iter(holm([one.slope_p for one in series if one.slope_p is not None]))
    return [one if one.slope_p is None else replace(one, slope_p_holm=next(rest)) for one in series]
