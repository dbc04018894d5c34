"""Which of a benchmark's tasks are run."""

from itertools import pairwise

import pytest

from warex.campaigns.config.task_choice import TaskChoice, chosen_tasks
from warex.errors import CampaignError


def test_all_tasks_come_in_the_benchmarks_order() -> None:
    assert chosen_tasks(TaskChoice(all=True), TASKS, 1) == TASKS


def test_named_tasks_come_once_and_in_the_benchmarks_order() -> None:
    choice = TaskChoice(names=("shop-c", "shop-a", "shop-c"))

    assert chosen_tasks(choice, TASKS, 1) == ("shop-a", "shop-c")


def test_an_unknown_task_is_reported_with_a_near_match() -> None:
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
    existing = chosen_tasks(TaskChoice(sample=3), TASKS, 7)

    assert set(chosen_tasks(TaskChoice(sample=3), TASKS[::-1], 7)) == set(existing)


def test_a_sample_larger_than_the_benchmark_is_a_sentence() -> None:
    with pytest.raises(CampaignError, match=r"tasks\.sample: 9 is more than the 8 tasks"):
        chosen_tasks(TaskChoice(sample=9), TASKS, 1)


def test_sites_are_named_in_and_out() -> None:
    # A task of two sites needs both.
    assert by_site(sites=["shop"]) == ("shop-a",)
    assert by_site(sites=["shop", "map"]) == ("shop-a", "shop-b", "shop-c")
    assert by_site(without_sites=["map"]) == ("shop-a", "shop-d")
    assert by_site(sites=["shop", "wiki"], without=["shop-d"]) == ("shop-a",)


def test_tasks_are_narrowed_before_they_are_chosen() -> None:
    assert by_site(match="*-[bd]", without_sites=["map"]) == ("shop-d",)
    assert set(by_site(sample=2, without_sites=["map"])) == {"shop-a", "shop-d"}
    with pytest.raises(CampaignError, match=r"tasks\.sample: 3 is more than the 2 tasks"):
        by_site(sample=3, without_sites=["map"])


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        ({"sites": ["shopp"]}, "tasks.sites: no task needs the site 'shopp'; did you mean 'shop'?"),
        ({"without_sites": ["forum"]}, "tasks.without_sites: no task needs the site 'forum'"),
        ({"without": ["shop_a"]}, "tasks.without: there is no task 'shop_a'"),
        ({"without_sites": ["map", "shop", "wiki"]}, "tasks: none is left"),
        ({"without": ["shop-a", "shop-b", "shop-c", "shop-d"]}, "tasks: none is left"),
        ({"names": ["shop-c"], "sites": ["shop"]}, "tasks.names: all of them are excluded"),
    ],
)
def test_an_empty_or_unknown_choice_is_refused_in_a_sentence(
    choice: dict[str, object], says: str
) -> None:
    with pytest.raises(CampaignError) as error:
        by_site(**choice)

    assert str(error.value).startswith(says)


TASKS = tuple(f"shop-{letter}" for letter in "abcdefgh")


def by_site(**choice: object) -> tuple[str, ...]:
    return chosen_tasks(
        TaskChoice.model_validate(choice), tuple(SITES), 1, lambda task: SITES[task]
    )


SITES = {"shop-a": ["shop"], "shop-b": ["shop", "map"], "shop-c": ["map"], "shop-d": ["wiki"]}
