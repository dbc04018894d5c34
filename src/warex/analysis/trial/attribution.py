"""Assigns each line of a trace to a task, for a trial in which one command ran several.

A task that began twice has two runs. Lines that belong to no known task are unattributed.
"""

from collections.abc import Sequence
from typing import NamedTuple

from warex.traces.events import Entry, FaultPlanned, RequestSeen, TaskBegan, TaskEnded


class TaskRun(NamedTuple):
    """One run of a task."""

    task: str
    """Empty: unattributed."""
    number: int = 1
    """Number of the run among those of this task, from 1."""


UNATTRIBUTED = TaskRun("")


def tasks_by_exchange(entries: Sequence[Entry]) -> dict[str, TaskRun]:
    """Return the run that each exchange belongs to; empty if the trace has no task."""
    if not _has_markers(entries):
        return {}
    tasks: dict[str, TaskRun] = {}
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
                tasks[exchange] = TaskRun(task, runs.get(task, 1)) if task else UNATTRIBUTED
            case FaultPlanned(exchange=exchange, point=str()):
                # A connection try belongs to the task that was set for all connections.
                tasks[exchange] = main
            case _:
                pass
    return tasks


def entries_by_task(entries: Sequence[Entry]) -> dict[TaskRun, tuple[Entry, ...]]:
    """Return the lines of each run of a task, in order; empty if the trace has no task.

    Lines without an exchange are left out, except those that arm and disarm.
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
