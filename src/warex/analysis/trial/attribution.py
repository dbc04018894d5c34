"""To which task of a trial each line of its trace belongs, where one command ran several.

A task that began twice is two runs of it. What nobody could tell is unattributed.
"""

from collections.abc import Sequence
from typing import NamedTuple

from warex.traces.events import Entry, FaultPlanned, RequestSeen, TaskBegan, TaskEnded


class TaskRun(NamedTuple):
    """One run of a task."""

    task: str
    """Empty: unattributed."""
    number: int = 1
    """The how manieth of this task it is, from 1."""


UNATTRIBUTED = TaskRun("")


def tasks_by_exchange(entries: Sequence[Entry]) -> dict[str, TaskRun]:
    """Return the run that each exchange belongs to; empty where no task was told of."""
    if not _has_markers(entries):
        return {}
    found: dict[str, TaskRun] = {}
    runs: dict[str, int] = {}
    main = UNATTRIBUTED
    for entry in entries:
        match entry.event:
            case TaskBegan(task=task) as began:
                runs[task] = runs.get(task, 0) + 1
                if not began.beside:
                    main = TaskRun(task, runs[task])
            case TaskEnded():
                main = UNATTRIBUTED
            case RequestSeen(exchange=exchange, task=task):
                found[exchange] = TaskRun(task, runs.get(task, 1)) if task else UNATTRIBUTED
            case FaultPlanned(exchange=exchange, point=str()):
                # An attempt to reach a site: it follows the task that is told for all.
                found[exchange] = main
            case _:
                pass
    return found


def entries_by_task(entries: Sequence[Entry]) -> dict[TaskRun, tuple[Entry, ...]]:
    """Return the lines of each run of a task, in order; empty where no task was told of.

    What is about no exchange is not among them, but for what arms and disarms.
    """
    if not _has_markers(entries):
        return {}
    of = tasks_by_exchange(entries)
    parts: dict[TaskRun, list[Entry]] = {}
    runs: dict[str, TaskRun] = {}
    main = UNATTRIBUTED
    for entry in entries:
        run: TaskRun | None = None
        match entry.event:
            case TaskBegan(task=task) as began:
                run = runs[task] = TaskRun(task, runs[task].number + 1 if task in runs else 1)
                main = main if began.beside else run
            case TaskEnded():
                run, main = main, UNATTRIBUTED
            case event:
                exchange = str(getattr(event, "exchange", None) or "").partition("/")[0]
                task = getattr(event, "task", "")
                about = event.event in ("armed", "disarmed")
                run = runs.get(task, main) if about else of.get(exchange)
        if run is not None:
            parts.setdefault(run, []).append(entry)
    return {run: tuple(part) for run, part in parts.items()}


def _has_markers(entries: Sequence[Entry]) -> bool:
    return any(type(entry.event) is TaskBegan for entry in entries)
