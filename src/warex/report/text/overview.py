"""The overview of a run: success, tasks lost, recovery and cost, one sentence each."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Rate
from warex.analysis.table.conclusions import Conclusion, conclusion_of
from warex.analysis.table.tabulate import Table
from warex.report.text import formatting
from warex.text.english import count_noun
from warex.text.escaping import escape_controls
from warex.traces import CLEAN, NO_PROXY, Void

MOST_ROWS = 12
"""Maximum number of rows, so that the overview fits one screen."""
_MOST_AGENTS = 3
"""With more agents, each has one sentence only."""
_MOST_NAMES = 3
_LONGEST_REASON = 400


@dataclass(frozen=True, slots=True)
class AgentSummary:
    """The summary of one agent: a sentence for each label."""

    agent: str
    scripted: bool
    """Whether its model is scripted by WAREX; its figures then test WAREX, not an LLM."""
    lines: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        """The agent's name, and whether it is scripted."""
        return f"{self.agent} (scripted)" if self.scripted else self.agent


def warnings(run: Run, table: Table) -> tuple[str, ...]:
    """Return the warnings of a run, one sentence each."""
    return tuple(_warnings(run, table))


def summaries(run: Run, table: Table) -> tuple[AgentSummary, ...]:
    """Return the summary of each agent, in the order of the run."""
    short = len(run.agents) > _MOST_AGENTS
    summaries = []
    for agent in run.agents:
        rows = table.of(agent)
        lines = [("success", _success(table, agent, rows))]
        if not short and (tested := tested_rows(rows)):
            lines += [
                ("tasks lost", _lost(tested)),
                ("recovered", _recovered(tested)),
                ("cost", _cost(rows, tested, scripted=agent in run.scripted)),
            ]
        summaries.append(AgentSummary(agent, agent in run.scripted, tuple(lines)))
    return tuple(summaries)


def chosen_rows(run: Run, table: Table) -> tuple[tuple[ConditionRow, ...], int]:
    """Return the rows of the overview, and the number of rows left out.

    Rows without the proxy are left out. If there are too many, each agent's ``clean`` and the rows
    with its largest drops are kept.
    """
    rows = [row for row in table.rows if row.condition != NO_PROXY] or list(table.rows)
    if len(rows) <= MOST_ROWS:
        return tuple(rows), 0
    each = max(2, MOST_ROWS // max(1, len(run.agents)))
    chosen: list[ConditionRow] = []
    for agent in run.agents:
        here = [row for row in rows if row.agent == agent]
        worst = sorted(here, key=lambda row: (row.condition != CLEAN, _change(row)))[:each]
        chosen += [row for row in here if row in worst]
    return tuple(chosen), len(rows) - len(chosen)


def tested_rows(rows: Sequence[ConditionRow]) -> list[ConditionRow]:
    """Return an agent's rows with a fault."""
    return [r for r in rows if r.condition not in (CLEAN, NO_PROXY) and not r.control and r.n]


def _change(row: ConditionRow) -> float:
    return row.delta.value if row.delta else 1.0


def _warnings(run: Run, table: Table) -> Iterator[str]:
    if not any(row.n for row in table.rows):
        yield "No trial counts, so there are no results."
        yield from _usual_void(run)
        return
    low = [f"{row.agent}, {row.condition} ({row.exposure})" for row in table.underexposed if row.n]
    if low:
        yield (
            "Hardly measured, since a fault reached fewer than half of the trials:"
            f" {_named(low, '; ')}."
        )
    if table.left_out:
        number = len(table.left_out)
        counts = "it does not count" if number == 1 else "they do not count"
        yield f"{count_noun(number, 'trial')} stayed void; {counts}."
        yield from _usual_void(run)


def _usual_void(run: Run) -> Iterator[str]:
    """Give the most frequent reason of void attempts, if there are any."""
    reasons = Counter(a.outcome.reason for a in run.attempts if isinstance(a.outcome, Void))
    for reason, number in reasons.most_common(1):
        attempts = f"{number} of {count_noun(reasons.total(), 'void attempt')}"
        yield f"{attempts}: {escape_controls(reason)[:_LONGEST_REASON]}"


def _success(table: Table, agent: str, rows: Sequence[ConditionRow]) -> str:
    tested = tested_rows(rows)
    clean = next((row for row in rows if row.condition == CLEAN and row.success.n), None)
    if clean is None:
        scored = [f"{row.success} under {row.condition}" for row in rows if row.success.n]
        if not scored:
            return "no trial was scored."
        why = f"; without {CLEAN} what faults change is not known." if tested else "."
        return _named(scored) + why
    under_clean = f"{clean.success} under {CLEAN}"
    if not tested:
        return f"{under_clean}; no fault was tried."
    by: dict[Conclusion, list[str]] = {"falls": [], "gains": [], "kept": [], "inconclusive": []}
    for row in tested:
        if row.delta is not None:
            by[conclusion_of(row.delta)].append(row.condition)
    words: dict[Conclusion, str] = {"falls": "falls", "gains": "gains", "kept": "unchanged"}
    parts = [f"{word} under {_named(by[it])}" for it, word in words.items() if by[it]]
    if len(by["inconclusive"]) == len(tested):
        which = f"all {len(tested)} faults" if len(tested) > 1 else tested[0].condition
        parts.append(f"inconclusive: {which}{_reach(table, agent)}")
    elif by["inconclusive"]:
        parts.append(f"inconclusive: {_named(by['inconclusive'])}")
    if not parts:
        return f"{under_clean}."
    alone = "".join(
        f"; on these very tasks {word} under {_named(names)}"
        for word, lost in (("falls", True), ("gains", False))
        if (names := [row.condition for row in tested if _changed_alone(row, lost=lost)])
    )
    return f"{under_clean}; on tasks like these: {'; '.join(parts)}{alone}."


def _changed_alone(row: ConditionRow, *, lost: bool) -> bool:
    """Return whether success on these very tasks changed, though on tasks like these it may not."""
    delta = row.delta
    return (
        delta is not None
        and not delta.significant
        and delta.significant_these
        and (delta.value < 0) == lost
    )


def _reach(table: Table, agent: str) -> str:
    power = dict(table.power).get(agent)
    if power is None:
        return ""
    tasks = count_noun(power.n, "task")
    drop = power.smallest_detectable_drop
    if drop is None:
        return f" ({tasks}: too few to detect even a total collapse)"
    return f" ({tasks} detect a drop of {count_noun(round(100 * drop), 'point')} or more)"


def _lost(tested: Sequence[ConditionRow]) -> str:
    deltas = [row.delta for row in tested if row.delta]
    pairs = sum(delta.pairs for delta in deltas)
    if not pairs:
        return f"not known, since there is no pair with {CLEAN}."
    number = sum(delta.lost for delta in deltas)
    won = sum(delta.won for delta in deltas)
    also = f"; {won} solved one that {CLEAN} failed" if won else ""
    of = count_noun(pairs, "trial")
    return f"{number} of {of} under faults failed a task solved under {CLEAN}{also}."


def _recovered(tested: Sequence[ConditionRow]) -> str:
    known = [row.recovery for row in tested if row.recovery is not None]
    total = Rate(sum(rate.hits for rate in known), sum(rate.n for rate in known))
    if not total.n:
        return "not known: no trial met a fault that can be judged."
    trials = count_noun(total.n, "trial")
    return f"{total.hits} of {trials} that had to recover from a fault did so."


def _cost(rows: Sequence[ConditionRow], tested: Sequence[ConditionRow], *, scripted: bool) -> str:
    if scripted:
        return "nothing was paid: the model is scripted."
    clean = next((row.cost_usd for row in rows if row.condition == CLEAN), None)
    known = [row.cost_usd.value for row in tested if row.cost_usd]
    if len(known) < len(tested):
        return "not known: a model has no price, or its calls were not seen."
    low, high = formatting.usd(min(known)), formatting.usd(max(known))
    span = low if low == high else f"{low} to {high}"
    before = "" if clean is None else f"{formatting.usd(clean.value)} a trial under {CLEAN}, "
    return f"{before}{span}{'' if before else ' a trial'} under faults."


def _named(names: Sequence[str], between: str = ", ") -> str:
    more = len(names) - _MOST_NAMES
    if more <= 1:
        return between.join(names)
    return f"{between.join(names[:_MOST_NAMES])} and {more} more"


def successes(run: Run, table: Table) -> list[str]:
    """Return the warnings of a run, and a sentence on the success of each agent."""
    lines = (
        f"{summary.title}: {dict(summary.lines)['success']}" for summary in summaries(run, table)
    )
    return [*warnings(run, table), *lines]
