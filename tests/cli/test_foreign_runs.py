"""Run folders of other people: one sentence each, no hanging, no traceback."""

import os
from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, solved
from tests.cli.conftest import Warex
from tests.files.test_reading import PLACES

FILES = ("events.jsonl", "outcome.json")


@pytest.fixture
def attempt(tmp_path: Path) -> Path:
    run = RunFolder(tmp_path / "run").manifest()
    return run.trial("clean", "t", solved(), Story().page("p1").thinks(1, "goto").stops())


def _put(path: Path, what: str) -> None:
    path.unlink(missing_ok=True)
    PLACES[what](path)


@pytest.mark.parametrize("what", PLACES)
@pytest.mark.parametrize("name", FILES)
def test_a_folder_in_place_of_a_file_is_named(
    warex: Warex, attempt: Path, name: str, what: str
) -> None:
    _put(attempt / name, what)

    for command in (("report", attempt.parents[6]), ("inspect", attempt)):
        result = warex(*command)
        assert result.code == 2
        assert f"{name} cannot be read: " in result.err
        assert result.err.count("\n") == 1


@pytest.mark.parametrize("what", PLACES)
def test_a_folder_in_place_of_the_manifest_is_named(warex: Warex, attempt: Path, what: str) -> None:
    _put(attempt.parents[6] / "manifest.json", what)

    result = warex("report", attempt.parents[6])

    assert result.code == 2
    assert "manifest.json cannot be read: " in result.err


@pytest.mark.parametrize("above", [0, 1, 2, 5])
def test_a_link_in_place_of_a_folder_is_refused(warex: Warex, attempt: Path, above: int) -> None:
    folder = [attempt, *attempt.parents][above]
    elsewhere = attempt.parents[7] / "elsewhere"
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)

    result = warex("report", attempt.parents[6])

    assert result.code == 2
    assert f"{folder} is a link, to {elsewhere}; a run holds its trials itself" in result.err


def test_an_attempt_that_is_a_link_to_itself_is_refused(warex: Warex, attempt: Path) -> None:
    loop = attempt.with_name("attempt-2")
    loop.symlink_to(loop.name)

    assert "attempt-2 is a link" in warex("report", attempt.parents[6]).err


def test_a_line_without_end_is_named(warex: Warex, attempt: Path) -> None:
    os.truncate(attempt / "outcome.json", 1 << 40)

    assert (
        "outcome.json cannot be read: it has more than" in warex("report", attempt.parents[6]).err
    )
