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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from warex.analysis.differences import Delta
from warex.analysis.intervals import Mean, Rate
from warex.analysis.statistics import LEVEL, z_quantile
from warex.analysis.table import Row, Table
from warex.errors import InputError
from warex.traces import CLEAN
from warex.visible import counted
from warex.words import did_you_mean

LEAST_COUNTED = 0.8
"""Share of a row's trials that must count; else what was seen says too little to pass."""


@dataclass(frozen=True, slots=True)
class Demand:
    """One comparison."""

    text: str
    """As it was written."""
    scope: str
    """A condition, AGENT/CONDITION, or empty."""
    metric: str
    comparison: str
    bound: float


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A row that does not reach a demand."""

    demand: Demand
    row: Row
    value: float | None
    """None: not known."""
    sentence: str


type _Figure = Rate | Delta | Mean | None


@dataclass(frozen=True, slots=True)
class Metric:
    """What can be demanded of a row."""

    means: str
    read: Callable[[Row], _Figure] | None = None
    """A figure that has an interval; the next two for others."""
    value: Callable[[Row], float | None] = lambda row: None
    interval: Callable[[Row], tuple[float, float] | None] = lambda row: None

    def of(self, row: Row) -> tuple[float | None, tuple[float, float] | None]:
        """Return a row's value and its 95 % interval; None where they are not known."""
        if self.read is None:
            return self.value(row), self.interval(row)
        figure = self.read(row)
        return (figure.value, figure.interval) if figure is not None else (None, None)


METRICS: dict[str, Metric] = {
    "success": Metric("success rate, 0 to 1", lambda r: r.success),
    "delta": Metric("success minus that of clean, -1 to 1", lambda r: r.delta),
    "recovery": Metric("recovery rate, 0 to 1", lambda r: r.recovery),
    "recovered_and_solved": Metric(
        "trials recovered and solved, 0 to 1", lambda r: r.recovered_and_solved
    ),
    "detected": Metric("exposed trials whose fault was noticed, 0 to 1", lambda r: r.detected),
    "false_successes": Metric(
        "trials with a success claimed and denied, 0 to 1", lambda r: r.false_successes
    ),
    "r_fault": Metric("success over that of clean, 1 for all of it", lambda r: r.r_fault),
    "exposure": Metric("trials that a fault reached, 0 to 1", lambda r: r.exposure),
    "premature_stops": Metric("exposed trials given up, 0 to 1", lambda r: r.premature_stops),
    "fruitless": Metric("exposed trials gone on with in vain, 0 to 1", lambda r: r.fruitless),
    "duplicated_writes": Metric(
        "writes a site was sent twice", value=lambda r: r.duplicated_writes
    ),
    "latency": Metric(
        "mean seconds of a trial",
        value=lambda r: r.latency_s,
        interval=lambda r: r.intervals.latency_s,
    ),
    "steps": Metric(
        "mean steps of a trial", value=lambda r: r.steps, interval=lambda r: r.intervals.steps
    ),
    "cost": Metric(
        "mean US dollars of a trial", value=lambda r: r.usd, interval=lambda r: r.intervals.usd
    ),
    "voids": Metric("attempts in which the harness broke", value=lambda r: r.voids),
}

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_FAULTS_ONLY = frozenset(
    ("recovery", "recovered_and_solved", "detected", "exposure", "premature_stops", "fruitless")
)
_FORM = re.compile(
    r"(?:(?P<scope>.+)\.)?(?P<metric>[^.\s]+?)\s*(?P<comparison>>=|<=|>|<)\s*(?P<bound>\S+)"
)


def demands(expression: str) -> tuple[Demand, ...]:
    """Parse demands joined by ``and`` or commas.

    Raises InputError for what is none, with the metric that may be meant.
    """
    # Only after a number: a condition may be called "search and pay".
    parts = re.split(r"(?<=\d)\s*(?:,|\band\b)", expression)
    return tuple(_demand(part.strip(), expression) for part in parts)


def shortfalls(table: Table, expression: str) -> tuple[Shortfall, ...]:
    """Return the rows that do not reach what is demanded; empty if all is well.

    Raises InputError for an expression that is none, and for a condition that the run lacks.
    """
    held = [(demand, row) for demand in demands(expression) for row in _rows(table, demand)]
    reach = _reach(held)
    return tuple(found for demand, row in held if (found := _short(demand, row, reach)) is not None)


def undecided(table: Table, expression: str) -> tuple[str, ...]:
    """Return a sentence for each row beyond a bound by what may be chance, so not failed for it.

    Raises InputError as ``shortfalls`` does.
    """
    held = [(demand, row) for demand in demands(expression) for row in _rows(table, demand)]
    reach = _reach(held)
    return tuple(
        f"{_place(demand, row)} is {value:.3g}{_of(demand.metric, row)}; that it is not"
        f" {demand.comparison} {demand.bound:g} may be chance."
        for demand, row in held
        if (value := METRICS[demand.metric].of(row)[0]) is not None
        and not _COMPARISONS[demand.comparison](value, demand.bound)
        and _short(demand, row, reach) is None
    )


def _reach(held: Sequence[tuple[Demand, Row]]) -> float:
    """Return by what intervals are stretched: one-sided, 5 % over all of them (Bonferroni)."""
    return stretched(sum(METRICS[demand.metric].of(row)[1] is not None for demand, row in held))


def stretched(judged: int) -> float:
    """Return by how much an interval is to reach further where so many are judged together."""
    return NormalDist().inv_cdf(1 - LEVEL / max(1, judged)) / z_quantile()


def _demand(part: str, expression: str) -> Demand:
    found = _FORM.fullmatch(part)
    if found is None:
        raise InputError(
            f"{part!r} in {expression!r} is no demand; write METRIC>=NUMBER, with a condition"
            " before it where it is meant for one: server-error.recovery>=0.8"
        )
    metric = found["metric"]
    if metric not in METRICS:
        raise InputError(
            f"{part!r}: there is no metric {metric!r}{did_you_mean(metric, METRICS) or '.'}"
            f" There are: {', '.join(METRICS)}"
        )
    try:
        bound = float(found["bound"])
    except ValueError:
        bound = float("nan")
    if bound != bound:
        raise InputError(f"{part!r}: {found['bound']!r} is no number; 0.8 is one, 80 % is not")
    return Demand(part, (found["scope"] or "").strip(), metric, found["comparison"], bound)


def _rows(table: Table, demand: Demand) -> Sequence[Row]:
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


def _short(demand: Demand, row: Row, reach: float) -> Shortfall | None:
    value, interval = METRICS[demand.metric].of(row)
    place = _place(demand, row)
    if value is None:
        why = _unknown(demand.metric, row)
        said = f"{place} is not known ({why}), so {demand.text!r} is not reached."
        return Shortfall(demand, row, value, said)
    if row.n < LEAST_COUNTED * row.scheduled:
        scheduled = counted(row.scheduled, "trial")
        said = f"{place} is {value:.3g}, but only {row.n} of {scheduled} count."
        return Shortfall(demand, row, value, said)
    if _COMPARISONS[demand.comparison](
        best_of(value, interval, demand.comparison, reach), demand.bound
    ):
        return None
    said = f"{place} is {value:.3g}{_of(demand.metric, row)}, not {demand.comparison} "
    return Shortfall(demand, row, value, f"{said}{demand.bound:g}.")


def best_of(
    value: float, interval: tuple[float, float] | None, comparison: str, reach: float
) -> float:
    """Return what a figure may be, at its best, by its stretched interval."""
    if interval is None:
        return value
    end = interval[1] if comparison in (">=", ">") else interval[0]
    return value + (end - value) * reach


def _place(demand: Demand, row: Row) -> str:
    return f"{row.agent}, {row.condition}: {demand.metric}"


def _unknown(metric: str, row: Row) -> str:
    if not row.n:
        return "no trial counts"
    if metric in _FAULTS_ONLY and row.exposure is None:
        return "no fault is injected here"
    if metric in ("recovery", "recovered_and_solved"):
        return "no trial with a delivered fault can be judged"
    if metric in ("delta", "r_fault"):
        return (
            f"there is no pair with {CLEAN}" if row.condition != CLEAN else f"it is {CLEAN} itself"
        )
    return "it was not recorded"


def _of(metric: str, row: Row) -> str:
    """Return how sure a figure is."""
    figure = METRICS[metric].read
    found = figure(row) if figure is not None else None
    interval = METRICS[metric].of(row)[1]
    if interval is None:
        return ""
    low, high = interval
    over = {
        Rate: f"{found}, ",
        Delta: f"{counted(found.pairs, 'pair')}, " if isinstance(found, Delta) else "",
    }
    return f" ({over.get(type(found), '')}95 % interval {low:.2g} to {high:.2g})"
