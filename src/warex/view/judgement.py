"""What is judged of a trial: its recoveries, and the cost of each call."""

from typing import Any, Final

from warex.analysis.inspection.timeline import inspect_trial
from warex.errors import TraceError
from warex.report.text.outcomes import describe_recovery
from warex.traces.paths import EVENTS
from warex.view.run_document import Attempt

LARGEST_JUDGED: Final = 1 << 27
"""Bytes of a trace; a verdict needs all of it in memory."""
LARGEST_JUDGED_AT_ONCE: Final = 1 << 20
"""Bytes of a trace whose judgement is in the trial's own document."""


def judgement(attempt: Attempt) -> dict[str, Any]:
    """Return the verdicts by injection and the costs by line; or why there are none."""
    if (size := _size(attempt)) > LARGEST_JUDGED:
        return _none(
            f"The trace has {size / 1e6:,.0f} MB: `warex inspect {attempt.path}` judges it, the"
            " viewer does not."
        )
    try:
        trial = inspect_trial(attempt.path).trial
    except TraceError as error:
        return _none(f"The recovery is not judged: {error}")
    return {
        "recovery": describe_recovery(trial),
        "problem": trial.truncated,
        "verdicts": {
            one.injection: {
                "verdict": one.verdict,
                "why": one.why,
                "confidence": one.confidence,
                "call_seq": one.call_seq,
                "request_seq": one.request_seq,
            }
            for one in trial.recoveries
        },
        "costs": {call.seq: call.cost_usd for call in trial.llm.calls} if trial.llm else {},
    }


def is_judged_at_once(attempt: Attempt) -> bool:
    """Whether the judgement takes no longer than the trial itself."""
    return _size(attempt) <= LARGEST_JUDGED_AT_ONCE


def _size(attempt: Attempt) -> int:
    try:
        return (attempt.path / EVENTS).stat().st_size
    except OSError:
        return 0


def _none(problem: str) -> dict[str, Any]:
    return {"recovery": "not judged", "problem": problem, "verdicts": {}, "costs": {}}
