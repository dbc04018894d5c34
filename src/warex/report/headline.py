"""A verdict short enough to open a report with, however many conditions were run."""

from collections.abc import Iterator

from warex.analysis.run import Run
from warex.analysis.table import Delta, Table
from warex.analysis.trial import CLEAN, NO_PROXY
from warex.analysis.verdict import verdict
from warex.report import figures

MOST = 12
"""So many sentences can still be read as one verdict."""


def opening(run: Run, table: Table) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sentences that open a report, and those that follow for who wants each of them.

    A verdict of few sentences opens it whole; of a longer one, its sum for each agent does.
    """
    whole = verdict(run, table)
    if len(whole) <= MOST:
        return whole, ()
    sums = (line for agent in run.agents for line in _sum(table, agent))
    return (*_unexposed(table), *sums), whole


def _unexposed(table: Table) -> Iterator[str]:
    low = [row for row in table.underexposed if row.n]
    if low:
        listed = "; ".join(f"{row.agent}, {row.condition} ({row.exposure})" for row in low)
        yield f"What reached fewer than half of the trials is hardly measured: {listed}."


def _sum(table: Table, agent: str) -> Iterator[str]:
    told = [
        (row.delta, row.condition)
        for row in table.of(agent)
        if row.delta and row.condition not in (CLEAN, NO_PROXY) and not row.control
    ]
    fallen = sorted((d.value, c, d) for d, c in told if d.significant and d.value < 0)
    risen = [c for d, c in told if d.significant and d.value > 0]
    line = f"{agent} is shown to fall under {len(fallen)} of {_conditions(len(told))}"
    if fallen:
        _, condition, delta = fallen[0]
        line += f", furthest under {condition}: {_points(delta)}"
    if risen:
        line += f"; it gains under {', '.join(risen)}"
    yield f"{line}."
    effects = [effect for effect in table.defences if effect.agent == agent]
    if not effects:
        return
    moved = [
        f"{e.condition} against {e.against}: {_points(e.delta)}"
        for e in effects
        if e.delta.significant
    ]
    yield (
        f"What a defence changes for {agent}: {'; '.join(moved)}."
        if moved
        else f"No defence is shown to change anything for {agent}; {len(effects)} tried."
    )


def _points(delta: Delta) -> str:
    p = delta.p if delta.p_holm is None else delta.p_holm
    written = figures.p(p)
    return f"{figures.delta(delta)} points (p {written if written[:1] == '<' else f'= {written}'})"


def _conditions(number: int) -> str:
    return "1 condition" if number == 1 else f"{number} conditions"
