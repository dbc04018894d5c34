"""Figures of the tasks of one trial, if one command ran several.

Traffic does not show whether a task was done.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from warex.analysis.recovery import Recovery, Twin, recoveries, trial_recovered
from warex.analysis.trial.attribution import TaskRun, entries_by_task
from warex.analysis.trial.injections import injections, occurrences
from warex.analysis.trial.usage import LlmUsage, llm_usage
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.prices.table import PriceTable
from warex.traces.events import Entry, LlmCall, RequestSeen, TaskBegan


@dataclass(frozen=True, slots=True)
class TaskUse:
    """One run of a task, or everything that is unattributed."""

    task: str
    """Empty: unattributed."""
    run: int
    """Number among the runs of this task, from 1."""
    told_by: str | None
    """How the task was set; None if unattributed."""
    seed: int | None
    exchanges: int
    """Requests seen, without LLM calls."""
    llm: LlmUsage
    delivered: int
    """Occurrences of delivered faults."""
    missed: int
    recoveries: tuple[Recovery, ...]

    @property
    def recovered(self) -> bool | None:
        """Whether the agent recovered from each injection; None if unknown."""
        return trial_recovered(self.recoveries) if self.task else None


def task_uses(
    entries: Sequence[Entry],
    prices: PriceTable,
    vocabulary: Vocabulary | None = None,
    twins: Mapping[TaskRun, Twin] = MappingProxyType({}),
) -> tuple[TaskUse, ...]:
    """Return the runs of a trial's tasks in order, then what is unattributed.

    Empty if the trace has no task. ``twins``: the same tasks in the clean trial.
    """
    parts = sorted(entries_by_task(entries).items(), key=lambda each: not each[0].task)
    uses = (_use(run, part, prices, vocabulary, twins.get(run)) for run, part in parts)
    return tuple(it for it in uses if it.task or it.exchanges or it.llm.calls or it.delivered)


def _use(
    run: TaskRun,
    entries: Sequence[Entry],
    prices: PriceTable,
    vocabulary: Vocabulary | None,
    twin: Twin | None,
) -> TaskUse:
    began = next((e.event for e in entries if isinstance(e.event, TaskBegan)), None)
    requests = {e.event.exchange for e in entries if isinstance(e.event, RequestSeen)}
    calls = {e.event.carrier for e in entries if isinstance(e.event, LlmCall)}
    injections_met = occurrences(injections(entries))
    delivered = sum(each.fate == "delivered" for each in injections_met)
    return TaskUse(
        task=run.task,
        run=run.number,
        told_by=began.told_by if began else None,
        seed=began.seed if began else None,
        exchanges=len(requests - calls),
        llm=llm_usage(entries, prices),
        delivered=delivered,
        missed=sum(each.fate == "missed" for each in injections_met),
        recoveries=recoveries(entries, vocabulary, twin=twin) if delivered and run.task else (),
    )
