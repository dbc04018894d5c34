"""Which trials there are, and which are still to run."""

from itertools import pairwise

import pytest

from warex.campaigns.config import AgentConfig, CampaignConfig, ConditionConfig, TaskChoice
from warex.campaigns.plan import Past, chosen_tasks, grid, remaining, trial_seed
from warex.errors import CampaignError
from warex.traces import Counted, Outcome, TrialKey, Unscored, Void

TASKS = tuple(f"shop-{letter}" for letter in "abcdefgh")
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


def test_all_tasks_come_in_the_benchmarks_order() -> None:
    assert chosen_tasks(TaskChoice(all=True), TASKS, 1) == TASKS


def test_named_tasks_come_once_and_in_the_benchmarks_order() -> None:
    choice = TaskChoice(names=("shop-c", "shop-a", "shop-c"))

    assert chosen_tasks(choice, TASKS, 1) == ("shop-a", "shop-c")


def test_an_unknown_task_is_told_with_a_near_match() -> None:
    with pytest.raises(CampaignError, match=r"no task 'shop_a'; did you mean 'shop-a'\?"):
        chosen_tasks(TaskChoice(names=("shop_a",)), TASKS, 1)


def test_a_glob_takes_what_it_matches_and_never_nothing() -> None:
    assert chosen_tasks(TaskChoice(match="*-[ab]"), TASKS, 1) == ("shop-a", "shop-b")
    with pytest.raises(CampaignError, match=r"'bank-.' matches none"):
        chosen_tasks(TaskChoice(match="bank-*"), TASKS, 1)


def test_a_sample_is_the_seeds_and_grows_with_its_size() -> None:
    samples = [chosen_tasks(TaskChoice(sample=n), TASKS, 7) for n in range(1, 9)]

    assert samples == [chosen_tasks(TaskChoice(sample=n), TASKS, 7) for n in range(1, 9)]
    assert [len(sample) for sample in samples] == list(range(1, 9))
    assert all(set(small) < set(large) for small, large in pairwise(samples))
    assert len({chosen_tasks(TaskChoice(sample=3), TASKS, seed) for seed in range(20)}) > 5


def test_a_sample_does_not_depend_on_the_order_of_the_tasks() -> None:
    there = chosen_tasks(TaskChoice(sample=3), TASKS, 7)

    assert set(chosen_tasks(TaskChoice(sample=3), TASKS[::-1], 7)) == set(there)


def test_a_sample_larger_than_the_benchmark_is_a_sentence() -> None:
    with pytest.raises(CampaignError, match=r"tasks\.sample: 9 is more than the 8 tasks"):
        chosen_tasks(TaskChoice(sample=9), TASKS, 1)


def test_the_conditions_of_one_pair_stand_side_by_side() -> None:
    trials = grid(config(repeats=2), TASKS[:2])

    assert len(trials) == len(set(trials)) == 2 * 2 * 2 * 2
    assert [(t.task, t.repeat, t.agent, t.condition) for t in trials[:4]] == [
        ("shop-a", 1, "one", "no-proxy"),
        ("shop-a", 1, "one", "clean"),
        ("shop-a", 1, "two", "no-proxy"),
        ("shop-a", 1, "two", "clean"),
    ]


def test_a_seed_is_of_the_task_and_repeat_alone() -> None:
    seeds = {trial_seed(config(), task, repeat) for task in TASKS for repeat in (1, 2)}

    assert len(seeds) == 2 * len(TASKS)
    assert trial_seed(config(), "shop-a", 1) == trial_seed(config(), "shop-a", 1)
    assert trial_seed(config(seed=2), "shop-a", 1) not in seeds


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

    assert bool(remaining([trial], {trial: Past(outcomes, last=len(outcomes))})) is again


def test_an_attempt_that_was_cut_off_is_no_attempt() -> None:
    trial = TrialKey("b", "a", "c", "t")

    assert remaining([trial], {trial: Past((VOID, VOID), last=5)}) == (trial,)
