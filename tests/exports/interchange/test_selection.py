from pathlib import Path

import pytest

from tests.exports.runs import several_sites
from warex.errors import InputError, TraceError
from warex.exports.interchange.selection import select_trials


def test_a_file_is_at_the_place_of_its_trial(tmp_path: Path) -> None:
    several_sites(tmp_path / "run", ("shop",))

    selection = select_trials([tmp_path / "run"], ["patient"], ["clean"])

    (trial,) = selection.trials
    place = "trials/testbed/patient/clean/shop-task/1.har"
    assert trial.file(tmp_path / "out", ".har") == tmp_path / "out" / place
    assert select_trials([trial.path.parent]).trials[0].path == trial.path


def test_runs_of_one_name_have_folders_of_their_own(tmp_path: Path) -> None:
    several_sites(tmp_path / "a" / "run", ("shop",))
    several_sites(tmp_path / "b" / "run", ("shop",))

    selection = select_trials([tmp_path / "a" / "run", tmp_path / "b" / "run"])

    assert {trial.folder for trial in selection.trials} == {"run", "run-2"}


def test_a_folder_without_a_trial_is_a_sentence(tmp_path: Path) -> None:
    several_sites(tmp_path / "run", ("shop",))

    with pytest.raises(TraceError, match="holds no trial"):
        select_trials([tmp_path / "none"])
    with pytest.raises(InputError, match="no trial with a trace"):
        select_trials([tmp_path / "run"], ["nobody"])
