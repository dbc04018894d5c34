"""What a run must reach, so that a team's agent does not get worse unseen.

    recovery>=0.8
    server-error.recovery>=0.8 and delta>=-0.1
    patient/server-error.success>=0.7, clean.success>=0.9

A condition, with or without its agent before it, narrows a demand to its rows. Without one it is
made of every row with faults, and where no condition has any, of every row. What is not known is
not reached, nor is anything where too few trials count.

A figure falls short where that is more than chance: where no value in its interval reaches the
bound. The intervals are widened so that an agent that just reaches all bounds is failed at most
once in twenty times, however many rows there are.
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
"""Share of a row's trials that must count; else what was seen says too little to pass."""


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
    """A row that does not reach a demand."""

    demand: Threshold
    row: ConditionRow
    value: float | None
    """None: not known."""
    sentence: str


NUMBERS: Final[Mapping[str, Metric[Any]]] = {
    metric.key: metric for metric in METRICS if not metric.is_text
}
"""What can be demanded of a row."""

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
"""Why a figure is not known, by what its metric needs."""

_FORM = re.compile(
    r"(?:(?P<scope>.+)\.)?(?P<metric>[^.\s]+?)\s*(?P<comparison>>=|<=|>|<)\s*(?P<bound>\S+)"
)


def parse_thresholds(expression: str) -> tuple[Threshold, ...]:
    """Parse demands joined by ``and`` or commas.

    Raises InputError for what is none, with the metric that may be meant.
    """
    # Only after a number: a condition may be called "search and pay".
    parts = re.split(r"(?<=\d)\s*(?:,|\band\b)", expression)
    return tuple(_demand(part.strip(), expression) for part in parts)


def failed_thresholds(table: Table, expression: str) -> tuple[FailedThreshold, ...]:
    """Return the rows that do not reach what is demanded; empty if all is well.

    Raises InputError for an expression that is none, and for a condition that the run lacks.
    """
    held = [
        (demand, row) for demand in parse_thresholds(expression) for row in _rows(table, demand)
    ]
    reach = _reach(held)
    return tuple(found for demand, row in held if (found := _short(demand, row, reach)) is not None)


def inconclusive_thresholds(table: Table, expression: str) -> tuple[str, ...]:
    """Return a sentence for each row beyond a bound by what may be chance, so not failed for it.

    Raises InputError as ``shortfalls`` does.
    """
    held = [
        (demand, row) for demand in parse_thresholds(expression) for row in _rows(table, demand)
    ]
    reach = _reach(held)
    return tuple(
        f"{_place(demand, row)} is {value:.3g}{_of(demand.metric, row)}; that it is not"
        f" {demand.comparison} {demand.bound:g} may be chance."
        for demand, row in held
        if (value := figure_of(demand.metric, row)[0]) is not None
        and not _COMPARISONS[demand.comparison](value, demand.bound)
        and _short(demand, row, reach) is None
    )


def _reach(held: Sequence[tuple[Threshold, ConditionRow]]) -> float:
    """Return by what intervals are stretched: one-sided, 5 % over all of them (Bonferroni)."""
    return bonferroni_factor(
        sum(figure_of(demand.metric, row)[1] is not None for demand, row in held)
    )


def bonferroni_factor(judged: int) -> float:
    """Return by how much an interval is to reach further where so many are judged together."""
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
        faulted = [row for row in rows if row.exposure is not None]
        chosen = faulted or rows
        if not chosen:
            raise InputError(f"{demand.text!r}: the run has no trial that this is about")
        return chosen
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
    """Return what a figure may be, at its best, by its stretched interval."""
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
    """Return a row's value and its 95 % interval; None where they are not known."""
    figure = NUMBERS[metric].of(row)
    if figure is None or isinstance(figure, int | float):
        return figure, None
    return figure.value, getattr(figure, "interval", None)


def _of(metric: str, row: ConditionRow) -> str:
    """Return how sure a figure is."""
    interval = figure_of(metric, row)[1]
    if interval is None:
        return ""
    low, high = interval
    figure = NUMBERS[metric].of(row)
    over = ""
    if isinstance(figure, Rate):
        over = f"{figure}, "
    elif isinstance(figure, Delta):
        over = f"{count_noun(figure.pairs, 'pair')}, "
    return f" ({over}95 % interval {low:.2g} to {high:.2g})"
