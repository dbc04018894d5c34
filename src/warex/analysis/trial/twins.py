"""Finds the clean trial of the same task, agent and repeat, which shows what the task requests."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from warex.analysis.recovery import Twin
from warex.analysis.trial.attribution import UNATTRIBUTED, TaskRun, entries_by_task
from warex.errors import TraceError
from warex.files.reading import path_exists
from warex.traces.outcome import Counted
from warex.traces.outcome_file import read_outcome
from warex.traces.paths import CLEAN, EVENTS, TrialKey, attempt_dir, attempt_numbers
from warex.traces.reader import read_trace

_MOST_CACHED = 512
"""Clean trials that are kept for the other conditions of their tasks."""


def twins_of(run: Path, key: TrialKey) -> Mapping[TaskRun, Twin]:
    """Return the parts of the clean trial by task; by ``UNATTRIBUTED`` if the trace has no task.

    Empty if there is no counted clean trial in the run whose trace can be read, or for a clean
    trial itself.
    """
    try:
        attempt = clean_attempt(run, key)
        if attempt is None:
            return {}
        trace = attempt / EVENTS
        return _read(trace, trace.stat().st_mtime_ns)
    except TraceError:
        # A reader of the clean trial itself gets the message.
        return {}


def clean_attempt(run: Path, key: TrialKey) -> Path | None:
    """Return the last counted attempt of the clean trial of the same task, agent and repeat.

    None if there is none with a trace, or for a clean trial itself. Raises TraceError for a damaged
    outcome.
    """
    clean = replace(key, condition=CLEAN)
    if clean == key:
        return None
    for number in reversed(attempt_numbers(run, clean)):
        folder = attempt_dir(run, clean, number)
        if isinstance(read_outcome(folder), Counted) and path_exists(folder / EVENTS):
            return folder
    return None


@lru_cache(maxsize=_MOST_CACHED)
def _read(trace: Path, _modified: int) -> Mapping[TaskRun, Twin]:
    entries = read_trace(trace, lean=True).entries
    parts = entries_by_task(entries) or {UNATTRIBUTED: entries}
    return {run: Twin(part) for run, part in parts.items()}
