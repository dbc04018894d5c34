from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, solved
from warex.cli.trial_path import find_trace, latest_attempt
from warex.errors import TraceError


def test_a_trial_is_its_last_attempt(tmp_path: Path) -> None:
    for number in (1, 2, 10):
        (tmp_path / f"attempt-{number}").mkdir()

    assert latest_attempt(tmp_path) == tmp_path / "attempt-10"


def test_an_attempt_or_a_file_is_itself(tmp_path: Path) -> None:
    assert latest_attempt(tmp_path) == tmp_path
    assert latest_attempt(tmp_path / "none") == tmp_path / "none"


def test_a_folder_without_a_trace_is_explained(tmp_path: Path) -> None:
    attempt = RunFolder(tmp_path).manifest().trial("clean", "add", solved(), Story().page("x1"))

    assert find_trace(attempt) == find_trace(attempt.parent) == attempt
    with pytest.raises(TraceError, match=r"events\.jsonl does not exist.*is the folder of a run"):
        find_trace(tmp_path)
