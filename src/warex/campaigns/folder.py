"""A run's folder: begun once under one frozen configuration, gone on with by nobody else."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warex.campaigns.plan import Past
from warex.errors import InputError
from warex.traces import (
    MANIFEST,
    Manifest,
    TrialKey,
    cannot_write,
    find_trials,
    read_manifest,
    read_outcome,
    redact_manifest,
    write_manifest,
)


@contextmanager
def opened(run: Path, manifest: Manifest, *, resume: bool) -> Iterator[dict[TrialKey, Past]]:
    """Hold a run's folder, a new one or one to go on with; yield what its trials have come to.

    Raises InputError where it holds another run, this one under another configuration, or one that
    still runs; MachineError where it cannot be written.
    """
    with _held(run):
        if (run / MANIFEST).exists():
            if not resume:
                raise InputError(
                    f"{run} holds a run already; give --resume to go on with it, or another --out"
                )
            _require_same(run, manifest)
        else:
            if any(run.iterdir()):
                raise InputError(f"{run} is not empty and holds no run; give another --out")
            write_manifest(run / MANIFEST, manifest)
        yield _past(run)


@contextmanager
def _held(run: Path) -> Iterator[None]:
    try:
        run.mkdir(parents=True, exist_ok=True)
        handle = os.open(run, os.O_RDONLY)
    except FileExistsError:
        raise InputError(f"{run} is a file; a run needs a folder: give another --out") from None
    except OSError as error:
        raise cannot_write(run, error) from None
    try:
        _lock(handle, run)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, run: Path) -> None:
    try:
        # The lock goes with its process, however that ends.
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            f"another process is running in {run}; let it end, or give another --out"
        ) from None


def _require_same(run: Path, manifest: Manifest) -> None:
    before, now = read_manifest(run / MANIFEST).campaign, redact_manifest(manifest).campaign
    changed = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
    if changed:
        raise InputError(
            f"{run} was begun under another configuration ({', '.join(changed)} differ); give"
            " another --out, or the campaign as it was"
        )


def _past(run: Path) -> dict[TrialKey, Past]:
    found: dict[TrialKey, Past] = {}
    for key, attempt, folder in find_trials(run):
        before = found.get(key, Past())
        outcome = read_outcome(folder)
        outcomes = before.outcomes if outcome is None else (*before.outcomes, outcome)
        found[key] = Past(outcomes, max(before.last, attempt))
    return found
