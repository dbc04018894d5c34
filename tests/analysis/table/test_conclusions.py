from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.run.load import load_run
from warex.analysis.table.conclusions import conclusions
from warex.analysis.table.tabulate import tabulate


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path).manifest(
        conditions=[
            {"name": "clean"},
            {"name": "server-error", "scenario": "paper/server-error"},
            {
                "name": "server-error+refresh",
                "scenario": "paper/server-error",
                "defence": {"name": "refresh", "text": "…"},
            },
        ]
    )


def _plain() -> Story:
    return Story().thinks(1, "goto").page("x1").thinks(2, "click").thinks(3, "click").stops()


def _gives_up() -> Story:
    return Story().thinks(1, "goto").fault(1).stops()


def _recovers() -> Story:
    return Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2").stops()


def _conclusions(folder: RunFolder) -> tuple[str, ...]:
    run = load_run(folder.path)
    return conclusions(run, tabulate(run))


def test_what_is_significant_is_reported_with_interval_and_p(folder: RunFolder) -> None:
    for task in map(str, range(14)):
        folder.trial("clean", task, solved(), _plain())
        folder.trial("server-error", task, failed(), _gives_up())
        folder.trial("server-error+refresh", task, solved(), _recovers())

    assert _conclusions(folder) == (
        "On tasks like these, patient loses 100 points [70, 100] under server-error (adjusted p <"
        " 0.001).",
        "patient under server-error+refresh: +0 points [-22, +22] over 14 pairs. Inconclusive"
        " for tasks like these: server-error+refresh vs clean (adjusted p = 1.000).",
        "Under server-error patient is cheap only because it gives up (premature termination). It"
        " fails and is cheap: success -100 points [-100, -70], cost of the median task at"
        " 33% of clean [33, 33].",
        "For patient on tasks like these, the defence 'refresh' (server-error+refresh against"
        " server-error) helps by +100 points [+70, +100] (adjusted p < 0.001).",
        "patient: the smallest detectable drop over 14 tasks is 60 points (10 % of pairs flipping"
        " by chance, which is assumed).",
    )


def test_few_tasks_are_inconclusive_and_set_no_sample_size(
    folder: RunFolder,
) -> None:
    for task in map(str, range(4)):
        folder.trial("clean", task, solved(), _plain())
        story = _gives_up() if task == "0" else _recovers()
        folder.trial("server-error", task, failed() if task == "0" else solved(), story)

    lines = _conclusions(folder)

    assert lines[0].startswith("patient under server-error: -25 points [")
    assert lines[0].endswith(
        "] over 4 pairs. Inconclusive for tasks like these: server-error vs clean (adjusted p ="
        " 0.500)."
    )
    assert lines[-1].startswith("patient: 4 tasks are too few to detect even a total collapse (")
    # Without a control it is not known how many pairs flip by chance.
    assert lines[-1].endswith("flipping by chance, which is assumed).")
    assert not any("loses" in line for line in lines)


def test_one_task_is_too_few(folder: RunFolder) -> None:
    for condition in ("clean", "server-error"):
        folder.trial(condition, "add", solved(), _plain())

    messages = _conclusions(folder)
    assert messages[-1].startswith("patient: 1 task is too few to detect even a total collapse (")


def test_a_condition_whose_fault_hardly_arrives_is_called_out_first(folder: RunFolder) -> None:
    for task in map(str, range(3)):
        folder.trial("clean", task, solved(), _plain())
        folder.trial("server-error", task, solved(), _plain())
        story = _recovers() if task == "0" else _plain()
        folder.trial("server-error+refresh", task, solved(), story)

    assert _conclusions(folder)[:2] == (
        "patient, server-error: no fault reached a trial, so this condition measures nothing.",
        "patient, server-error+refresh: a fault reached only 1 of 3 trials, so this condition"
        " hardly measures it.",
    )


def test_without_clean_nothing_is_claimed(folder: RunFolder) -> None:
    folder.trial("server-error", "add", failed(), _gives_up())
    assert _conclusions(folder) == (
        "patient: there is no pair with clean, so what its faults change is not known.",
    )


def test_a_run_in_which_nothing_counts_says_so(folder: RunFolder) -> None:
    folder.trial("server-error", "add", None, _gives_up())
    assert _conclusions(folder) == ("No trial counts, so there are no results.",)


def test_many_pairs_without_a_change_are_said_to_be_unchanged(folder: RunFolder) -> None:
    for task in map(str, range(60)):
        folder.trial("clean", task, solved(), _plain())
        folder.trial("server-error", task, solved(), _recovers())
    assert _conclusions(folder)[0] == (
        "On tasks like these, server-error leaves patient's success as it is, to within 10 points:"
        " +0 points [-6, +6]."
    )


def test_with_a_control_the_tasks_that_a_drop_takes_are_reported(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest(
        conditions=[
            {"name": "clean"},
            {"name": "again", "control": True},
            {"name": "server-error", "scenario": "paper/server-error"},
        ]
    )
    for task in map(str, range(20)):
        for condition in ("clean", "again", "server-error"):
            folder.trial(condition, task, solved(), _plain())
    assert _conclusions(folder)[-1].endswith("; a drop of 20 points takes 33 to 69 tasks.")


def test_repeats_give_conclusions_on_these_tasks_and_on_tasks_like_them(
    folder: RunFolder,
) -> None:
    for task in map(str, range(4)):
        for repeat in range(1, 6):
            folder.trial("clean", task, solved(), _plain(), repeat=repeat)
            folder.trial("server-error", task, failed(), _gives_up(), repeat=repeat)
    first, second, *_ = _conclusions(folder)
    assert "Inconclusive for tasks like these: server-error vs clean (adjusted p = 0.062)." in first
    assert second == (
        "On these very 4 tasks, patient loses 100 points under server-error (adjusted p < 0.001)."
    )
