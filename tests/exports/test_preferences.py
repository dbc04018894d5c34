from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from tests.exports.runs import GOALS, several_sites, shown
from warex.analysis.run.load import load_run
from warex.exports.examples import Example, SelectionOptions, find_examples
from warex.exports.preferences import labels, pairs


def examples(tmp_path: Path) -> list[Example]:
    return find_examples([several_sites(tmp_path / "run")], SelectionOptions()).examples


def test_a_recovery_is_paired_with_giving_up_on_the_same_page(
    tmp_path: Path,
) -> None:
    result = list(pairs(examples(tmp_path)))

    assert len(result) == 3
    assert {it.chosen[0]["content"] for it in result} == {"reload()"}
    assert {it.rejected[0]["content"] for it in result} == {"report_infeasible()"}
    assert {it.rejected_model for it in result} == {"scripted:patient"}
    assert all("500 Internal" in it.prompt[-1]["content"] for it in result)


def test_a_recovery_of_another_task_is_not_a_pair(tmp_path: Path) -> None:
    lonely = [it for it in examples(tmp_path) if it.part == "recovery" or "shop" in it.row.task]

    assert [it.task for it in pairs(lonely)] == ["shop-task"]


def test_answers_that_lose_a_trial_are_labelled_as_not_wanted(tmp_path: Path) -> None:
    result = list(labels(examples(tmp_path)))

    assert {it.label for it in result if it.action == "reload"} == {True}
    assert {it.label for it in result if it.action == "report_infeasible"} == {False}
    assert sum(not it.label for it in result) == 3
    assert len({it.id for it in result}) == len(result)


def acting(action: str, *arguments: str) -> Story:
    """Return a story of one action on a page with a link."""
    url = "https://shop.example/"
    page = shown(GOALS[0], f"URL: {url}\n[7] link 'Till'")
    story = Story().page("x1", url).thinks(1, action, arguments=[*arguments], messages=page)
    return story.stops()


def failing(path: Path, action: str, *arguments: str) -> list[Example]:
    """Return the examples of a solved trial, and of a model's that does one thing and fails."""
    folder = RunFolder(path).manifest()
    folder.trial("clean", "shop-1", solved(), acting("click", "7"))
    folder.trial("clean", "shop-1", failed(), acting(action, *arguments), agent="model")
    return find_examples([load_run(path)], SelectionOptions(mistakes=True)).examples


@pytest.mark.parametrize("action", [("reload",), ("report_infeasible",), ("fill", "99")])
def test_a_wrong_action_on_a_healthy_page_is_a_rejected_answer(
    tmp_path: Path, action: tuple[str, ...]
) -> None:
    examples = failing(tmp_path / "run", *action)

    (pair,) = pairs(examples)

    assert (pair.kind, pair.agent) == ("clean", "patient")
    assert pair.chosen[0]["content"].startswith("click(")
    assert pair.rejected[0]["content"].startswith(f"{action[0]}(")
    assert sorted(it.label for it in labels(examples)) == [False, True]


def test_an_action_on_an_element_of_the_page_is_not_known_to_be_wrong(tmp_path: Path) -> None:
    assert list(pairs(failing(tmp_path / "run", "fill", "7"))) == []
