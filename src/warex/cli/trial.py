"""Which attempt a person means who names a trial."""

from pathlib import Path


def attempt_of(trial: Path) -> Path:
    """Return the last attempt of a trial's folder; anything else as it is."""
    attempts = sorted(trial.glob("attempt-*"), key=lambda path: (len(path.name), path.name))
    return attempts[-1] if attempts else trial
