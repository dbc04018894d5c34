"""What a run says, in words: what falls by how much, what cannot be told, what helped.

No claim stands without its interval, and what no test bears is said to be open, with the number of
tasks that would close it.
"""

from collections.abc import Iterator

from warex.analysis.differences import DefenceEffect, Delta, Power
from warex.analysis.regimes import KEPT
from warex.analysis.run import Run
from warex.analysis.statistics import LEVEL, pairs_needed
from warex.analysis.table import Row, Table
from warex.analysis.trial import CLEAN, NO_PROXY


def verdict(run: Run, table: Table) -> tuple[str, ...]:
    """Return the sentences that open a report, warnings first."""
    if not any(row.n for row in table.rows):
        return ("No trial counts, so there is nothing to tell.",)
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
                f"{row.agent}, {row.condition}: a fault reached only {row.exposure} trials, so this"
                " condition hardly measures it."
            )


def _agent(table: Table, agent: str) -> Iterator[str]:
    rows = [row for row in table.of(agent) if row.n]
    tested = [row for row in rows if row.condition not in (CLEAN, NO_PROXY) and not row.control]
    if not tested:
        return
    if all(row.delta is None for row in tested):
        yield f"{agent}: there is no pair with {CLEAN}, so what its faults change cannot be told."
    for row in tested:
        if row.delta is not None:
            yield _change(row, row.delta, len(tested))
    for row in tested:
        if line := _regime(row):
            yield line
    defences = [effect for effect in table.defences if effect.agent == agent]
    yield from (_defence(effect, len(defences)) for effect in defences)
    for name, power in table.power:
        if name == agent:
            yield _power(agent, power)


def _change(row: Row, delta: Delta, tests: int) -> str:
    who, where = row.agent, row.condition
    if delta.significant and delta.value < 0:
        return f"{who} loses {_lost(delta)} under {where} ({_p(delta)})."
    if delta.significant:
        return f"{who} gains {_won(delta)} under {where} ({_p(delta)})."
    if delta.interval and delta.interval[0] >= -KEPT and delta.interval[1] <= KEPT:
        return (
            f"{where} leaves {who}'s success as it is, to within {100 * KEPT:.0f} points:"
            f" {_won(delta)}."
        )
    return (
        f"Whether {where} changes {who}'s success cannot be told: {_won(delta)} over"
        f" {_count(delta.pairs, 'pair')}{_maybe_p(delta)}{_needed(delta, tests)}."
    )


def _regime(row: Row) -> str | None:
    if row.regime is None or row.regime.name in ("unclear", "unaffected"):
        return None
    told = {
        "premature termination": "is cheap only because it gives up",
        "resource-intensive failure": "fails without giving up, at full cost",
        "recovered at a cost": "keeps its success at a price",
    }
    return (
        f"Under {row.condition} {row.agent} {told[row.regime.name]} ({row.regime.name})."
        f" {row.regime.why}"
    )


def _defence(effect: DefenceEffect, tests: int) -> str:
    delta = effect.delta
    what = f"the defence {effect.defence!r} ({effect.condition} against {effect.against})"
    if delta.significant:
        word, points = ("helps", _won(delta)) if delta.value > 0 else ("harms", _lost(delta))
        return f"For {effect.agent}, {what} {word} by {points} ({_p(delta)})."
    return (
        f"For {effect.agent}, whether {what} helps cannot be told: {_won(delta)} over"
        f" {_count(delta.pairs, 'pair')}{_maybe_p(delta)}{_needed(delta, tests)}."
    )


def _power(agent: str, power: Power) -> str:
    noise = f"{100 * power.flips:.0f} % of pairs flipping by chance"
    noise += ", which is assumed" if power.assumed else ""
    if power.drop is None:
        return (
            f"With {_count(power.n, 'task')} no fall of {agent}'s success can be seen reliably,"
            f" however deep ({noise})."
        )
    return (
        f"With {_count(power.n, 'task')} the smallest fall of {agent}'s success that is seen four"
        f" times out of five is {_points(power.drop)} ({noise})."
    )


def _needed(delta: Delta, tests: int) -> str:
    if delta.lost == delta.won:
        return ""
    share = 1 / delta.pairs
    needed = pairs_needed(delta.lost * share, delta.won * share, LEVEL / max(1, tests))
    if needed is None:
        return "; a difference as small would need more tasks than can be run"
    if needed <= delta.pairs:
        return ""
    return f"; a difference of that size would need about {_count(needed, 'task')}"


def _lost(delta: Delta) -> str:
    low, high = delta.interval or (-1.0, 1.0)
    return f"{_points(-delta.value)} [{-100 * high:.0f}, {-100 * low:.0f}]"


def _won(delta: Delta) -> str:
    points = (
        f"{100 * delta.value:+.0f} {'point' if abs(round(100 * delta.value)) == 1 else 'points'}"
    )
    if delta.interval is None:
        return f"{points}, no interval"
    low, high = delta.interval
    return f"{points} [{100 * low:+.0f}, {100 * high:+.0f}]"


def _points(share: float) -> str:
    return _count(round(100 * share), "point")


def _p(delta: Delta) -> str:
    p = delta.p if delta.p_holm is None else delta.p_holm
    if p is None:
        return "no test"
    written = "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
    return written + (" after Holm" if delta.p_holm is not None else "")


def _maybe_p(delta: Delta) -> str:
    return f" ({_p(delta)})" if delta.p is not None else ""


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
