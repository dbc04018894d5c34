"""A run's folder: one frozen configuration, locked by one process."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from warex.campaigns.plan.grid import TrialHistory
from warex.errors import InputError, TraceError
from warex.files.private import make_private_dir
from warex.llm.prices.table import PriceTable
from warex.traces import (
    MANIFEST,
    PRICES,
    Manifest,
    TrialKey,
    find_trials,
    read_manifest,
    read_outcome,
    redact_manifest,
    write_error,
    write_manifest,
)
from warex.traces.files import write_atomic

_MUTABLE_KEYS = ("budget", "jobs", "notes", "prices")
"""Keys of a campaign that do not affect its trials; the latest values are kept."""
_OF_PRICES = ("prices_date", "prices_source", "prices_digest")


@contextmanager
def open_run_folder(
    run: Path,
    manifest: Manifest,
    prices: PriceTable,
    *,
    resume: bool,
    notice: Callable[[str], None] = lambda sentence: None,
) -> Iterator[dict[TrialKey, TrialHistory]]:
    """Lock a new or resumed run folder; yield the history of its trials.

    ``prices`` is the table for computing costs without the campaign's own prices; it is kept with
    the run. ``notice`` is called if it, or a version of another program, differs from the start.
    Raises InputError if the folder holds another run, this one with another configuration or
    version, an unreadable one, or one that is running; MachineError if it cannot be written.
    """
    with _locked(run):
        if (run / MANIFEST).exists():
            if not resume:
                raise InputError(
                    f"{run} holds a run already; give --resume to go on with it, or another --out"
                )
            _resume(run, redact_manifest(manifest), prices, notice)
        else:
            if any(path for path in run.iterdir() if not _is_partial_write(path)):
                raise InputError(f"{run} is not empty and holds no run; give another --out")
            if resume:
                notice(f"{run} holds no run to resume, so this one begins again")
            write_atomic(run / PRICES, prices.json_bytes())
            write_manifest(run / MANIFEST, manifest)
        yield read_history(run)


def read_history(run: Path) -> dict[TrialKey, TrialHistory]:
    """Return the history of a run's trials from its folder. Raises TraceError for an outcome."""
    history: dict[TrialKey, TrialHistory] = {}
    for key, attempt, folder in find_trials(run):
        before = history.get(key, TrialHistory())
        try:
            outcome = read_outcome(folder)
        except TraceError as error:
            raise TraceError(
                f"{error} Remove that file, and the trial is run again; the others stay as they are"
            ) from None
        outcomes = before.outcomes if outcome is None else (*before.outcomes, outcome)
        history[key] = TrialHistory(outcomes, max(before.last, attempt))
    return history


@contextmanager
def _locked(run: Path) -> Iterator[None]:
    try:
        make_private_dir(run)
        handle = os.open(run, os.O_RDONLY)
    except FileExistsError:
        raise InputError(f"{run} is a file; a run needs a folder: give another --out") from None
    except OSError as error:
        raise write_error(run, error) from None
    try:
        try:
            # The kernel releases the lock when the process ends.
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"another process is running in {run}; let it end, or give another --out"
            ) from None
        yield
    finally:
        os.close(handle)


def _is_partial_write(path: Path) -> bool:
    """Whether a file is left from a writer that was killed before the manifest was written."""
    return path.name == PRICES or path.name.startswith((f".{MANIFEST}.", f".{PRICES}."))


def _resume(run: Path, now: Manifest, prices: PriceTable, notice: Callable[[str], None]) -> None:
    before = read_manifest(run / MANIFEST)
    begun, this = before.versions.get("warex"), now.versions.get("warex")
    if begun != this:
        raise InputError(
            f"{run} was started by WAREX {begun}, and this is {this}, whose trials may differ; go"
            " on with that version, or give another --out"
        )
    then, current = before.campaign, now.campaign
    changed = {key for key in then.keys() | current.keys() if then.get(key) != current.get(key)}
    if other := sorted(changed.difference(_MUTABLE_KEYS)):
        verb = "differs" if len(other) == 1 else "differ"
        raise InputError(
            f"{run} was started with another configuration ({', '.join(other)} {verb}); give"
            " another --out, or the campaign as it was"
        )
    for name, version in before.versions.items():
        if now.versions.get(name) != version:
            notice(
                f"{run} was started with {name} {version}, and this is"
                f" {now.versions.get(name, 'without it')}: trials before and after may differ"
            )
    repriced = before.prices_digest != now.prices_digest
    if repriced:
        notice(
            f"{run} was started at the prices of {before.prices_date}; all of its trials are"
            f" counted at those of {now.prices_date} now, from {now.prices_source}"
        )
        write_atomic(run / PRICES, prices.json_bytes())
    if changed or repriced:
        frozen = {key: value for key, value in then.items() if key not in _MUTABLE_KEYS}
        last = {key: current[key] for key in _MUTABLE_KEYS if key in current}
        named = {key: getattr(now, key) for key in _OF_PRICES} if repriced else {}
        update = {"campaign": frozen | last, **named}
        write_manifest(run / MANIFEST, before.model_copy(update=update))
