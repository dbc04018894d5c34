"""Which trials there are, and which are still to run. Pure: resuming is planning again."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import cycle

from warex.campaigns.config import CampaignConfig, ConditionConfig, TaskChoice
from warex.errors import CampaignError
from warex.scenarios.mistakes import named, not_among
from warex.seeds import derive, draw
from warex.traces import (
    CLEAN,
    NO_PROXY,
    Outcome,
    TrialKey,
    Void,
)
from warex.visible import counted

ATTEMPTS = 3
"""So many goes at a trial; one that stays void is left out of every condition."""


@dataclass(frozen=True, slots=True)
class Past:
    """What lies on disk of a trial."""

    outcomes: tuple[Outcome, ...] = ()
    last: int = 0
    """Number of its last attempt, also of one that was cut off and has no outcome."""


def chosen_tasks(
    choice: TaskChoice,
    tasks: Sequence[str],
    seed: int,
    sites: Callable[[str], Collection[str]] = lambda task: (),
) -> tuple[str, ...]:
    """Return the campaign's tasks in the benchmark's order.

    ``sites`` tells the names of the sites that a task needs.
    Raises CampaignError for a name the benchmark does not have, or a choice of nothing.
    """
    if choice.names is not None:
        _require(choice.names, tasks, "tasks.names: there is no task")
    tasks = _narrowed(choice, tasks, sites)
    if choice.names is not None:
        found = tuple(name for name in tasks if name in choice.names)
        if not found:
            raise CampaignError("tasks.names: all of them are excluded by the other keys")
        return found
    if choice.match is not None:
        found = tuple(name for name in tasks if fnmatchcase(name, choice.match))
        if not found:
            raise CampaignError(f"tasks.match: {choice.match!r} matches none of: {named(tasks)}")
        return found
    if choice.sample is not None:
        if choice.sample > len(tasks):
            raise CampaignError(
                f"tasks.sample: {choice.sample} is more than the"
                f" {counted(len(tasks), 'task there is', 'tasks there are')}"
            )
        by_luck = sorted(tasks, key=lambda name: draw(seed, "sample", name))
        picked = set(by_luck[: choice.sample])
        return tuple(name for name in tasks if name in picked)
    return tuple(tasks)


def _narrowed(
    choice: TaskChoice, tasks: Sequence[str], sites: Callable[[str], Collection[str]]
) -> Sequence[str]:
    """Return the tasks that ``sites``, ``without_sites`` and ``without`` leave."""
    without = choice.without or ()
    _require(without, tasks, "tasks.without: there is no task")
    if choice.sites is None and choice.without_sites is None:
        return [name for name in tasks if name not in without]
    needed = {name: frozenset(sites(name)) for name in tasks}
    known = sorted(frozenset().union(*needed.values()))
    for key in ("sites", "without_sites"):
        _require(getattr(choice, key) or (), known, f"tasks.{key}: no task needs the site")
    left = [
        name
        for name in tasks
        if name not in without
        and (choice.sites is None or needed[name] <= frozenset(choice.sites))
        and needed[name].isdisjoint(choice.without_sites or ())
    ]
    if not left:
        raise CampaignError(
            "tasks: none is left by tasks.sites, tasks.without_sites and tasks.without; a task of"
            " several sites needs each of them in tasks.sites"
        )
    return left


def _require(names: Sequence[str], known: Sequence[str], said: str) -> None:
    missing = [name for name in names if name not in known]
    if missing:
        raise CampaignError(not_among(said, missing[0], known))


def trial_seed(config: CampaignConfig, task: str, repeat: int) -> int:
    """Return the seed that all agents and conditions share on one task and repeat."""
    return derive(config.seed, config.benchmark.name, task, repeat)


def grid(config: CampaignConfig, tasks: Sequence[str]) -> tuple[TrialKey, ...]:
    """Return every trial; those to be compared stand side by side, so that they run alike.

    In which order they do changes from one task and repeat to the next, or whatever runs beside a
    slow condition would always be the same, and be slow, too. Over all of them each condition is
    equally often first, second and so on, and equally often after each other one; agents likewise.
    """
    blocks = [(repeat, task) for repeat in range(1, config.repeats + 1) for task in tasks]
    agents = _orders([agent.name for agent in config.agents], len(blocks), config.seed, "agents")
    conditions = {
        agent.name: _orders(
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


def _orders(names: Sequence[str], blocks: int, seed: int, about: str) -> list[tuple[str, ...]]:
    """Return an order of the names for each block: the rows of a square, dealt out by the seed."""
    square = _square(len(names))
    dealt = sorted(range(blocks), key=lambda block: draw(seed, "order", about, block))
    rows = dict(zip(dealt, cycle(square), strict=False))
    return [tuple(names[place] for place in rows[block]) for block in range(blocks)]


def _square(n: int) -> list[tuple[int, ...]]:
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


def waits_for(config: CampaignConfig, trials: Sequence[TrialKey]) -> dict[TrialKey, TrialKey]:
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
