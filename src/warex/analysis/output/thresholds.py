"""Thresholds that a run must reach, so that regressions of an agent are detected.

    recovery>=0.8
    server-error.recovery>=0.8 and delta>=-0.1
    patient/server-error.success>=0.7, clean.success>=0.9

A condition, or AGENT/CONDITION, restricts a threshold to its rows. Without one it applies to all
rows with faults or, if there are none, to all rows. An unknown figure fails, and so does one of a
row with too few counted trials.

Otherwise a figure fails if no value in its interval reaches the bound. Intervals are widened
(Bonferroni) so that an agent that exactly reaches all bounds fails with a probability of at most
5 %.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Final

from warex.analysis.metrics.metric import Metric
from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.metrics.sample import Needs
from warex.analysis.stats.estimates import Rate
from warex.analysis.stats.paired import Delta
from warex.analysis.stats.proportions import ALPHA, z_quantile
from warex.analysis.table.tabulate import Table
from warex.errors import InputError
from warex.text.english import count_noun, did_you_mean
from warex.traces import CLEAN

MIN_COUNTED_SHARE = 0.8
"""Share of a row's trials that must count for it to pass."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """One comparison."""

    text: str
    """As it was written."""
    scope: str
    """A condition, AGENT/CONDITION, or empty."""
    metric: str
    comparison: str
    bound: float


@dataclass(frozen=True, slots=True)
class FailedThreshold:
    """A row that does not reach a threshold."""

    demand: Threshold
    row: ConditionRow
    value: float | None
    """None if unknown."""
    sentence: str


NUMBERS: Final[Mapping[str, Metric[Any]]] = {
    metric.key: metric for metric in METRICS if not metric.is_text
}
"""The metrics that thresholds may use."""

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_UNKNOWN: Final[Mapping[Needs | None, str]] = {
    "faults": "no trial with a delivered fault can be judged",
    "judged": "no trial with a delivered fault can be judged",
    "clean": "there is no pair with clean",
}
"""Why a figure is unknown, by the data that its metric needs."""

_FORM = re.compile(
    r"(?:(?P<scope>.+)\.)?(?P<metric>[^.\s]+?)\s*(?P<comparison>>=|<=|>|<)\s*(?P<bound>\S+)"
)


def parse_thresholds(expression: str) -> tuple[Threshold, ...]:
    """Parse thresholds joined by ``and`` or commas.

    Raises InputError for an invalid one.
    """
    # Only after a number: a condition may be called "search and pay".
    parts = re.split(r"(?<=\d)\s*(?:,|\band\b)", expression)
    return tuple(_demand(part.strip(), expression) for part in parts)


def failed_thresholds(table: Table, expression: str) -> tuple[FailedThreshold, ...]:
    """Return the rows that do not reach the thresholds.

    Raises InputError for an invalid expression, and for a condition that the run lacks.
    """
    held, reach = _held(table, expression)
    return tuple(found for demand, row in held if (found := _short(demand, row, reach)) is not None)


def inconclusive_thresholds(table: Table, expression: str) -> tuple[str, ...]:
    """Return a sentence for each row that misses a bound, but not significantly.

    Raises InputError as ``failed_thresholds`` does.
    """
    held, reach = _held(table, expression)
    return tuple(
        f"{_place(demand, row)} is {value:.3g}{_of(demand.metric, row)}; that it is not"
        f" {demand.comparison} {demand.bound:g} may be chance."
        for demand, row in held
        if (value := figure_of(demand.metric, row)[0]) is not None
        and not _COMPARISONS[demand.comparison](value, demand.bound)
        and _short(demand, row, reach) is None
    )


def _held(table: Table, expression: str) -> tuple[list[tuple[Threshold, ConditionRow]], float]:
    """Return each threshold with each of its rows, and the factor that widens intervals."""
    demands = parse_thresholds(expression)
    held = [(demand, row) for demand in demands for row in _rows(table, demand)]
    judged = sum(figure_of(demand.metric, row)[1] is not None for demand, row in held)
    return held, bonferroni_factor(judged)


def bonferroni_factor(judged: int) -> float:
    """Return the factor that widens intervals for one-sided tests, 5 % over all (Bonferroni)."""
    return NormalDist().inv_cdf(1 - ALPHA / max(1, judged)) / z_quantile()


def _demand(part: str, expression: str) -> Threshold:
    found = _FORM.fullmatch(part)
    if found is None:
        raise InputError(
            f"{part!r} in {expression!r} is no demand; write METRIC>=NUMBER, with a condition"
            " before it where it is meant for one: server-error.recovery>=0.8"
        )
    metric = found["metric"]
    if metric not in NUMBERS:
        raise InputError(
            f"{part!r}: there is no metric {metric!r}{did_you_mean(metric, NUMBERS) or '.'}"
            f" There are: {', '.join(NUMBERS)}"
        )
    try:
        bound = float(found["bound"])
    except ValueError:
        bound = float("nan")
    if bound != bound:
        raise InputError(f"{part!r}: {found['bound']!r} is no number; 0.8 is one, 80 % is not")
    return Threshold(part, (found["scope"] or "").strip(), metric, found["comparison"], bound)


def _rows(table: Table, demand: Threshold) -> Sequence[ConditionRow]:
    if not demand.scope:
        rows = [row for row in table.rows if row.n or row.voids]
        if not rows:
            raise InputError(f"{demand.text!r}: the run has no trial that this is about")
        return [row for row in rows if row.exposure is not None] or rows
    names = {row.condition for row in table.rows}
    names |= {f"{row.agent}/{row.condition}" for row in table.rows}
    if demand.scope not in names:
        raise InputError(
            f"{demand.text!r}: there is no condition {demand.scope!r} in this run"
            f"{did_you_mean(demand.scope, names) or '.'} There are: {', '.join(sorted(names))}"
        )
    return [
        row for row in table.rows if demand.scope in (row.condition, f"{row.agent}/{row.condition}")
    ]


def _short(demand: Threshold, row: ConditionRow, reach: float) -> FailedThreshold | None:
    value, interval = figure_of(demand.metric, row)
    place = _place(demand, row)
    if value is None:
        why = _unknown(demand.metric, row)
        said = f"{place} is not known ({why}), so {demand.text!r} is not reached."
        return FailedThreshold(demand, row, value, said)
    if row.n < MIN_COUNTED_SHARE * row.scheduled:
        scheduled = count_noun(row.scheduled, "trial")
        said = f"{place} is {value:.3g}, but only {row.n} of {scheduled} count."
        return FailedThreshold(demand, row, value, said)
    if _COMPARISONS[demand.comparison](
        optimistic_bound(value, interval, demand.comparison, reach), demand.bound
    ):
        return None
    said = f"{place} is {value:.3g}{_of(demand.metric, row)}, not {demand.comparison} "
    return FailedThreshold(demand, row, value, f"{said}{demand.bound:g}.")


def optimistic_bound(
    value: float, interval: tuple[float, float] | None, comparison: str, reach: float
) -> float:
    """Return the best value of a figure in its widened interval."""
    if interval is None:
        return value
    end = interval[1] if comparison in (">=", ">") else interval[0]
    return value + (end - value) * reach


def _place(demand: Threshold, row: ConditionRow) -> str:
    return f"{row.agent}, {row.condition}: {demand.metric}"


def _unknown(metric: str, row: ConditionRow) -> str:
    if not row.n:
        return "no trial counts"
    needs = NUMBERS[metric].needs
    if needs in ("faults", "judged") and row.exposure is None:
        return "no fault is injected here"
    if needs == "clean" and row.condition == CLEAN:
        return "it is clean itself"
    return _UNKNOWN.get(needs, "it was not recorded")


def figure_of(metric: str, row: ConditionRow) -> tuple[float | None, tuple[float, float] | None]:
    """Return a row's value and its 95 % interval; None if unknown."""
    figure = NUMBERS[metric].of(row)
    if figure is None or isinstance(figure, int | float):
        return figure, None
    return figure.value, getattr(figure, "interval", None)


def _of(metric: str, row: ConditionRow) -> str:
    """Return a figure's interval in words."""
    interval = figure_of(metric, row)[1]
    if interval is None:
        return ""
    low, high = interval
    figure = NUMBERS[metric].of(row)
    over = f"{figure}, " if isinstance(figure, Rate) else ""
    over = f"{count_noun(figure.pairs, 'pair')}, " if isinstance(figure, Delta) else over
    return f" ({over}95 % interval {low:.2g} to {high:.2g})"
