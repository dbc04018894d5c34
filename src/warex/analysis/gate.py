"""What a run must reach, so that a team's agent does not get worse unseen.

    recovery>=0.8
    server-error.recovery>=0.8 and delta>=-0.1
    patient/server-error.success>=0.7, clean.success>=0.9

A condition, with or without its agent before it, narrows a demand to its rows. Without one it is
made of every row with faults, and where no condition has any, of every row. What is not known is
not reached.
"""

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from warex.analysis.intervals import Rate
from warex.analysis.table import Row, Table
from warex.errors import InputError


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


def _rate(of: Rate | None) -> float | None:
    return of.value if of else None


METRICS: dict[str, tuple[Callable[[Row], float | None], str]] = {
    "success": (lambda r: r.success.value, "success rate, 0 to 1"),
    "delta": (lambda r: r.delta.value if r.delta else None, "success minus that of clean, -1 to 1"),
    "recovery": (lambda r: _rate(r.recovery), "recovery rate, 0 to 1"),
    "recovered_and_solved": (
        lambda r: _rate(r.recovered_and_solved),
        "trials recovered and solved, 0 to 1",
    ),
    "r_fault": (
        lambda r: r.r_fault.value if r.r_fault else None,
        "success over that of clean, 1 for all of it",
    ),
    "exposure": (lambda r: _rate(r.exposure), "trials that a fault reached, 0 to 1"),
    "premature_stops": (lambda r: _rate(r.premature_stops), "exposed trials given up, 0 to 1"),
    "fruitless": (lambda r: _rate(r.fruitless), "exposed trials gone on with in vain, 0 to 1"),
    "duplicated_writes": (lambda r: r.duplicated_writes, "writes a site was sent twice"),
    "latency": (lambda r: r.latency_s, "mean seconds of a trial"),
    "steps": (lambda r: r.steps, "mean steps of a trial"),
    "cost": (lambda r: r.usd, "mean US dollars of a trial"),
    "voids": (lambda r: r.voids, "attempts in which the harness broke"),
}
"""What can be demanded of a row: how it is read, and what it means."""

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_FAULTS_ONLY = frozenset(
    ("recovery", "recovered_and_solved", "exposure", "premature_stops", "fruitless")
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
    return tuple(
        found
        for demand in demands(expression)
        for row in _rows(table, demand)
        if (found := _short(demand, row)) is not None
    )


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
            f"{part!r}: there is no metric {metric!r}{_near(metric, METRICS)} There are:"
            f" {', '.join(METRICS)}"
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
            raise InputError(f"{demand.text!r}: the run has no trial to hold against it")
        return chosen
    names = {row.condition for row in table.rows}
    names |= {f"{row.agent}/{row.condition}" for row in table.rows}
    if demand.scope not in names:
        raise InputError(
            f"{demand.text!r}: there is no condition {demand.scope!r} in this run"
            f"{_near(demand.scope, names)} There are: {', '.join(sorted(names))}"
        )
    return [
        row for row in table.rows if demand.scope in (row.condition, f"{row.agent}/{row.condition}")
    ]


def _short(demand: Demand, row: Row) -> Shortfall | None:
    value = METRICS[demand.metric][0](row)
    if value is not None and _COMPARISONS[demand.comparison](value, demand.bound):
        return None
    place = f"{row.agent}, {row.condition}: {demand.metric}"
    if value is None:
        why = _unknown(demand.metric, row)
        said = f"{place} is not known ({why}), so {demand.text!r} is not reached."
    else:
        said = f"{place} is {value:.3g}{_of(demand.metric, row)}, not {demand.comparison} "
        said += f"{demand.bound:g}."
    return Shortfall(demand, row, value, said)


def _unknown(metric: str, row: Row) -> str:
    if not row.n:
        return "no trial counts"
    if metric in _FAULTS_ONLY and row.exposure is None:
        return "no fault is injected here"
    if metric in ("recovery", "recovered_and_solved"):
        return "no trial with a delivered fault can be judged"
    if metric in ("delta", "r_fault"):
        return "there is no pair with clean" if row.condition != "clean" else "it is clean itself"
    return "nobody watched it"


def _of(metric: str, row: Row) -> str:
    """Return how sure a rate is, since a gate that few trials decide is opened by chance."""
    rates = {
        "success": row.success,
        "recovery": row.recovery,
        "recovered_and_solved": row.recovered_and_solved,
        "exposure": row.exposure,
        "premature_stops": row.premature_stops,
        "fruitless": row.fruitless,
    }
    if rate := rates.get(metric):
        low, high = rate.interval
        return f" ({rate}, 95 % interval {low:.2f} to {high:.2f})"
    if metric == "delta" and row.delta and row.delta.interval:
        low, high = row.delta.interval
        return f" ({row.delta.pairs} pairs, 95 % interval {low:+.2f} to {high:+.2f})"
    return ""


def _near(name: str, names: Iterable[str]) -> str:
    near = get_close_matches(name, list(names), n=1)
    return f"; did you mean {near[0]!r}?" if near else "."
