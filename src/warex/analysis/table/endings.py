"""How the trials of each condition ended, and the success under other rules for crashes.

If the harness crashes after a fault was delivered, the trial scores 0. If it crashes before, the
attempt is void and repeated; under ``clean`` that is always so. As this rule is not symmetric,
success is also computed as if all crashes were void, and as if all scored 0.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from warex.analysis.metrics.sample import share
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Rate
from warex.analysis.trial.record import TrialRecord
from warex.traces.outcome import CRASHED_BEFORE_A_FAULT, Counted, Ending, Unscored, Void
from warex.traces.paths import TrialKey


@dataclass(frozen=True, slots=True)
class Endings:
    """The endings of one agent under one condition."""

    agent: str
    condition: str
    counts: tuple[tuple[Ending, int], ...]
    """Number of trials by ending, the most frequent first."""
    crashed: int
    """Trials whose harness crashed after a fault; they score 0."""
    voided: int
    """Trials with a void attempt whose harness crashed before any fault."""
    success: Rate
    success_if_void: Rate
    """Success if all crashes of the harness were void."""
    success_if_zero: Rate
    """Success if all crashes of the harness scored 0."""


def endings(run: Run) -> tuple[Endings, ...]:
    """Return the endings of each agent under each condition, in the campaign's order."""
    voided = {attempt.key for attempt in run.attempts if _crashed_before(attempt)}
    return tuple(
        _endings(agent, condition, of, voided)
        for agent, condition, of in run.by_condition(run.trials)
        if any(isinstance(trial.outcome, Counted | Unscored) for trial in of)
    )


def _endings(
    agent: str, condition: str, trials: Sequence[TrialRecord], voided: Collection[TrialKey]
) -> Endings:
    counts = Counter(ending for trial in trials if (ending := _ending(trial)))
    scored = [trial for trial in trials if trial.solved is not None]
    completed = [trial for trial in scored if _ending(trial) != "harness_crashed"]
    return Endings(
        agent=agent,
        condition=condition,
        counts=tuple(counts.most_common()),
        crashed=len(scored) - len(completed),
        voided=sum(trial.key in voided for trial in trials),
        success=share(scored, lambda trial: trial.solved),
        success_if_void=share(completed, lambda trial: trial.solved),
        success_if_zero=share(trials, lambda t: False if t.key in voided else t.solved),
    )


def _ending(trial: TrialRecord) -> Ending | None:
    return trial.outcome.ending if isinstance(trial.outcome, Counted | Unscored) else None


def _crashed_before(attempt: TrialRecord) -> bool:
    outcome = attempt.outcome
    return isinstance(outcome, Void) and outcome.reason.startswith(CRASHED_BEFORE_A_FAULT)
