"""Tasks of a file: JSON, JSONL, or one a line."""

from pathlib import Path

import pytest

from warex.benchmarks.task_file import NamedTask, read_task_file
from warex.errors import CampaignError


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".json", '[{"id": "a"}, {"id": "b"}]'),
        (".json", '{"a": {}, "b": {}}'),
        (".jsonl", '{"id": "a"}\n\n{"id": "b"}\n'),
    ],
)
def test_tasks_are_in_the_order_of_their_file(tmp_path: Path, suffix: str, text: str) -> None:
    (tmp_path / "t").write_text(text)

    assert list(read_task_file(tmp_path / "t", "t", suffix, NamedTask, "")) == ["a", "b"]


@pytest.mark.parametrize(
    ("suffix", "text", "says"),
    [
        (".json", '[{"id": "a"}, {"id": ""}]', "t, task 2: id"),
        (".json", '[{"id": "a\\u0000b"}]', "t, task 1: id: .* holds a NUL"),
        (".jsonl", '{"id": "\\ud800"}', "t, line 1: id"),
        (".json", "7", "t is not a list of tasks"),
        (".json", "[", "t is not a list of tasks"),
        (".jsonl", "\n7\n", "t, line 2: "),
        (".jsonl", "\n[\n", "t, line 2 is not JSON"),
        (".json", "[]", "t holds no task: give one"),
    ],
)
def test_what_is_not_a_task_is_named_with_its_place(
    tmp_path: Path, suffix: str, text: str, says: str
) -> None:
    (tmp_path / "t").write_text(text)

    with pytest.raises(CampaignError, match=says):
        read_task_file(tmp_path / "t", "t", suffix, NamedTask, "give one")
