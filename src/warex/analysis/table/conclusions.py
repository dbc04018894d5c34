"""The conclusions of a run in sentences: what falls, what is inconclusive, what helps.

Each sentence gives the observed difference with its interval and p, and says whether it is about
tasks like these, of which those of the run are a sample, or about these very tasks. Without repeats
both have the same test. A difference without a significant test is called inconclusive.
"""

from collections.abc import Iterator
from typing import Literal

from warex.analysis.metrics.regimes import EQUIVALENCE_MARGIN
from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.stats.paired import (
    DefenceEffect,
    Delta,
    Power,
    describe_p,
    describe_required_tasks,
)
from warex.analysis.table.tabulate import Table
from warex.text.english import count_noun, of_number
from warex.traces import CLEAN, NO_PROXY

type Conclusion = Literal["falls", "gains", "kept", "inconclusive"]
"""``kept``: the interval is within ``EQUIVALENCE_MARGIN`` of no change."""


def conclusion_of(delta: Delta) -> Conclusion:
    """Return the conclusion of a difference."""
    if delta.significant:
        return "falls" if delta.value < 0 else "gains"
    low, high = delta.interval or (-1.0, 1.0)
    return "kept" if low >= -EQUIVALENCE_MARGIN and high <= EQUIVALENCE_MARGIN else "inconclusive"


def conclusions(run: Run, table: Table) -> tuple[str, ...]:
    """Return the first sentences of a report, warnings first."""
    if not any(row.n for row in table.rows):
        return ("No trial counts, so there are no results.",)
    return (*_warnings(table), *(line for agent in run.agents for line in _agent(table, agent)))


def _warnings(table: Table) -> Iterator[str]:
    for row in table.rows:
        if row.exposure is None or not row.n:
            continue
        if not row.exposure.hits:
            yield (
                f"{row.agent}, {row.condition}: no fault reached a trial, so this condition"
                " measures nothing."
            )
        elif row in table.underexposed:
            yield (
                f"{row.agent}, {row.condition}: a fault reached only {row.exposure.hits} of"
                f" {count_noun(row.exposure.n, 'trial')}, so this condition hardly measures it."
            )


def _agent(table: Table, agent: str) -> Iterator[str]:
    rows = [row for row in table.of(agent) if row.n]
    tested = [row for row in rows if row.condition not in (CLEAN, NO_PROXY) and not row.control]
    if not tested:
        return
    if all(row.delta is None for row in tested):
        yield f"{agent}: there is no pair with {CLEAN}, so what its faults change is not known."
    for row in tested:
        if row.delta is not None:
            yield _change(row, row.delta)
            yield from _change_of_these(row, row.delta)
    for row in tested:
        if line := _regime(row):
            yield line
    yield from (_defence(effect) for effect in table.defences if effect.agent == agent)
    for name, power in table.power:
        if name == agent:
            yield _power(agent, power)


def _change(row: ConditionRow, delta: Delta) -> str:
    who, where = row.agent, row.condition
    match conclusion_of(delta):
        case "falls":
            return f"On tasks like these, {who} loses {_lost(delta)} under {where} ({_p(delta)})."
        case "gains":
            return f"On tasks like these, {who} gains {_won(delta)} under {where} ({_p(delta)})."
        case "kept":
            return (
                f"On tasks like these, {where} leaves {who}'s success as it is, to within"
                f" {100 * EQUIVALENCE_MARGIN:.0f} points: {_won(delta)}."
            )
        case "inconclusive":
            return (
                f"{who} under {where}: {_won(delta)} over {count_noun(delta.pairs, 'pair')}."
                f" Inconclusive for tasks like these: {where} vs {CLEAN}{_maybe_p(delta)}."
            )


def _change_of_these(row: ConditionRow, delta: Delta) -> Iterator[str]:
    """Answer the other question, about these very tasks, where repeats make it another one."""
    if delta.pairs == delta.tasks or delta.adjusted_p_these is None:
        return
    tasks = "this very task" if delta.tasks == 1 else f"these very {delta.tasks} tasks"
    p = f"{'' if delta.p_these_holm is None else 'adjusted '}{describe_p(delta.adjusted_p_these)}"
    if not delta.significant_these:
        yield f"On {tasks}, {row.agent} under {row.condition} is inconclusive ({p})."
    elif delta.value < 0:
        lost = _points(-delta.value)
        yield f"On {tasks}, {row.agent} loses {lost} under {row.condition} ({p})."
    else:
        yield f"On {tasks}, {row.agent} gains {_points(delta.value)} under {row.condition} ({p})."


def _regime(row: ConditionRow) -> str | None:
    if row.regime is None or row.regime.name in ("unclear", "unaffected"):
        return None
    phrases = {
        "premature termination": "is cheap only because it gives up",
        "resource-intensive failure": "fails without giving up, at full cost",
        "recovered at a cost": "keeps its success at a price",
    }
    return (
        f"Under {row.condition} {row.agent} {phrases[row.regime.name]} ({row.regime.name})."
        f" {row.regime.why}"
    )


def _defence(effect: DefenceEffect) -> str:
    delta = effect.delta
    what = f"the defence {effect.defence!r} ({effect.condition} against {effect.against})"
    if delta.significant:
        word, points = ("helps", _won(delta)) if delta.value > 0 else ("harms", _lost(delta))
        return f"For {effect.agent} on tasks like these, {what} {word} by {points} ({_p(delta)})."
    return (
        f"For {effect.agent}, {what}: {_won(delta)} over {count_noun(delta.pairs, 'pair')}."
        f" Inconclusive for tasks like these{_maybe_p(delta)}."
    )


def _power(agent: str, power: Power) -> str:
    noise = f"{100 * power.flips:.0f} % of pairs flipping by chance"
    noise += ", which is assumed" if power.assumed else ""
    tasks = count_noun(power.n, "task")
    needed = f"; {describe_required_tasks(power.needed)}" if power.needed else ""
    drop = power.smallest_detectable_drop
    if drop is None:
        few = count_noun(power.n, "task is", "tasks are")
        return f"{agent}: {few} too few to detect even a total collapse ({noise}){needed}."
    return (
        f"{agent}: the smallest detectable drop over {tasks} is {_points(drop)} ({noise}){needed}."
    )


def _lost(delta: Delta) -> str:
    low, high = delta.interval or (-1.0, 1.0)
    return f"{_points(-delta.value)} [{-100 * high:.0f}, {-100 * low:.0f}]"


def _won(delta: Delta) -> str:
    points = f"{100 * delta.value:+.0f} {of_number(abs(round(100 * delta.value)), 'point')}"
    if delta.interval is None:
        return f"{points}, no interval"
    low, high = delta.interval
    return f"{points} [{100 * low:+.0f}, {100 * high:+.0f}]"


def _points(share: float) -> str:
    return count_noun(round(100 * share), "point")


def _p(delta: Delta) -> str:
    if delta.adjusted_p is None:
        return "no test"
    return ("" if delta.p_holm is None else "adjusted ") + describe_p(delta.adjusted_p)


def _maybe_p(delta: Delta) -> str:
    return f" ({_p(delta)})" if delta.p is not None else ""
