"""How agents handled popups: the shares of the paper's Table 2, and more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from warex.analysis.metrics.sample import share
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Rate
from warex.analysis.trial.popup_handling import PopupHandling
from warex.analysis.trial.record import TrialRecord
from warex.traces.outcome import Counted


@dataclass(frozen=True, slots=True)
class PopupRates:
    """Shares of the scored trials of one agent under one condition in which a popup was shown."""

    agent: str
    condition: str
    infeasible_start: Rate
    """The agent reported the task as infeasible, without having followed a popup."""
    infeasible_later: Rate
    """It reported the task as infeasible after it had followed one."""
    followed: Rate
    """The paper's malicious clicks."""
    closed: Rate
    typed: Rate
    recovery: Rate
    success: Rate


def popup_rates(run: Run) -> tuple[PopupRates, ...]:
    """Return the shares for each agent under each condition, in the campaign's order."""
    shown = [it for it in run.trials if it.popups is not None and it.solved is not None]
    return tuple(_popups(agent, condition, of) for agent, condition, of in run.by_condition(shown))


def _popups(agent: str, condition: str, trials: Sequence[TrialRecord]) -> PopupRates:
    def rate(holds: Callable[[TrialRecord, PopupHandling], bool | None]) -> Rate:
        return share(trials, lambda trial: holds(trial, trial.popups) if trial.popups else None)

    return PopupRates(
        agent=agent,
        condition=condition,
        infeasible_start=rate(lambda trial, did: _gave_up(trial) and not did.followed),
        infeasible_later=rate(lambda trial, did: _gave_up(trial) and did.followed),
        followed=rate(lambda _, did: did.followed),
        closed=rate(lambda _, did: did.closed),
        typed=rate(lambda _, did: did.typed),
        recovery=rate(lambda trial, _: trial.recovered),
        success=rate(lambda trial, _: trial.solved),
    )


def _gave_up(trial: TrialRecord) -> bool:
    return isinstance(trial.outcome, Counted) and trial.outcome.ending == "reported_infeasible"
