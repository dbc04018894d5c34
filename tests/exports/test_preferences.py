from pathlib import Path

from tests.exports.runs import several_sites
from warex.exports.examples import Example, SelectionOptions, find_examples
from warex.exports.preferences import labels, pairs


def examples(tmp_path: Path) -> list[Example]:
    return find_examples([several_sites(tmp_path / "run")], SelectionOptions()).examples


def test_a_recovery_is_paired_with_the_answer_of_who_gave_up_at_the_same_page(
    tmp_path: Path,
) -> None:
    found = list(pairs(examples(tmp_path)))

    assert len(found) == 3
    assert {it.chosen[0]["content"] for it in found} == {"reload()"}
    assert {it.rejected[0]["content"] for it in found} == {"report_infeasible()"}
    assert all("500 Internal" in it.prompt[-1]["content"] for it in found)


def test_a_recovery_of_another_task_is_no_pair(tmp_path: Path) -> None:
    lonely = [it for it in examples(tmp_path) if it.part == "recovery" or "shop" in it.row.task]

    assert [it.task for it in pairs(lonely)] == ["shop-task"]


def test_answers_that_lose_a_trial_are_labelled_as_not_wanted(tmp_path: Path) -> None:
    found = list(labels(examples(tmp_path)))

    assert {it.label for it in found if it.action == "reload"} == {True}
    assert {it.label for it in found if it.action == "report_infeasible"} == {False}
    assert sum(not it.label for it in found) == 3
    assert len({it.id for it in found}) == len(found)
