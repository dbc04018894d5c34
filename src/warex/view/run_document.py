"""A run as the viewer shows it: its verdict, its conditions, and a line for each trial."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warex.analysis.output.summary import SUMMARY_VERSION, summarise
from warex.analysis.run.load import load_run
from warex.analysis.table.tabulate import tabulate
from warex.errors import TraceError
from warex.files.reading import read_regular_file
from warex.traces.outcome import Counted, Unscored, Void
from warex.traces.outcome_file import read_outcome
from warex.traces.paths import CLEAN, TrialKey, attempt_id, find_trials

SUMMARY = "summary.json"
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
    *("voids", "planned", "delivered", "n"),
)
"""The figures of a condition that the viewer shows, by their keys in ``summary.json``."""
TRIAL_FIGURES = (
    *("score", "latency_s", "steps", "cost_usd", "recovered", "detected", "false_success"),
    *("planned", "delivered", "site", "ending", "void_reason"),
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a run."""

    id: str
    """Derived from its place in the run, so that links stay valid."""
    key: TrialKey
    number: int
    path: Path


def attempts_of(run: Path) -> dict[str, Attempt]:
    """Return the attempts of a run by their ids. Raises TraceError for a folder that is no run."""
    attempts: dict[str, Attempt] = {}
    for key, number, path in find_trials(run):
        attempt = Attempt(attempt_id(run, path), key, number, path)
        attempts[attempt.id] = attempt
    return attempts


def clean_twin(attempts: Mapping[str, Attempt], key: TrialKey) -> Attempt | None:
    """Return the last attempt of the clean trial of the same task, agent and repeat."""
    if key.condition == CLEAN:
        return None
    same = [
        attempt
        for attempt in attempts.values()
        if attempt.key.condition == CLEAN
        and (attempt.key.benchmark, attempt.key.agent, attempt.key.task, attempt.key.repeat)
        == (key.benchmark, key.agent, key.task, key.repeat)
    ]
    return max(same, key=lambda attempt: attempt.number, default=None)


def run_document(run: Path, attempts: Mapping[str, Attempt]) -> dict[str, Any]:
    """Return a run as JSON: from ``summary.json`` if that is of these attempts, else outcomes only.

    ``has_figures`` says which.
    """
    summary = _written_summary(run)
    figures = _figures_by_path(summary)
    rows = [_row(run, attempt, figures) for attempt in attempts.values()]
    has_figures = summary is not None and all(row["has_figures"] for row in rows)
    name = summary.get("campaign") if summary else None
    return {
        "name": str(name or run.resolve().name),
        "path": str(run),
        "has_figures": has_figures,
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
        "verdict": summary["verdict"],
        "conditions": [_condition(each) for each in summary["conditions"]],
        "trials": [_row(run, attempt, figures) for attempt in attempts.values()],
    }


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


def _row(run: Path, attempt: Attempt, figures: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    key = attempt.key
    known = figures.get(attempt.path.relative_to(run).as_posix())
    state, score = _state(attempt.path)
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


def _state(path: Path) -> tuple[str, float | None]:
    """Return an attempt's state in one word, and its score."""
    try:
        outcome = read_outcome(path)
    except TraceError:
        return "damaged", None
    match outcome:
        case Counted(score=score):
            return ("solved" if score >= 1 else "failed"), score
        case Void():
            return "void", None
        case Unscored():
            return "unscored", None
        case None:
            return "running", None
