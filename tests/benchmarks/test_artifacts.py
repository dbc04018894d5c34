"""What a benchmark's command left behind is read, whatever it is."""

from pathlib import Path

import pytest

from warex.benchmarks.artifacts import (
    harness_crash,
    last_output,
    read_json_or_empty,
    read_text_or_empty,
)
from warex.errors import TrialVoid
from warex.files.reading import LARGEST


def test_a_harness_without_a_result_is_counted_as_crashed_with_its_reason() -> None:
    result = harness_crash("it ended")

    assert (result.ending, result.score, result.reasons) == ("harness_crashed", 0.0, ("it ended",))
    assert result.void_reason is None


def test_a_file_is_read_as_text_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"a\xff\nb")

    assert read_text_or_empty(tmp_path / "log") == "a�\nb"
    assert read_text_or_empty(tmp_path / "none") == ""


def test_an_object_is_read_and_none_is_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "said.json").write_text('{"score": 1}')

    assert read_json_or_empty(tmp_path / "said.json") == {"score": 1}
    assert read_json_or_empty(tmp_path / "none.json") == {}


@pytest.mark.parametrize("pending", ["", "{", "[1]", "\xff"])
def test_what_is_not_an_object_voids_the_trial(pending: str, tmp_path: Path) -> None:
    (tmp_path / "said.json").write_bytes(pending.encode("latin-1"))

    with pytest.raises(TrialVoid, match=r"said\.json"):
        read_json_or_empty(tmp_path / "said.json")


def test_the_last_words_are_the_last_line_that_says_something(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("one\n it failed here \n" + "x" * 400 + "\n \n")

    assert last_output(log) == ", after it said: " + "x" * 300
    assert last_output(log, about="failed") == ", after it said: it failed here"
    assert last_output(log, about="nowhere") == last_output(log)
    assert last_output(tmp_path / "none") == ""


def test_only_the_end_of_a_large_log_is_read(tmp_path: Path) -> None:
    log = tmp_path / "agent.log"
    with log.open("wb") as file:
        file.truncate(LARGEST + 1)
        file.seek(0, 2)
        file.write(b"\nno memory is left\n")

    assert last_output(log) == ", after it said: no memory is left"
    assert last_output(tmp_path) == ""
