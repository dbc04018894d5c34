"""Finds the attempts that stand for their trials."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from warex.analysis.run.folder_hints import is_attempt
from warex.files.reading import path_exists
from warex.traces.paths import OUTCOME


def last_attempts(folder: Path) -> Iterator[Path]:
    """Yield each trial's last attempt with an outcome, or else its last one, in order.

    ``folder`` may be an attempt, a trial, a condition, a run.
    """
    if is_attempt(folder):
        yield folder
        return
    attempts = [attempt for attempt in folder.rglob("attempt-*") if is_attempt(attempt)]
    attempts.sort(key=lambda path: (path.parent, len(path.name), path.name))
    for _, each in groupby(attempts, key=lambda path: path.parent):
        numbered = list(each)
        finished = [attempt for attempt in numbered if path_exists(attempt / OUTCOME)]
        yield (finished or numbered)[-1]
