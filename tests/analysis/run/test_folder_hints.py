from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, solved
from warex.analysis.inspection.timeline import inspect_trial
from warex.analysis.run.folder_hints import folder_hint
from warex.analysis.run.load import load_run
from warex.errors import TraceError
from warex.traces.paths import EVENTS


@pytest.fixture
def trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a trial's attempt in the run ``runs/my run``."""
    monkeypatch.chdir(tmp_path)
    folder = RunFolder(Path("runs/my run")).manifest()
    return folder.trial("clean", "add", solved(), Story().page("x1").stops())


def test_inspecting_a_run_suggests_report(trial: Path) -> None:
    with pytest.raises(TraceError) as caught:
        inspect_trial(Path("runs/my run"))

    assert "runs/my run holds no trial" in str(caught.value)
    assert "It is the folder of a run: `warex report 'runs/my run'` shows it" in str(caught.value)
    assert f"`warex inspect '{trial}'` one of its trials." in str(caught.value)


@pytest.mark.parametrize("up", [0, 1])
def test_reporting_a_trial_suggests_inspect(trial: Path, up: int) -> None:
    named = (trial, *trial.parents)[up]
    with pytest.raises(TraceError) as caught:
        load_run(named)

    assert f"It is the folder of a trial: `warex inspect '{named}'` shows it" in str(caught.value)
    assert "`warex report 'runs/my run'` the run that it is part of." in str(caught.value)


def test_what_exec_wrote_is_a_trial_of_no_run(tmp_path: Path) -> None:
    Story().page("x1").stops().write(tmp_path / EVENTS)

    assert folder_hint(tmp_path) == (
        f"It is the folder of a trial: `warex inspect {tmp_path}` shows it."
    )


def test_a_part_of_a_run_leads_to_the_run_and_to_a_trial(trial: Path) -> None:
    for part in trial.parents[1:6]:
        text = folder_hint(part)

        assert text.startswith("It is part of a run: `warex report 'runs/my run'` shows the run")
        assert f"`warex inspect '{trial}'` a trial in it." in text


def test_a_folder_of_runs_and_any_other_say_what_can_be_named(trial: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    assert folder_hint(Path("runs")) == (
        "There are runs in it: `warex report 'runs/my run'` shows one."
    )
    assert folder_hint(tmp_path / "empty").startswith("Name a folder that `warex run`")
