"""The tasks of a command, read from a file."""

from pathlib import Path

import pytest

from warex.benchmarks.command.options import TaskFile
from warex.benchmarks.command.task_file import read_tasks
from warex.errors import CampaignError


def test_a_task_brings_what_is_its_own_from_where_the_table_says(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(
        '{"id": "a", "judge": {"text": "x"}, "reset": "true", "vocabulary": "webvoyager"}\n'
        '{"id": "b", "judge": null}\n'
    )

    one, two = read_tasks(TaskFile(file="t.jsonl", expect="judge"), file).values()

    assert one.expect is not None
    assert (one.expect.text, one.reset) == ("x", "true")
    assert one.vocabulary is not None
    assert "GoBack" in one.vocabulary.names
    assert (two.expect, two.reset, two.vocabulary) == (None, None, None)


def test_an_invalid_expectation_is_reported_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text('{"id": "a"}\n{"id": "b", "expect": 7}\n')

    with pytest.raises(CampaignError, match=r"t\.jsonl, line 2: expect"):
        read_tasks(TaskFile(file="t.jsonl"), file)
