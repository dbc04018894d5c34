"""The grid of trials, and which remain to run. It does no I/O: resuming is planning again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle

from warex.campaigns.config.campaign import CampaignConfig, ConditionConfig
from warex.seeds import derive_seed, draw
from warex.traces import CLEAN, NO_PROXY, Outcome, TrialKey, Void

MAX_ATTEMPTS = 3
"""Attempts per trial; one that stays void is left out of every condition."""


@dataclass(frozen=True, slots=True)
class TrialHistory:
    """A trial's attempts on disk."""

    outcomes: tuple[Outcome, ...] = ()
    last: int = 0
    """Number of its last attempt, including an interrupted one without an outcome."""


def trial_seed(config: CampaignConfig, task: str, repeat: int) -> int:
    """Return the seed that all agents and conditions share on one task and repeat."""
    return derive_seed(config.seed, config.benchmark.name, task, repeat)


def grid(config: CampaignConfig, tasks: Sequence[str]) -> tuple[TrialKey, ...]:
    """Return every trial; those to be compared are adjacent, so that they run alike.

    Their order changes between tasks and repeats: otherwise the neighbours of a slow condition
    would always be the same and be slowed too. Each condition is equally often at each place and
    equally often after each other one. The same holds for agents.
    """
    blocks = [(repeat, task) for repeat in range(1, config.repeats + 1) for task in tasks]
    agent_names = [agent.name for agent in config.agents]
    condition_names = [condition.name for condition in config.conditions]
    orders = partial(_balanced_orders, blocks=len(blocks), seed=config.seed)
    agents = orders(agent_names, about="agents")
    conditions = {
        agent: orders(condition_names, about=f"conditions of {agent}") for agent in agent_names
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
    """Return an order of the names for each block: a square's rows, assigned by the seed."""
    square = _williams_square(len(names))
    dealt = sorted(range(blocks), key=lambda block: draw(seed, "order", about, block))
    rows = dict(zip(dealt, cycle(square), strict=False))
    return [tuple(names[place] for place in rows[block]) for block in range(blocks)]


def _williams_square(n: int) -> list[tuple[int, ...]]:
    """Return orders of 0 to n-1 in which each follows each other equally often (Williams 1949).

    There are n of them for an even n; for an odd n also their reverses.
    """
    zigzag = [place // 2 if place % 2 == 0 else n - 1 - place // 2 for place in range(n)]
    rows = [tuple((number + row) % n for number in zigzag) for row in range(n)]
    return rows if n % 2 == 0 else [*rows, *(row[::-1] for row in rows)]


def shares_answers(condition: ConditionConfig) -> bool:
    """Whether a condition's trials may reuse cached answers of other conditions.

    An A/A control must ask again, and without a proxy nothing can answer for the model.
    """
    return condition.name != NO_PROXY and not condition.control


def cache_dependencies(
    config: CampaignConfig, trials: Sequence[TrialKey]
) -> dict[TrialKey, TrialKey]:
    """Return which trial each trial must wait for.

    With ``llm_cache``, all conditions that share answers wait for one of them, preferably
    ``clean``, so that shared answers are paid once.
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

    Failed trials are done: repeating them until they pass would bias the result. Only voids are
    repeated, up to MAX_ATTEMPTS. An attempt without an outcome does not count.
    """
    return tuple(
        trial
        for trial in trials
        if len(outcomes := past.get(trial, TrialHistory()).outcomes) < MAX_ATTEMPTS
        and all(isinstance(outcome, Void) for outcome in outcomes)
    )
