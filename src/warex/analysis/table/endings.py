"""How the trials of each condition ended, and what another rule for crashes would give.

A harness that crashes after a fault was delivered has failed the task: score 0. One that crashes
before any fault says nothing, so its attempt is void and run again. The rule is not symmetric, and
``clean`` has no faults: there a crash is always void. So success is also told as if every such
crash were void, and as if every one counted 0.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Rate, clustered_rate
from warex.analysis.trial.record import TrialRecord
from warex.traces.outcome import CRASHED_BEFORE_A_FAULT, Counted, Ending, Unscored, Void
from warex.traces.paths import TrialKey


@dataclass(frozen=True, slots=True)
class Endings:
    """The endings of one agent under one condition."""

    agent: str
    condition: str
    counts: tuple[tuple[Ending, int], ...]
    """Trials that have an ending, by it; the most frequent first."""
    crashed: int
    """Of these, trials whose harness crashed after a fault: they count 0."""
    voided: int
    """Trials with an attempt that was void since the harness crashed before any fault."""
    success: Rate
    success_if_void: Rate
    """Success if every crash of the harness were void."""
    success_if_zero: Rate
    """Success if every crash of the harness counted 0."""


def endings(run: Run) -> tuple[Endings, ...]:
    """Return the endings of each agent under each condition, in the campaign's order."""
    trials = run.trials
    voided = {attempt.key for attempt in run.attempts if _crashed_before(attempt)}
    found = []
    for agent in run.agents:
        for condition in run.conditions:
            at = (agent, condition)
            of = [t for t in trials if (t.key.agent, t.key.condition) == at]
            if any(isinstance(t.outcome, Counted | Unscored) for t in of):
                found.append(_endings(agent, condition, of, voided))
    return tuple(found)


def _endings(
    agent: str, condition: str, trials: Sequence[TrialRecord], voided: Collection[TrialKey]
) -> Endings:
    counts = Counter(ending for trial in trials if (ending := _ending(trial)))
    scored = [trial for trial in trials if trial.solved is not None]
    whole = [trial for trial in scored if _ending(trial) != "harness_crashed"]
    broken = [trial for trial in trials if trial.key in voided]
    success = clustered_rate((trial.task, bool(trial.solved)) for trial in scored)
    return Endings(
        agent=agent,
        condition=condition,
        counts=tuple(counts.most_common()),
        crashed=len(scored) - len(whole),
        voided=len(broken),
        success=success,
        success_if_void=clustered_rate((trial.task, bool(trial.solved)) for trial in whole),
        success_if_zero=clustered_rate(
            (trial.task, bool(trial.solved) and trial.key not in voided)
            for trial in trials
            if trial.solved is not None or trial.key in voided
        ),
    )


def _ending(trial: TrialRecord) -> Ending | None:
    return trial.outcome.ending if isinstance(trial.outcome, Counted | Unscored) else None


def _crashed_before(attempt: TrialRecord) -> bool:
    outcome = attempt.outcome
    return isinstance(outcome, Void) and outcome.reason.startswith(CRASHED_BEFORE_A_FAULT)
