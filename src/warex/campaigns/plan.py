"""Which trials there are, and which are still to run. Pure: resuming is planning again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from warex.campaigns.config import CampaignConfig, TaskChoice
from warex.errors import CampaignError
from warex.scenarios.mistakes import did_you_mean
from warex.seeds import derive, draw
from warex.traces import Outcome, TrialKey, Void

ATTEMPTS = 3
"""So many goes at a trial; one that stays void is left out of every condition."""


@dataclass(frozen=True, slots=True)
class Past:
    """What lies on disk of a trial."""

    outcomes: tuple[Outcome, ...] = ()
    last: int = 0
    """Number of its last attempt, also of one that was cut off and has no outcome."""


def chosen_tasks(choice: TaskChoice, tasks: Sequence[str], seed: int) -> tuple[str, ...]:
    """Return the campaign's tasks in the benchmark's order.

    Raises CampaignError for a name the benchmark does not have, or a choice of nothing.
    """
    if choice.names is not None:
        missing = [name for name in choice.names if name not in tasks]
        if missing:
            near = did_you_mean(missing[0], tasks)
            raise CampaignError(
                f"tasks.names: there is no task {missing[0]!r}{near}; there are: {', '.join(tasks)}"
            )
        return tuple(name for name in tasks if name in choice.names)
    if choice.match is not None:
        found = tuple(name for name in tasks if fnmatchcase(name, choice.match))
        if not found:
            raise CampaignError(
                f"tasks.match: {choice.match!r} matches none of: {', '.join(tasks)}"
            )
        return found
    if choice.sample is not None:
        if choice.sample > len(tasks):
            raise CampaignError(
                f"tasks.sample: {choice.sample} is more than the {len(tasks)} tasks there are"
            )
        by_luck = sorted(tasks, key=lambda name: draw(seed, "sample", name))
        picked = set(by_luck[: choice.sample])
        return tuple(name for name in tasks if name in picked)
    return tuple(tasks)


def trial_seed(config: CampaignConfig, task: str, repeat: int) -> int:
    """Return the seed that all agents and conditions share on one task and repeat."""
    return derive(config.seed, config.benchmark.name, task, repeat)


def grid(config: CampaignConfig, tasks: Sequence[str]) -> tuple[TrialKey, ...]:
    """Return every trial; those to be compared stand side by side, so that they run alike."""
    return tuple(
        TrialKey(config.benchmark.name, agent.name, condition.name, task, repeat)
        for repeat in range(1, config.repeats + 1)
        for task in tasks
        for agent in config.agents
        for condition in config.conditions
    )


def remaining(trials: Sequence[TrialKey], past: Mapping[TrialKey, Past]) -> tuple[TrialKey, ...]:
    """Return the trials that still need an attempt.

    A trial the agent failed is done: running it again until it passes would bias the result. Only
    voids are run again, and not for ever. An attempt without an outcome is no trial.
    """
    return tuple(
        trial
        for trial in trials
        if len(outcomes := past.get(trial, Past()).outcomes) < ATTEMPTS
        and all(isinstance(outcome, Void) for outcome in outcomes)
    )
