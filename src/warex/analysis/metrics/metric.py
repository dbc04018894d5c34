"""Metrics, and the columns of each kind of figure.

A metric is a descriptor of ``ConditionRow``: on a row it returns the row's figure, and on the class
the metric itself. Its key is the attribute's name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, Self, overload

from warex.analysis.metrics.regimes import Regime
from warex.analysis.metrics.sample import Needs, Sample
from warex.analysis.stats.estimates import Mean, Rate
from warex.analysis.stats.paired import Delta
from warex.analysis.stats.rates import rate_interval, rate_p
from warex.analysis.trial.record import TrialRecord

type Bare = str | int | float | None
type Unit = Literal[
    "share", "points", "ratio", "count", "s", "tokens", "tokens/s", "US dollars", "p", "text"
]
"""Determines the format of a figure."""
type Section = Literal["success", "effort", "recovery", "strategy", "regimes", "delivery"]
"""A table of the report and its exports."""
type Screen = Literal[
    "success", "recovery", "behaviour", "strategy", "effort", "streaming", "lies", "delivery"
]
"""A table of ``warex report --full``."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of each kind."""

    by: tuple[tuple[str, int], ...]

    def __bool__(self) -> bool:
        return bool(self.by)

    def __str__(self) -> str:
        return ", ".join(f"{name.replace('_', ' ')} {number}" for name, number in self.by)


@dataclass(frozen=True, slots=True)
class Names:
    """Names of models."""

    names: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.names)

    def __str__(self) -> str:
        return ", ".join(self.names)


@dataclass(frozen=True, slots=True)
class PassK:
    """pass^k, 0 to 1, for each k from 1 to the largest number of repeats."""

    by: tuple[tuple[int, float], ...]
    shares: tuple[float, ...] = ()
    """For the largest k: the share of each task's choices of k trials that are all solved."""

    @property
    def k(self) -> int:
        """The largest k."""
        return self.by[-1][0]

    @property
    def value(self) -> float:
        """pass^k for the largest k."""
        return self.by[-1][1]

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of ``value``, over tasks: Gaffke's, as of a rate."""
        return rate_interval([(share, 1) for share in self.shares])

    def bound_p(self, bound: float, *, at_least: bool) -> float:
        """Return the one-sided p of the hypothesis that pass^k is at least (most) ``bound``."""
        return rate_p([(share, 1) for share in self.shares], bound, at_least=at_least)


@dataclass(frozen=True, slots=True)
class Part:
    """One plain value of a figure, in its own column."""

    suffix: str
    """Appended to the metric's key."""
    type: type[str] | type[int] | type[float]
    read: Callable[[Any], Bare] = lambda figure: figure


_ENDS = (
    Part("_low", float, lambda figure: figure.interval[0] if figure.interval else None),
    Part("_high", float, lambda figure: figure.interval[1] if figure.interval else None),
)
_VALUE = Part("", float, lambda figure: figure.value)
_WORDS = (Part("", str, lambda figure: str(figure) or None),)

PARTS: Mapping[type, tuple[Part, ...]] = {
    Rate: (_VALUE, Part("_n", int, lambda rate: rate.n), *_ENDS),
    Mean: (
        _VALUE,
        *_ENDS,
        Part("_median", float, lambda mean: mean.median),
        Part("_median_low", float, lambda mean: mean.median_interval and mean.median_interval[0]),
        Part("_median_high", float, lambda mean: mean.median_interval and mean.median_interval[1]),
    ),
    Delta: (
        _VALUE,
        *_ENDS,
        Part("_pairs", int, lambda delta: delta.pairs),
        Part("_p", float, lambda delta: delta.p),
        Part("_method", str, lambda delta: delta.method),
        Part("_p_these", float, lambda delta: delta.p_these),
        Part("_p_these_holm", float, lambda delta: delta.p_these_holm),
    ),
    PassK: (_VALUE, Part("_k", int, lambda result: result.k), *_ENDS),
    Regime: (
        Part("", str, lambda regime: regime.name),
        Part("_why", str, lambda regime: regime.why),
    ),
    Counts: _WORDS,
    Names: _WORDS,
    int: (Part("", int),),
    float: (Part("", float),),
}
"""The kinds of figures with their columns; the first is the figure itself."""


def columns_of(key: str, kind: type) -> dict[str, type]:
    """Return the columns of a figure with the name ``key``, and their types."""
    return {key + part.suffix: part.type for part in PARTS[kind]}


def values_of(figure: object, kind: type) -> tuple[Bare, ...]:
    """Return the plain values of a figure, one for each column; None if unknown."""
    known = not (figure is None or (isinstance(figure, Rate) and not figure.n))
    return tuple(part.read(figure) if known else None for part in PARTS[kind])


@dataclass(frozen=True, slots=True)
class TrialMetric[T: str | float]:
    """One value of a trial: a column of the frame ``trials``, a key in ``summary.json``."""

    kind: type[T]
    read: Callable[[TrialRecord], T | None]
    """Returns None if the value is unknown."""
    definition: str
    key: str = ""
    """If empty, the key of its metric."""


class HasFigures(Protocol):
    """An object that has metrics as attributes."""

    @property
    def figures(self) -> Mapping[str, object]:
        """The figures by key."""


@dataclass(eq=False, kw_only=True)
class Metric[F]:
    """One figure of a condition: its name, its definition and its computation."""

    kind: type[F]
    compute: Callable[[Sample], F | None]
    """Called only if what the metric ``needs`` is known; returns None if the figure is unknown."""
    definition: str
    """One sentence, or two."""
    unit: Unit
    label: str = ""
    """Heading of its column. If empty, the key in words."""
    better: Literal["higher", "lower"] | None = None
    needs: Needs | None = None
    section: Section | None = None
    screen: Screen | None = None
    beside: str = ""
    """The key of the metric in whose cell it is shown, in small print."""
    optional: bool = False
    """Whether its column is shown only if a row has a figure."""
    shows_interval: bool = False
    """Whether the interval is shown with the figure."""
    trial: TrialMetric[Any] | None = None
    """The value of each trial."""
    key: str = field(init=False)
    """For programs: JSON, CSV, frames, ``--fail-under``."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.key = name
        self.label = self.label or name.replace("_", " ")
        if self.trial and not self.trial.key:
            self.trial = replace(self.trial, key=name)

    @overload
    def __get__(self, row: None, owner: type) -> Self: ...
    @overload
    def __get__(self, row: HasFigures, owner: type) -> F | None: ...
    def __get__(self, row: HasFigures | None, owner: type) -> object:
        return self if row is None else row.figures.get(self.key)

    def measure(self, of: Sample) -> F | None:
        """Return the figure of a sample; None if unknown."""
        return self.compute(of) if of.knows(self.needs) else None

    def of(self, row: HasFigures) -> F | None:
        """Return the figure of a row; None if unknown."""
        return self.__get__(row, type(row))

    @property
    def columns(self) -> dict[str, type]:
        """The columns of its values, and their types."""
        return columns_of(self.key, self.kind)

    def values(self, row: HasFigures) -> tuple[Bare, ...]:
        """Return a row's plain values, one for each column."""
        return values_of(self.of(row), self.kind)

    @property
    def is_text(self) -> bool:
        """Whether it is text."""
        return self.unit == "text"


class KnownMetric[F](Metric[F]):
    """A metric that is known for every row."""

    @overload
    def __get__(self, row: None, owner: type) -> Self: ...
    @overload
    def __get__(self, row: HasFigures, owner: type) -> F: ...
    def __get__(self, row: HasFigures | None, owner: type) -> object:
        return super().__get__(row, owner)


@dataclass(eq=False, kw_only=True)
class RateMetric(Metric[Rate]):
    """A share of trials or injections."""

    kind: type[Rate] = Rate
    unit: Unit = "share"


@dataclass(eq=False, kw_only=True)
class MeanMetric(Metric[Mean]):
    """The mean of a value over trials."""

    trial: TrialMetric[float]
    kind: type[Mean] = Mean
    compute: Callable[[Sample], Mean | None] = field(init=False)

    def __post_init__(self) -> None:
        self.compute = lambda of: of.mean(self.trial.read)


@dataclass(eq=False, kw_only=True)
class TotalMetric(Metric[int]):
    """The sum of a count over trials."""

    trial: TrialMetric[int]
    kind: type[int] = int
    compute: Callable[[Sample], int | None] = field(init=False)

    def __post_init__(self) -> None:
        self.compute = lambda of: sum(self.trial.read(trial) or 0 for trial in of.trials)
