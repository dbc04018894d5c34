"""Thresholds that a run must reach, so that regressions of an agent are detected.

    recovery>=0.8
    server-error.recovery>=0.8 and delta>=-0.1
    patient/server-error.success>=0.7, clean.success>=0.9

A condition, or AGENT/CONDITION, restricts a threshold to its rows. Without one it applies to all
rows with faults or, if there are none, to all rows.

A gate has three ends. It is *broken* if a figure misses its bound by more than chance explains: the
one-sided p of the hypothesis that the truth reaches the bound, adjusted over all rows of the gate
(Holm 1979), is below 5 %. It *holds* if every figure reaches its bound. Otherwise one *cannot
tell*; also where too few trials of a row count. An unknown figure breaks it, and so does a count
that misses its bound, since it has no chance in it.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, inf, isfinite, log
from typing import Any, Final, Literal

from warex.analysis.metrics.metric import Metric, PassK, Unit
from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.metrics.sample import Needs
from warex.analysis.stats.estimates import Mean, Rate
from warex.analysis.stats.paired import Delta, describe_p
from warex.analysis.stats.proportions import ALPHA, holm
from warex.analysis.table.tabulate import Table
from warex.errors import InputError
from warex.text.english import count_noun, did_you_mean
from warex.traces import CLEAN, NO_PROXY

MIN_COUNTED_SHARE = 0.8
"""Share of a row's trials that must count for it to pass."""

type GateEnd = Literal["holds", "broken", "cannot tell"]


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

type Ranges = Mapping[str, tuple[float, float]]
"""The least and the greatest value of each metric that thresholds may use."""

_BY_UNIT: Final[Mapping[Unit, tuple[float, float]]] = {
    "share": (0.0, 1.0),
    "p": (0.0, 1.0),
    "points": (-1.0, 1.0),
}
RANGES: Final[Ranges] = {
    key: _BY_UNIT.get(metric.unit, (0.0, inf)) for key, metric in NUMBERS.items()
} | {"score": (0.0, 1.0)}
_OF_FAULTS = ("delta_exposed", "r_fault")
"""Metrics that need faults beside ``clean``."""
_WITHOUT_PROXY: Final = {
    *("n", "success", "score", "delta", "delta_p_holm", "pass_k", "latency_s", "voids"),
}
"""Metrics that are known where nothing is recorded."""

_FORM = re.compile(
    r"(?:(?P<scope>.+)\.)?(?P<metric>[^.\s]+?)\s*(?P<comparison>>=|<=|>|<)\s*(?P<bound>\S+)"
)


def parse_thresholds(expression: str, metrics: Ranges = RANGES) -> tuple[Threshold, ...]:
    """Parse thresholds joined by ``and`` or commas.

    Raises InputError for an invalid one.
    """
    # Only after a number: a condition may be called "search and pay".
    parts = re.split(r"(?<=\d)\s*(?:,|\band\b)", expression)
    return tuple(_threshold(part.strip(), expression, metrics) for part in parts)


@dataclass(frozen=True, slots=True)
class Claim:
    """A figure that is held against a bound."""

    place: str
    """The row and the metric, as sentences begin."""
    figure: object
    """None if unknown."""
    threshold: Threshold
    unknown: str = ""
    """Why it is unknown."""
    doubt: str = ""
    """Why the gate cannot hold whatever the figure is: too few trials count."""


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """The end of a gate in one row."""

    gate: str
    """The threshold as it was written, or the option."""
    end: GateEnd
    sentence: str
    """Why it does not hold; empty if it does."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The end of a gate, with a sentence for each row that does not hold."""

    rows: tuple[JudgedRow, ...] = ()

    @property
    def broken(self) -> tuple[str, ...]:
        """The sentences of the rows in which it is broken."""
        return tuple(row.sentence for row in self.rows if row.end == "broken")

    @property
    def unclear(self) -> tuple[str, ...]:
        """The sentences of the rows in which one cannot tell."""
        return tuple(row.sentence for row in self.rows if row.end == "cannot tell")

    @property
    def end(self) -> GateEnd:
        """The end of the whole gate."""
        if self.broken:
            return "broken"
        return "cannot tell" if self.unclear else "holds"


def combined(gates: Sequence[Judgement]) -> Judgement:
    """Return several gates as one."""
    return Judgement(tuple(row for gate in gates for row in gate.rows))


def judge_run(table: Table, expression: str) -> Judgement:
    """Hold a run against thresholds.

    Raises InputError for an invalid expression, for a condition that the run lacks, and for a
    metric of faults where none is injected.
    """
    thresholds = parse_thresholds(expression)
    check_scopes(expression, [scope_of(row) for row in table.rows])
    return judge([_claim(it, row) for it in thresholds for row in _rows(table, it)])


def judge(claims: Sequence[Claim]) -> Judgement:
    """Return how a gate of these claims ends; p is adjusted over all of them."""
    unadjusted = [_bound_p(claim) for claim in claims]
    adjusted = iter(holm([p for p in unadjusted if p is not None]))
    ps = [None if p is None else next(adjusted) for p in unadjusted]
    tests = sum(p is not None for p in unadjusted)
    return Judgement(tuple(_judged(claim, p, tests) for claim, p in zip(claims, ps, strict=True)))


def _judged(claim: Claim, p: float | None, tests: int) -> JudgedRow:
    """Return how the gate ends in the claim's row, by its p, adjusted over the gate's tests."""
    several = tests > 1
    value, threshold = _value(claim.figure), claim.threshold
    stated = f"{claim.place} is {value if value is None else format(value, '.3g')}"
    relation = f"{threshold.comparison} {threshold.bound:g}"
    end: GateEnd = "holds"
    sentence = ""
    if value is None and claim.doubt:
        end, sentence = "cannot tell", f"{claim.place} is not known: {claim.doubt}."
    elif value is None:
        end, sentence = (
            "broken",
            f"{claim.place} is not known ({claim.unknown}), so {threshold.text!r} is not reached.",
        )
    elif p is not None and p < ALPHA:
        end, sentence = (
            "broken",
            f"{stated}{_describe_figure(claim.figure, p, several)}, not {relation}.",
        )
    elif not _COMPARISONS[threshold.comparison](value, threshold.bound):
        if p is None and not isinstance(claim.figure, Rate | Mean | Delta):
            end, sentence = "broken", f"{stated}, not {relation}."
        else:
            why = f"; that it is not {relation} may be chance."
            sentence = (
                f"{stated}{_describe_figure(claim.figure, p, several)}{why}{_too_few(claim, tests)}"
            )
            end = "cannot tell"
    elif claim.doubt:
        end, sentence = "cannot tell", f"{stated}, but {claim.doubt}."
    return JudgedRow(threshold.text, end, sentence)


def _too_few(claim: Claim, tests: int) -> str:
    """Say how many tasks the gate takes, if no result of a rate's tasks could break it."""
    if not isinstance(claim.figure, Rate):
        return ""
    needed = tasks_to_break(claim.threshold, tests)
    tasks = claim.figure.task_count
    if tasks >= needed:
        return ""
    return f" No result of {count_noun(tasks, 'task')} can break this gate: it takes {needed}."


def tasks_to_break(threshold: Threshold, tests: int) -> int:
    """Return the fewest tasks of which the worst result breaks a rate's threshold.

    ``tests`` are the rows and thresholds of the gate, all of them as bad: the first step of Holm's
    adjustment. 1 for a threshold that a single task can break.
    """
    at_least = threshold.comparison in (">=", ">")
    chance = 1 - threshold.bound if at_least else threshold.bound
    if not 0 < chance < 1:
        return 1
    return floor(log(ALPHA / tests) / log(chance)) + 1


def _bound_p(claim: Claim) -> float | None:
    """Return the p of the hypothesis that the truth reaches the bound; None if it has none."""
    at_least = claim.threshold.comparison in (">=", ">")
    match claim.figure:
        case Rate(n=0):
            return None
        case Rate() | Mean() | Delta() | PassK():
            return claim.figure.bound_p(claim.threshold.bound, at_least=at_least)
        case _:
            return None


def _value(figure: object) -> float | None:
    match figure:
        case Rate() | Mean() | Delta() | PassK():
            return figure.value
        case int() | float():
            return figure
        case _:
            return None


def _claim(threshold: Threshold, row: ConditionRow) -> Claim:
    doubt = ""
    if row.n < MIN_COUNTED_SHARE * row.scheduled:
        doubt = f"only {row.n} of {count_noun(row.scheduled, 'trial')} count"
    return Claim(
        f"{row.agent}, {row.condition}: {threshold.metric}",
        NUMBERS[threshold.metric].of(row),
        threshold,
        _unknown(threshold.metric, row),
        doubt,
    )


def _threshold(part: str, expression: str, metrics: Ranges) -> Threshold:
    match = _FORM.fullmatch(part)
    if match is None:
        within = "" if part == expression else f" in {expression!r}"
        raise InputError(
            f"{part!r}{within} is not a threshold; write METRIC>=NUMBER, with a condition"
            " before it where it is meant for one: server-error.recovery>=0.8"
        )
    metric = match["metric"]
    if metric not in metrics:
        raise InputError(
            f"{part!r}: there is no metric {metric!r}"
            f"{did_you_mean(metric, metrics) or f'. There are: {", ".join(metrics)}'}"
        )
    try:
        bound = float(match["bound"])
    except ValueError:
        bound = float("nan")
    if not isfinite(bound):
        raise InputError(f"{part!r}: {match['bound']!r} is not a number; 0.8 is one, 80 % is not")
    _check_bound(part, metric, match["comparison"], bound, metrics[metric])
    return Threshold(part, (match["scope"] or "").strip(), metric, match["comparison"], bound)


def _check_bound(
    part: str, metric: str, comparison: str, bound: float, ends: tuple[float, float]
) -> None:
    """Raise InputError if the metric cannot have the bound as its value, or none past it."""
    low, high = ends
    out = not low <= bound <= high
    if not out and (comparison, bound) not in ((">", high), ("<", low)):
        return
    allowed = f"at least {low:g}" if high == inf else f"from {low:g} to {high:g}"
    # 1.5 may as well be a slip for 0.5 as 1.5 %.
    percent = abs(bound) >= 2 and low <= bound / 100 <= high < inf
    hint = f"; did you mean {bound / 100:g}?" if percent else "."
    raise InputError(
        f"{part!r}: {metric} is {allowed}, so it cannot be {comparison} {bound:g}{hint}"
    )


@dataclass(frozen=True, slots=True)
class Scope:
    """A row of a run that a threshold may be about, before or after the run."""

    agent: str
    condition: str
    injects: bool
    """Whether it has a scenario."""
    inert: str = ""
    """Why none of its faults can ever hit; empty if one can."""

    @property
    def names(self) -> tuple[str, str]:
        """What a threshold may call it."""
        return self.condition, f"{self.agent}/{self.condition}"


def scope_of(row: ConditionRow) -> Scope:
    """Return the scope of a row of a run."""
    return Scope(row.agent, row.condition, row.scenario is not None or row.exposure is not None)


def check_scopes(expression: str, scopes: Sequence[Scope]) -> None:
    """Raise InputError if a threshold is about none of the rows, or can tell nothing of one."""
    names = {name for scope in scopes for name in scope.names}
    for threshold in parse_thresholds(expression):
        if threshold.scope and threshold.scope not in names:
            listed = ", ".join(sorted(names))
            raise InputError(
                f"{threshold.text!r}: there is no condition {threshold.scope!r} in this run"
                f"{did_you_mean(threshold.scope, names) or f'. There are: {listed}'}"
            )
        about = [it for it in scopes if not threshold.scope or threshold.scope in it.names]
        if not threshold.scope:
            about = [scope for scope in about if scope.injects] or about
        faulted = [scope.condition for scope in scopes if scope.injects and not scope.inert]
        if NUMBERS[threshold.metric].needs == "clean" and CLEAN not in names:
            raise InputError(
                f"{threshold.text!r}: {threshold.metric} is a difference from {CLEAN}, and there is"
                " no such condition in this run"
            )
        for scope in about:
            if why := _meaningless(threshold.metric, scope):
                conditions = ", ".join(dict.fromkeys(faulted))
                hint = f" Conditions with faults: {conditions}." if conditions else ""
                raise InputError(f"{threshold.text!r}: {scope.condition}: {why}.{hint}")


def _meaningless(metric: str, scope: Scope) -> str:
    """Say why a metric can tell nothing of a row, whatever happens; empty if it can."""
    needs = NUMBERS[metric].needs
    if scope.inert:
        return f"none of its faults can ever hit ({scope.inert})"
    if (needs in ("faults", "judged") or metric in _OF_FAULTS) and not scope.injects:
        return f"no fault is injected here, so there is no {metric}"
    if needs == "clean" and scope.condition == CLEAN:
        return f"{metric} is a difference from clean, and this is clean itself"
    if scope.condition == NO_PROXY and metric not in _WITHOUT_PROXY:
        return f"nothing is recorded without the proxy, so there is no {metric}"
    return ""


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


def _unknown(metric: str, row: ConditionRow) -> str:
    if not row.n:
        return "no trial counts"
    return _UNKNOWN.get(NUMBERS[metric].needs, "it was not recorded")


def _describe_figure(figure: object, p: float | None, several: bool) -> str:
    """Write what a figure is over, its interval, and its p."""
    interval = getattr(figure, "interval", None)
    if interval is None:
        return ""
    low, high = interval
    over = f"{figure}, " if isinstance(figure, Rate) else ""
    over = f"{count_noun(figure.pairs, 'pair')}, " if isinstance(figure, Delta) else over
    chance = "" if p is None else f", {'adjusted ' if several else ''}{describe_p(p)}"
    return f" ({over}95 % interval {low:.2g} to {high:.2g}{chance})"
