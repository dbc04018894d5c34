"""Outcomes and recoveries in words."""

from warex.analysis.trial.record import TrialRecord
from warex.traces.outcome import Counted, Outcome, Unscored, Void


def describe_outcome(outcome: Outcome | None) -> str:
    """Describe the outcome of a trial."""
    match outcome:
        case Counted() as counted:
            word = "success" if counted.score >= 1 else "failure"
            return f"{word}: score {counted.score:g}, {counted.summary}"
        case Unscored() as unscored:
            return ": ".join(filter(None, ("unscored", unscored.summary)))
        case Void() as void:
            return f"void: {void.reason}"
        case None:
            return "not finished"


def describe_recovery(trial: TrialRecord) -> str:
    """Describe the agent's recovery from the faults of a trial."""
    if not trial.exposed:
        return "not exposed"
    if trial.recovered is not None:
        return "recovered" if trial.recovered else "not recovered"
    return "no recovery needed" if trial.needed_no_recovery else "recovery not judged"
