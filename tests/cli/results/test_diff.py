import json
from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from tests.cli.conftest import Warex


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    run = RunFolder(tmp_path).manifest()
    clean = Story().thinks(1, "goto").page("x1").thinks(2, "click").stops()
    faulted = Story().thinks(1, "goto").fault(1).thinks(2, "report_infeasible").stops()
    return (
        run.trial("clean", "add", solved(), clean),
        run.trial("server-error", "add", failed(), faulted),
    )


def test_two_trials_are_compared_for_people_and_for_programs(
    warex: Warex, pair: tuple[Path, Path]
) -> None:
    shown, read = warex("diff", *pair), warex("diff", *(path.parent for path in pair), "--json")

    assert shown.code == read.code == 0
    assert "They diverge at step 2, after 1 equal step" in " ".join(shown.out.split())
    data = json.loads(read.out)
    assert (data["equal_steps"], data["place"]) == (1, "at_fault")
    assert [step["step"] for step in data["first_divergence"]] == [2, 2]
    assert data["trials"][1]["name"] == "server-error"


def test_a_folder_that_is_not_a_trial_is_named(
    warex: Warex, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    missing, empty = tmp_path / "missing", tmp_path / "empty"
    empty.mkdir()

    for folder, reason in ((missing, "is not a folder"), (empty, "does not exist")):
        answer = warex("diff", pair[0], folder)
        assert (answer.code, str(folder) in answer.err, reason in answer.err) == (2, True, True)
