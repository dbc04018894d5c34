"""Which trials there are, and which are still to run. Pure: resuming is planning again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle

from warex.campaigns.config.campaign import CampaignConfig, ConditionConfig
from warex.seeds import derive_seed, draw
from warex.traces import (
    CLEAN,
    NO_PROXY,
    Outcome,
    TrialKey,
    Void,
)

MAX_ATTEMPTS = 3
"""So many goes at a trial; one that stays void is left out of every condition."""


@dataclass(frozen=True, slots=True)
class TrialHistory:
    """What lies on disk of a trial."""

    outcomes: tuple[Outcome, ...] = ()
    last: int = 0
    """Number of its last attempt, also of one that was cut off and has no outcome."""


def trial_seed(config: CampaignConfig, task: str, repeat: int) -> int:
    """Return the seed that all agents and conditions share on one task and repeat."""
    return derive_seed(config.seed, config.benchmark.name, task, repeat)


def grid(config: CampaignConfig, tasks: Sequence[str]) -> tuple[TrialKey, ...]:
    """Return every trial; those to be compared stand side by side, so that they run alike.

    In which order they do changes from one task and repeat to the next, or whatever runs beside a
    slow condition would always be the same, and be slow, too. Over all of them each condition is
    equally often first, second and so on, and equally often after each other one; agents likewise.
    """
    blocks = [(repeat, task) for repeat in range(1, config.repeats + 1) for task in tasks]
    agents = _balanced_orders(
        [agent.name for agent in config.agents], len(blocks), config.seed, "agents"
    )
    conditions = {
        agent.name: _balanced_orders(
            [condition.name for condition in config.conditions],
            len(blocks),
            config.seed,
            f"conditions of {agent.name}",
        )
        for agent in config.agents
    }
    return tuple(
        TrialKey(config.benchmark.name, agent, condition, task, repeat)
        for number, (repeat, task) in enumerate(blocks)
        for agent in agents[number]
        for condition in conditions[agent][number]
    )


def _balanced_orders(
    names: Sequence[str], blocks: int, seed: int, about: str
) -> list[tuple[str, ...]]:
    """Return an order of the names for each block: the rows of a square, dealt out by the seed."""
    square = _williams_square(len(names))
    dealt = sorted(range(blocks), key=lambda block: draw(seed, "order", about, block))
    rows = dict(zip(dealt, cycle(square), strict=False))
    return [tuple(names[place] for place in rows[block]) for block in range(blocks)]


def _williams_square(n: int) -> list[tuple[int, ...]]:
    """Return orders of 0 to n-1 in which each follows each other equally often (Williams 1949).

    There are n of them where n is even; for an odd n the same again backwards.
    """
    zigzag = [place // 2 if place % 2 == 0 else n - 1 - place // 2 for place in range(n)]
    rows = [tuple((number + row) % n for number in zigzag) for row in range(n)]
    return rows if n % 2 == 0 else [*rows, *(row[::-1] for row in rows)]


def shares_answers(condition: ConditionConfig) -> bool:
    """Whether a condition's trials may be given what their like in other conditions were answered.

    An A/A control must ask anew, and without a proxy nobody can answer in the model's place.
    """
    return condition.name != NO_PROXY and not condition.control


def cache_dependencies(
    config: CampaignConfig, trials: Sequence[TrialKey]
) -> dict[TrialKey, TrialKey]:
    """Return which trials wait until which one has ended.

    With ``llm_cache``, all conditions that may share answers wait for one of them, so that what
    they share is paid once, by the one that meets no fault if there is such a one.
    """
    sharing = [each.name for each in config.conditions if shares_answers(each)]
    if not config.llm_cache or not sharing:
        return {}
    first = CLEAN if CLEAN in sharing else sharing[0]
    return {
        key: replace(key, condition=first)
        for key in trials
        if key.condition in sharing and key.condition != first
    }


def remaining(
    trials: Sequence[TrialKey], past: Mapping[TrialKey, TrialHistory]
) -> tuple[TrialKey, ...]:
    """Return the trials that still need an attempt.

    A trial the agent failed is done: running it again until it passes would bias the result. Only
    voids are run again, and not for ever. An attempt without an outcome is no trial.
    """
    return tuple(
        trial
        for trial in trials
        if len(outcomes := past.get(trial, TrialHistory()).outcomes) < MAX_ATTEMPTS
        and all(isinstance(outcome, Void) for outcome in outcomes)
    )
