"""The trials beside which one may be laid: clean twin, other repeats, agents, versions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from warex.traces.paths import CLEAN, TrialKey
from warex.view.run_document import Attempt

MOST: Final = 200
"""Trials that are offered."""
_PARTS: Final = ("agent", "condition", "repeat")


def comparable(
    runs: Sequence[Mapping[str, Attempt]], names: Sequence[str], number: int, attempt: Attempt
) -> list[dict[str, Any]]:
    """Return the trials of the same task that differ in one thing, the clean twin first.

    ``number``: of the attempt's run.
    """
    runs_found = list(_other_attempts(runs, names, number, attempt))
    order = ["clean twin", "attempt", "repeat", "agent", "run", "condition"]
    runs_found.sort(key=lambda other: order.index(other["differs"]))
    return runs_found[:MOST]


def _other_attempts(
    runs: Sequence[Mapping[str, Attempt]], names: Sequence[str], number: int, attempt: Attempt
) -> Iterator[dict[str, Any]]:
    for run, attempts in enumerate(runs):
        for other in attempts.values():
            if run == number and other.id == attempt.id:
                continue
            if what := _difference(attempt, other, is_same_run=run == number):
                differs, label = what
                yield {
                    "run": run,
                    "id": other.id,
                    "differs": differs,
                    "label": names[run] if differs == "run" else label,
                }


def _difference(attempt: Attempt, other: Attempt, *, is_same_run: bool) -> tuple[str, str] | None:
    """Return the one thing in which an attempt differs, and what it is; None if there are more."""
    mine, theirs = attempt.key, other.key
    if (mine.benchmark, mine.task) != (theirs.benchmark, theirs.task):
        return None
    if not is_same_run:
        return ("run", "") if mine == theirs else None
    if mine == theirs:
        return "attempt", f"attempt {other.number}"
    for part in _PARTS:
        value = getattr(theirs, part)
        if replace(mine, **{part: value}) == theirs:
            is_twin = part == "condition" and theirs.condition == CLEAN
            return ("clean twin" if is_twin else part), f"{part} {value}"
    return None


def clean_twin(attempts: Mapping[str, Attempt], key: TrialKey) -> Attempt | None:
    """Return the last attempt of the clean trial of the same task, agent and repeat."""
    if key.condition == CLEAN:
        return None
    clean = replace(key, condition=CLEAN)
    same = [attempt for attempt in attempts.values() if attempt.key == clean]
    return max(same, key=lambda attempt: attempt.number, default=None)
