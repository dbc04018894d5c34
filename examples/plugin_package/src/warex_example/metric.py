"""A metric: how many faults a trial meets."""

from warex.analysis.metrics.metric import MeanMetric, TrialMetric
from warex.analysis.trial.record import TrialRecord


def _faults_met(trial: TrialRecord) -> int | None:
    if not trial.has_trace:
        return None
    return sum(injection.fate == "delivered" for injection in trial.injections)


faults_met = MeanMetric(
    definition="Mean faults that are delivered in a trial.",
    unit="count",
    section="effort",
    screen="effort",
    trial=TrialMetric(int, _faults_met, "Faults that were delivered."),
)
