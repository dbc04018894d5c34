"""Success rates of attacks on agents."""

from dataclasses import dataclass

from warex.analysis.metrics.sample import share
from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Rate


@dataclass(frozen=True, slots=True)
class AttackRates:
    """The attack success rate of one agent under one condition."""

    agent: str
    condition: str
    attack_success: Rate
    """Of the trials with a delivered attack of known outcome, those in which one succeeded."""
    unknown: int
    """Trials with delivered attacks of which no outcome is known."""


def attack_rates(run: Run) -> tuple[AttackRates, ...]:
    """Return the rates for each agent under each condition, in the campaign's order."""
    attacked = [it for it in run.trials if it.attacks and it.solved is not None]
    rates = []
    for agent, condition, of in run.by_condition(attacked):
        known = [trial for trial in of if set(trial.attacks) != {"unknown"}]
        rate = share(known, lambda trial: "succeeded" in trial.attacks)
        rates.append(AttackRates(agent, condition, rate, len(of) - len(known)))
    return tuple(rates)
