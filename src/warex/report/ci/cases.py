"""A run's gates and trials as the cases of a test suite."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from warex.analysis.output.thresholds import Judgement
from warex.analysis.run.load import Run
from warex.analysis.trial.record import TrialRecord
from warex.traces.outcome import Counted, Unscored, Void

type CaseEnd = Literal["passed", "failed", "error", "skipped"]
type OnUnclear = Literal["pass", "fail"]


@dataclass(frozen=True, slots=True)
class Case:
    """One test of a suite."""

    group: str
    """The name of its class, with dots."""
    name: str
    end: CaseEnd
    message: str = ""
    """Why it did not pass."""
    seconds: float | None = None


def gate_cases(
    judgement: Judgement | None, on_unclear: OnUnclear | None = None
) -> tuple[Case, ...]:
    """Return a case for each gate, in the order in which they were given.

    An undecided gate is skipped, as in pytest, unless ``on_unclear`` decides otherwise.
    """
    if judgement is None:
        return ()
    gates = dict.fromkeys(row.gate for row in judgement.rows)
    return tuple(_gate_case(judgement, gate, on_unclear) for gate in gates)


def _gate_case(judgement: Judgement, gate: str, on_unclear: OnUnclear | None) -> Case:
    rows = [row for row in judgement.rows if row.gate == gate]
    broken = [row.sentence for row in rows if row.end == "broken"]
    unclear = [row.sentence for row in rows if row.end == "cannot tell"]
    unclear_ends: dict[OnUnclear | None, CaseEnd] = {
        None: "skipped",
        "pass": "passed",
        "fail": "failed",
    }
    end: CaseEnd = "failed" if broken else unclear_ends[on_unclear] if unclear else "passed"
    return Case("warex.gates", gate, end, "\n".join(broken or unclear))


def counting_case(run: Run) -> Case:
    """Return the case that a run passes if any of its trials counts."""
    counts = any(isinstance(trial.outcome, Counted | Unscored) for trial in run.trials)
    message = "" if counts else f"no trial of {run.path} counts"
    return Case("warex.run", "a trial counts", "passed" if counts else "error", message)


def trial_cases(run: Run) -> Iterator[Case]:
    """Yield a case for each trial, in the order of the run."""
    for trial in run.trials:
        key = trial.key
        end, message = _trial_end(trial)
        yield Case(
            ".".join((key.benchmark, key.agent, key.condition)),
            key.task if key.repeat == 1 else f"{key.task}[{key.repeat}]",
            end,
            message,
            trial.latency_s,
        )


def _trial_end(trial: TrialRecord) -> tuple[CaseEnd, str]:
    match trial.outcome:
        case Counted() if trial.solved:
            return "passed", ""
        case Counted(score=score) as counted:
            return "failed", f"not solved: score {score:g}, {counted.summary}"
        case Unscored() as unscored:
            return "skipped", unscored.summary
        case Void(reason=reason):
            return "error", f"void: {reason}"
        case _:
            return "skipped", "not finished"
