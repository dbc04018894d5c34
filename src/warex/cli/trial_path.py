"""Finds the attempt that a trial's path means."""

from pathlib import Path

from warex.errors import TraceError
from warex.files.reading import path_exists


def latest_attempt(trial: Path) -> Path:
    """Return the last attempt in a trial's folder, or any other path unchanged."""
    attempts = sorted(trial.glob("attempt-*"), key=lambda path: (len(path.name), path.name))
    return attempts[-1] if attempts else trial


def find_trace(trial: Path) -> Path:
    """Return the last attempt in a trial's folder, or any other path unchanged.

    Raises TraceError, with a hint what it is instead, for a folder without a trace.
    """
    from warex.traces.paths import EVENTS

    attempt = latest_attempt(trial)
    if attempt.is_dir() and not path_exists(attempt / EVENTS):
        from warex.analysis.run.folder_hints import folder_hint

        raise TraceError(
            f"{attempt / EVENTS} does not exist, so there is no trace to read. {folder_hint(trial)}"
        )
    return attempt
