"""Where a trial parts from its clean twin."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from warex.analysis.steps.divergence import Place, equal_steps, place_of
from warex.analysis.steps.path import TrialPath, trial_path
from warex.traces.events import Entry
from warex.traces.paths import EVENTS
from warex.traces.reader import read_trace

type Parting = Place | Literal["same"]
"""Where two trials part; ``same``: both do the same."""


def parting(entries: Sequence[Entry], attempt: Path, twin: Path) -> Parting:
    """Return where two attempts part; ``entries`` are the first one's. Raises TraceError.

    Prompts are read only where an action names an element that may have another id in the other
    trial, since they are most of a trace.
    """
    one, other = trial_path(entries), _lean_path(twin / EVENTS, _modified(twin))
    equal = equal_steps(one, other)
    if _needs_prompts(one, other, equal):
        one, other = _full_path(attempt), _full_path(twin)
        equal = equal_steps(one, other)
    return place_of(one, other, equal) or "same"


def _needs_prompts(one: TrialPath, other: TrialPath, equal: int) -> bool:
    """Whether ids of elements may stand for others: at the divergence, or on changed pages."""
    changed = any(fault.changes_page for fault in (*one.faults, *other.faults))
    first = 0 if changed else equal
    return any(
        mine.names_elements or theirs.names_elements
        for mine, theirs in zip(
            one.steps[first : equal + 1], other.steps[first : equal + 1], strict=False
        )
    )


def _modified(attempt: Path) -> int:
    return (attempt / EVENTS).stat().st_mtime_ns


def _full_path(attempt: Path) -> TrialPath:
    return trial_path(read_trace(attempt / EVENTS).entries)


@lru_cache(maxsize=512)
def _lean_path(trace: Path, _modified: int) -> TrialPath:
    return trial_path(read_trace(trace, lean=True).entries)
