from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from tests.cli.conftest import Warex


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = RunFolder(tmp_path).manifest()
    unhurt = Story().thinks(1, "goto").page("x1").stops()
    hurt = Story().thinks(1, "goto").fault(1).thinks(2, "report_infeasible").stops()
    folder.trial("clean", "add", solved(), unhurt)
    folder.trial("server-error", "add", failed(), hurt)
    return tmp_path


def test_a_run_that_reaches_what_is_demanded_ends_with_0(warex: Warex, run: Path) -> None:
    said = warex("report", run, "--fail-under", "clean.success>=0.9")

    assert (said.code, said.err) == (0, "")


def test_a_run_that_does_not_ends_with_1_and_says_where(warex: Warex, run: Path) -> None:
    said = warex("report", run, "--fail-under", "recovery>=0.8")

    assert said.code == 1
    assert "patient, server-error: recovery is 0" in said.err
    assert "report.html" in said.out


def test_what_is_no_threshold_is_a_sentence_before_anything_is_done(
    warex: Warex, run: Path
) -> None:
    reading = warex("report", run, "--fail-under", "recovry>=0.8")
    running = warex("run", "demo", "--out", run / "new", "--fail-under", "recovery")

    assert reading.code == running.code == 2
    assert "'recovery'" in reading.err
    assert "is no threshold" in running.err
    assert not (run / "report.html").exists()
    assert not (run / "new").exists()
