"""Dose and response: the same fault, harder or more often."""

from dataclasses import dataclass
from typing import Literal

from warex.analysis.differences import Delta
from warex.analysis.intervals import Rate

type Axis = Literal["intensity", "frequency"]


@dataclass(frozen=True, slots=True)
class Dose:
    """Where a condition stands on an axis."""

    axis: Axis
    value: float
    of: str
    """What is dosed: the scenario, with the defence and the other axis where they are set."""


@dataclass(frozen=True, slots=True)
class DosePoint:
    """What came of one dose."""

    value: float
    condition: str
    success: Rate
    delta: Delta | None


@dataclass(frozen=True, slots=True)
class DoseSeries:
    """One agent under rising doses of the same; at least two of them."""

    agent: str
    axis: Axis
    of: str
    points: tuple[DosePoint, ...]
    """By rising dose. ``clean`` is no point: it is the level that Δ is taken from."""
    slope: float | None
    """Change of the success rate for each doubling of the dose (least squares)."""
    p: float | None
    """Of the trend, two-sided: Cochran-Armitage, stratified by task (Mantel 1963)."""
