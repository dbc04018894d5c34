from pathlib import Path

import pytest

from warex.agents.scripted_model.tasks import OracleStep, TaskFileError, load

GOOD = """
[[task]]
name = "a"
goal = "Do  it"
site = "ignored"
[[task.oracle]]
page = "p"
action = "click"
role = "link"
name = "n"
"""


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "tasks.toml"
    path.write_text(text)
    return path


def test_a_task_is_found_by_its_goal(tmp_path: Path) -> None:
    tasks = load(_file(tmp_path, GOOD))
    task = tasks.find(" Do it\n")
    assert task is not None
    assert task.oracle == (OracleStep("p", "click", "link", "n"),)
    assert tasks.find("Do that") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no"),
        ("task = [1]", "task 1 is 1, not a table"),
        ("[[task", "is not TOML"),
        ("a = " + "[" * 100_000, "is not TOML"),
        (GOOD.replace('goal = "Do  it"', ""), "task 'a': goal is None"),
        (GOOD.replace('"click"', '"hover"'), "task 'a', oracle step 1: action is 'hover'; allowed"),
        (GOOD.replace('"click"', '"fill"'), "text is None"),
        (GOOD.replace('name = "n"', ""), "oracle step 1: name is None"),
        (GOOD.partition("[[task.oracle]]")[0], "has no"),
        (GOOD + GOOD.replace('"a"', '"b"').replace("Do  it", "Do it"), "'a' and 'b' have one goal"),
    ],
)
def test_a_bad_task_file_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(TaskFileError) as refused:
        load(_file(tmp_path, text))
    assert message in str(refused.value)
    assert "tasks.toml" in str(refused.value)


def test_a_missing_task_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskFileError, match="cannot be read: No such file"):
        load(tmp_path / "none.toml")
