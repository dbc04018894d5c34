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
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    return tuple(_threshold(part.strip(), expression) for part in parts)


def failed_thresholds(table: Table, expression: str) -> tuple[str, ...]:
    """Return a sentence for each row that does not reach a threshold.

    Raises InputError for an invalid expression, and for a condition that the run lacks.
    """
    held, reach = _held(table, expression)
    return tuple(filter(None, (_shortfall(threshold, row, reach) for threshold, row in held)))


def inconclusive_thresholds(table: Table, expression: str) -> tuple[str, ...]:
    """Return a sentence for each row that misses a bound, but not significantly.

    Raises InputError as ``failed_thresholds`` does.
    """
    held, reach = _held(table, expression)
    return tuple(
        f"{_place(threshold, row)} is {value:.3g}{_of(threshold.metric, row)}; that it is not"
        f" {threshold.comparison} {threshold.bound:g} may be chance."
        for threshold, row in held
        if (value := figure_of(threshold.metric, row)[0]) is not None
        and not _COMPARISONS[threshold.comparison](value, threshold.bound)
        and _shortfall(threshold, row, reach) is None
    )


def _held(table: Table, expression: str) -> tuple[list[tuple[Threshold, ConditionRow]], float]:
    """Return each threshold with each of its rows, and the factor that widens intervals."""
    thresholds = parse_thresholds(expression)
    check_scopes(expression, ((row.agent, row.condition) for row in table.rows))
    held = [(threshold, row) for threshold in thresholds for row in _rows(table, threshold)]
    judged = sum(figure_of(threshold.metric, row)[1] is not None for threshold, row in held)
    return held, bonferroni_factor(judged)


def bonferroni_factor(judged: int) -> float:
    """Return the factor that widens intervals for one-sided tests, 5 % over all (Bonferroni)."""
    return NormalDist().inv_cdf(1 - ALPHA / max(1, judged)) / z_quantile()


def _threshold(part: str, expression: str) -> Threshold:
    found = _FORM.fullmatch(part)
    if found is None:
        raise InputError(
            f"{part!r} in {expression!r} is no threshold; write METRIC>=NUMBER, with a condition"
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


def check_scopes(expression: str, rows: Iterable[tuple[str, str]]) -> None:
    """Raise InputError if a threshold is restricted to none of the rows: agents and conditions."""
    names = {name for agent, condition in rows for name in (condition, f"{agent}/{condition}")}
    for threshold in parse_thresholds(expression):
        if threshold.scope and threshold.scope not in names:
            raise InputError(
                f"{threshold.text!r}: there is no condition {threshold.scope!r} in this run"
                f"{did_you_mean(threshold.scope, names) or '.'} There are:"
                f" {', '.join(sorted(names))}"
            )


def _rows(table: Table, threshold: Threshold) -> Sequence[ConditionRow]:
    if not threshold.scope:
        rows = [row for row in table.rows if row.n or row.voids]
        if not rows:
            raise InputError(f"{threshold.text!r}: the run has no trial that this is about")
        return [row for row in rows if row.exposure is not None] or rows
    return [
        row
        for row in table.rows
        if threshold.scope in (row.condition, f"{row.agent}/{row.condition}")
    ]


def _shortfall(threshold: Threshold, row: ConditionRow, reach: float) -> str | None:
    value, interval = figure_of(threshold.metric, row)
    comparison, bound = threshold.comparison, threshold.bound
    if value is None:
        why = _unknown(threshold.metric, row)
        found = f"is not known ({why}), so {threshold.text!r} is not reached."
    elif row.n < MIN_COUNTED_SHARE * row.scheduled:
        scheduled = count_noun(row.scheduled, "trial")
        found = f"is {value:.3g}, but only {row.n} of {scheduled} count."
    elif _COMPARISONS[comparison](optimistic_bound(value, interval, comparison, reach), bound):
        return None
    else:
        found = f"is {value:.3g}{_of(threshold.metric, row)}, not {comparison} {bound:g}."
    return f"{_place(threshold, row)} {found}"


def optimistic_bound(
    value: float, interval: tuple[float, float] | None, comparison: str, reach: float
) -> float:
    """Return the best value of a figure in its widened interval."""
    if interval is None:
        return value
    end = interval[1] if comparison in (">=", ">") else interval[0]
    return value + (end - value) * reach


def _place(threshold: Threshold, row: ConditionRow) -> str:
    return f"{row.agent}, {row.condition}: {threshold.metric}"


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
    interval = figure_of(metric, row)[1]
    if interval is None:
        return ""
    low, high = interval
    figure = NUMBERS[metric].of(row)
    over = f"{figure}, " if isinstance(figure, Rate) else ""
    over = f"{count_noun(figure.pairs, 'pair')}, " if isinstance(figure, Delta) else over
    return f" ({over}95 % interval {low:.2g} to {high:.2g})"
