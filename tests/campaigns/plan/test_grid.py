"""Which trials there are, and which are still to run."""

from collections import Counter
from dataclasses import replace
from itertools import batched, pairwise

import pytest

from tests.campaigns.config.test_task_choice import TASKS
from warex.benchmarks.table import BenchmarkConfig
from warex.campaigns.config.campaign import AgentConfig, CampaignConfig, ConditionConfig
from warex.campaigns.plan.grid import TrialHistory, cache_dependencies, grid, remaining, trial_seed
from warex.traces import Counted, Outcome, TrialKey, Unscored, Void

VOID = Void(reason="r")
FAILED = Counted(ending="answered", score=0.0, latency_s=1)


def config(seed: int = 1, repeats: int = 1) -> CampaignConfig:
    return CampaignConfig(
        name="c",
        seed=seed,
        repeats=repeats,
        agents=(AgentConfig(name="one", model="m"), AgentConfig(name="two", model="m")),
        conditions=(ConditionConfig(name="no-proxy"), ConditionConfig(name="clean")),
    )


def test_the_conditions_of_a_pair_run_next_to_each_other() -> None:
    trials = grid(config(repeats=2), TASKS[:2])

    assert len(trials) == len(set(trials)) == 2 * 2 * 2 * 2
    assert [(t.repeat, t.task) for t in trials[::4]] == [
        (1, "shop-a"),
        (1, "shop-b"),
        (2, "shop-a"),
        (2, "shop-b"),
    ]
    for first, second in zip(trials[::2], trials[1::2], strict=True):
        assert first.condition != second.condition
        assert first == replace(second, condition=first.condition)


def varied(conditions: int, agents: int, seed: int = 1) -> CampaignConfig:
    return CampaignConfig(
        name="c",
        seed=seed,
        agents=tuple(AgentConfig(name=f"a{n}", model="m") for n in range(agents)),
        conditions=tuple(
            ConditionConfig(name=f"c{n}", scenario="paper/server-error") for n in range(conditions)
        ),
    )


def orders(config: CampaignConfig, tasks: int) -> dict[str, list[tuple[str, ...]]]:
    """Return the order of the conditions, task for task, by agent."""
    trials = grid(config, [f"t{n}" for n in range(tasks)])
    results: dict[str, list[tuple[str, ...]]] = {}
    for block in batched(trials, len(config.conditions)):
        assert len({key.agent for key in block}) == 1
        results.setdefault(block[0].agent, []).append(tuple(key.condition for key in block))
    return results


@pytest.mark.parametrize("conditions", [2, 5, 6, 7])
def test_condition_order_is_balanced_by_position_and_predecessor(
    conditions: int,
) -> None:
    rows = conditions if conditions % 2 == 0 else 2 * conditions

    for values in orders(varied(conditions, 2), rows).values():
        at = Counter((place, name) for order in values for place, name in enumerate(order))
        assert set(at.values()) == {rows // conditions}
        after = Counter(pair for order in values for pair in pairwise(order))
        assert len(after) == conditions * (conditions - 1)
        assert set(after.values()) == {rows // conditions}


@pytest.mark.parametrize("tasks", [1, 6, 11, 30])
def test_uneven_orders_are_balanced_as_far_as_possible(tasks: int) -> None:
    for values in orders(varied(7, 3), tasks).values():
        at = Counter((place, name) for order in values for place, name in enumerate(order))
        assert max(at.values()) <= -(-tasks // 7)


def test_agents_change_places_too() -> None:
    trials = grid(varied(2, 3), [f"t{n}" for n in range(12)])

    first = Counter(block[0].agent for block in batched(trials, 6))

    assert set(first.values()) == {4}


def test_an_order_is_the_seeds() -> None:
    assert orders(varied(7, 2), 30) == orders(varied(7, 2), 30)
    assert orders(varied(7, 2), 30) != orders(varied(7, 2, seed=2), 30)


def test_without_a_cache_nobody_waits() -> None:
    trials = grid(config(), TASKS)

    assert cache_dependencies(config(), trials) == {}


def test_with_a_cache_all_that_share_wait_for_the_first_of_theirs() -> None:
    inputs = varied(3, 2).model_copy(update={"llm_cache": True, "repeats": 2})
    trials = grid(inputs, TASKS[:2])

    waiting = cache_dependencies(inputs, trials)

    assert len(waiting) == len(trials) * 2 // 3
    for key, first in waiting.items():
        assert first == replace(key, condition="c0")


def test_a_seed_is_of_the_campaigns_the_benchmark_the_task_and_the_repeat() -> None:
    seeds = {trial_seed(config(), task, repeat) for task in TASKS for repeat in (1, 2)}
    elsewhere = config().model_copy(update={"benchmark": BenchmarkConfig(name="real")})

    assert len(seeds) == 2 * len(TASKS)
    assert trial_seed(config(), "shop-a", 1) == trial_seed(config(), "shop-a", 1)
    assert trial_seed(config(seed=2), "shop-a", 1) not in seeds
    assert trial_seed(elsewhere, "shop-a", 1) not in seeds


@pytest.mark.parametrize(
    ("outcomes", "again"),
    [
        ((), True),
        ((FAILED,), False),
        ((Unscored(ending="answered", latency_s=1),), False),
        ((VOID,), True),
        ((VOID, FAILED), False),
        ((VOID, VOID), True),
        ((VOID, VOID, VOID), False),
    ],
)
def test_only_voids_are_run_again_and_not_for_ever(
    outcomes: tuple[Outcome, ...], again: bool
) -> None:
    trial = TrialKey("b", "a", "c", "t")

    assert bool(remaining([trial], {trial: TrialHistory(outcomes, last=len(outcomes))})) is again


def test_an_attempt_that_was_cut_off_is_not_an_attempt() -> None:
    trial = TrialKey("b", "a", "c", "t")

    assert remaining([trial], {trial: TrialHistory((VOID, VOID), last=5)}) == (trial,)
