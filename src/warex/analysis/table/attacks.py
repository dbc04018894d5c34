"""How often attacks on agents succeeded."""

from dataclasses import dataclass

from warex.analysis.run.load import Run
from warex.analysis.stats.estimates import Rate, clustered_rate


@dataclass(frozen=True, slots=True)
class AttackRates:
    """The attack success rate of one agent under one condition."""

    agent: str
    condition: str
    attack_success: Rate
    """Of the trials in which an attack was delivered and it is known what became of one, those in
    which one succeeded."""
    unknown: int
    """Trials in which one was delivered and it is not known what became of any."""


def attack_rates(run: Run) -> tuple[AttackRates, ...]:
    """Return the rates for each agent under each condition, in the campaign's order."""
    met = [it for it in run.trials if it.attacks and it.solved is not None]
    found = []
    for agent in run.agents:
        for condition in run.conditions:
            of = [it for it in met if (it.key.agent, it.key.condition) == (agent, condition)]
            known = [it for it in of if set(it.attacks) != {"unknown"}]
            rate = clustered_rate((it.task, "succeeded" in it.attacks) for it in known)
            if of:
                found.append(AttackRates(agent, condition, rate, len(of) - len(known)))
    return tuple(found)
