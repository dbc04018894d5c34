"""A run as the viewer shows it: its verdict, its conditions, and a line for each trial."""

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warex.analysis.output.summary import SUMMARY_VERSION, summarise
from warex.analysis.run.folder_hints import folder_hint, is_attempt
from warex.analysis.run.load import load_run
from warex.analysis.table.tabulate import tabulate
from warex.errors import TraceError
from warex.files.reading import path_exists, read_regular_file
from warex.traces.outcome import Counted, Outcome, Unscored, Void
from warex.traces.outcome_file import read_outcome
from warex.traces.paths import EVENTS, MANIFEST, TRIALS, TrialKey, find_attempts, place_id

SUMMARY = "summary.json"
_LARGE = 1 << 25
"""Bytes of traces, above which figures are computed when they are asked for."""
CONDITION_FIGURES = (
    *(
        "success",
        "delta",
        "recovery",
        "exposure",
        "false_success",
        "cost_usd",
        "latency_s",
        "steps",
    ),
    *("voids", "planned", "delivered", "n", "parting"),
)
"""The figures of a condition that the viewer shows, by their keys in ``summary.json``."""
TRIAL_FIGURES = (
    *("score", "latency_s", "steps", "cost_usd", "recovered", "detected", "false_success"),
    *("planned", "delivered", "site", "faults", "void_reason"),
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a run."""

    id: str
    """Derived from its place in the run, so that links stay valid."""
    key: TrialKey
    number: int
    folder: str
    place: str
    """Its path within the run."""

    @property
    def path(self) -> Path:
        """Its folder."""
        return Path(self.folder)


def require_run(run: Path) -> None:
    """Raise TraceError for a folder that is neither a run nor a trial of its own."""
    if not run.is_dir():
        raise TraceError(f"{run} is not a folder, so there is no run to read.")
    is_run = path_exists(run / MANIFEST) or (run / TRIALS).is_dir()
    if not is_run and not is_attempt(run):
        raise TraceError(
            f"{run} is not a run: it has neither a {MANIFEST} nor trials. {folder_hint(run)}"
        )


def attempts_of(run: Path) -> dict[str, Attempt]:
    """Return the attempts of a run by their ids; raise TraceError if the folder is not a run.

    A trial that is not part of a campaign, as ``warex exec`` writes one, is a run of itself.
    """
    if is_attempt(run):
        key = TrialKey(benchmark="", agent="command", condition="trial", task=run.resolve().name)
        return {place_id("."): Attempt(place_id("."), key, 1, str(run), ".")}
    attempts: dict[str, Attempt] = {}
    prefix = f"{run.as_posix()}/"
    for key, number, folder in find_attempts(run):
        place = folder.removeprefix(prefix)
        attempt = Attempt(place_id(place), key, number, folder, place)
        attempts[attempt.id] = attempt
    return attempts


def run_document(run: Path, attempts: Mapping[str, Attempt]) -> dict[str, Any]:
    """Return a run as JSON: from ``summary.json`` if that is of these attempts, else outcomes only.

    ``has_figures`` says which, and ``is_large`` whether to compute them takes long.
    """
    summary = _written_summary(run)
    figures = _figures_by_path(summary)
    rows = [_row(attempt, figures) for attempt in attempts.values()]
    # Figures of a campaign compare its trials; a trial of its own has none.
    has_figures = is_attempt(run) or (
        summary is not None and all(row["has_figures"] for row in rows)
    )
    name = summary.get("campaign") if summary else None
    return {
        "name": str(name or run.resolve().name),
        "path": str(run),
        "has_figures": has_figures,
        "is_large": not has_figures and _is_large(attempts.values()),
        "verdict": summary["verdict"] if summary and has_figures else [],
        "conditions": [_condition(each) for each in summary["conditions"]]
        if summary and has_figures
        else [],
        "trials": rows,
    }


def full_run_document(run: Path, attempts: Mapping[str, Attempt]) -> dict[str, Any]:
    """Return a run as JSON, with its figures computed from the traces.

    Raises TraceError for a damaged trace.
    """
    loaded = load_run(run)
    summary = json.loads(json.dumps(summarise(loaded, tabulate(loaded))))
    figures = _figures_by_path(summary)
    return {
        "name": summary["campaign"],
        "path": str(run),
        "has_figures": True,
        "is_large": False,
        "verdict": summary["verdict"],
        "conditions": [_condition(each) for each in summary["conditions"]],
        "trials": [_row(attempt, figures) for attempt in attempts.values()],
    }


def _is_large(attempts: Iterable[Attempt]) -> bool:
    """Whether the traces have more bytes than are read without being asked to."""
    size = 0
    for attempt in attempts:
        with suppress(OSError):
            size += os.stat(f"{attempt.folder}/{EVENTS}").st_size
        if size > _LARGE:
            return True
    return False


def _written_summary(run: Path) -> dict[str, Any] | None:
    """Return the run's ``summary.json``; None if there is none that can be read."""
    try:
        summary = json.loads(read_regular_file(run / SUMMARY))
    except (OSError, ValueError):
        return None
    is_known = isinstance(summary, dict) and summary.get("schema_version") == SUMMARY_VERSION
    return summary if is_known else None


def _figures_by_path(summary: Mapping[str, Any] | None) -> dict[str, Mapping[str, Any]]:
    return {str(trial["path"]): trial for trial in summary["trials"]} if summary else {}


def _condition(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row.get(name) for name in ("agent", "condition", *CONDITION_FIGURES)}


def _row(attempt: Attempt, figures: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    key = attempt.key
    known = figures.get(attempt.place)
    state, score = _state(attempt.folder)
    row: dict[str, Any] = {
        "id": attempt.id,
        "benchmark": key.benchmark,
        "agent": key.agent,
        "condition": key.condition,
        "task": key.task,
        "repeat": key.repeat,
        "attempt": attempt.number,
        "state": state,
        "score": score,
        "has_figures": known is not None or state in ("void", "running", "damaged"),
    }
    if known is not None:
        row |= {name: known.get(name) for name in TRIAL_FIGURES}
    return row


def _state(folder: str) -> tuple[str, float | None]:
    """Return an attempt's state in one word, and its score."""
    try:
        outcome = read_outcome(folder)
    except TraceError:
        return "damaged", None
    return state_of(outcome), outcome.score if isinstance(outcome, Counted) else None


def state_of(outcome: Outcome | None) -> str:
    """Return the word by which the viewer knows an outcome."""
    match outcome:
        case Counted(score=score):
            return "solved" if score >= 1 else "failed"
        case Void():
            return "void"
        case Unscored():
            return "unscored"
        case None:
            return "running"
