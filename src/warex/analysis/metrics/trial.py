"""The values of one trial: its outcome, and its value of each metric."""

from collections.abc import Callable
from typing import Any, Final

from warex.analysis.metrics.metric import TrialMetric
from warex.analysis.metrics.row import METRICS
from warex.analysis.trial.record import TrialRecord
from warex.traces.outcome import Outcome, Void


def _outcome(read: Callable[[Outcome], str | None]) -> Callable[[TrialRecord], str | None]:
    """Return a reader of a trial's outcome; it returns None if there is none."""
    return lambda trial: read(trial.outcome) if trial.outcome else None


TRIAL_METRICS: Final[tuple[TrialMetric[Any], ...]] = (
    TrialMetric(
        str,
        _outcome(lambda outcome: outcome.outcome),
        "`counted`, `unscored` or `void`; null if it was never finished.",
        "outcome",
    ),
    TrialMetric(
        str,
        _outcome(lambda outcome: None if isinstance(outcome, Void) else outcome.ending),
        "How the agent ended: `answered`, `reported_infeasible`, `step_limit`…",
        "ending",
    ),
    TrialMetric(
        str,
        _outcome(lambda outcome: outcome.reason if isinstance(outcome, Void) else None),
        "Why the trial is void.",
        "void_reason",
    ),
    *(metric.trial for metric in METRICS if metric.trial),
    TrialMetric(
        int,
        lambda trial: len(trial.llm_unread) if trial.has_trace else None,
        "Requests that look like calls to a model and could not be read.",
        "llm_unread",
    ),
    TrialMetric(
        str,
        lambda trial: ": ".join(trial.llm_unread[0]) if trial.llm_unread else None,
        "The first such request: its URL and the reason.",
        "llm_unread_first",
    ),
    TrialMetric(
        bool, lambda trial: trial.has_faults, "Whether a scenario was loaded.", "has_faults"
    ),
    TrialMetric(
        str,
        lambda trial: trial.never_armed,
        "`first_page` or `first_llm_call` if the scenario waited for that event and it never came.",
        "never_armed",
    ),
    TrialMetric(str, lambda trial: trial.site, "Host of the first page.", "site"),
    TrialMetric(int, lambda trial: trial.seed, "The trial's.", "seed"),
    TrialMetric(
        bool,
        lambda trial: trial.canary,
        "Whether a page proved that the agent's browser uses the proxy.",
        "canary",
    ),
    TrialMetric(
        str, lambda it: it.truncated, "A sentence if the end of the trace is missing.", "trace_cut"
    ),
)
"""In the order of their columns."""
