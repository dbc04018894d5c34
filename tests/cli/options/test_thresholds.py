from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from tests.cli.conftest import Warex


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = RunFolder(tmp_path).manifest()
    unhurt = Story().thinks(1, "goto").page("x1").stops()
    hurt = Story().thinks(1, "goto").fault(1).thinks(2, "report_infeasible").stops()
    for task in ("add", "move", "share"):
        folder.trial("clean", task, solved(), unhurt)
        folder.trial("server-error", task, failed(), hurt)
    return tmp_path


def test_a_run_that_reaches_what_is_demanded_ends_with_0(warex: Warex, run: Path) -> None:
    result = warex("report", run, "--fail-under", "clean.success>=0.9")

    assert (result.code, result.err) == (0, "")


def test_a_run_that_does_not_ends_with_1_and_says_where(warex: Warex, run: Path) -> None:
    result = warex("report", run, "--fail-under", "recovery>=0.8")

    assert result.code == 1
    assert "patient, server-error: recovery is 0" in result.err
    assert "report.html" in result.out


@pytest.mark.parametrize(("on_unclear", "code"), [((), 4), (("pass",), 0), (("fail",), 1)])
def test_an_undecided_gate_exits_with_4_or_as_given(
    warex: Warex, run: Path, on_unclear: tuple[str, ...], code: int
) -> None:
    options = ("--on-unclear", *on_unclear) if on_unclear else ()
    result = warex("report", run, "--fail-under", "recovery>=0.5", *options)

    assert result.code == code
    assert "it cannot be decided whether the run meets --fail-under:" in result.err
    assert "recovery is 0 (0/3, 95 % interval 0 to 0.71, p = 0.125); that it is not" in result.err


def test_without_a_gate_nothing_can_be_unclear(warex: Warex, run: Path) -> None:
    result = warex("report", run, "--on-unclear", "pass")
    assert (result.code, "no gate is given" in result.err) == (2, True)


@pytest.mark.parametrize("demand", ["success>=80", "clean.recovery>=0.5", "clean.delta>=-0.1"])
def test_a_gate_that_can_never_decide_is_refused_before_the_run(
    warex: Warex, run: Path, demand: str
) -> None:
    assert warex("run", "demo", "--out", run / "new", "--fail-under", demand).code == 2
    assert not (run / "new").exists()


def test_what_is_not_a_threshold_is_a_sentence_before_anything_is_done(
    warex: Warex, run: Path
) -> None:
    reading = warex("report", run, "--fail-under", "recovry>=0.8")
    running = warex("run", "demo", "--out", run / "new", "--fail-under", "recovery")

    assert reading.code == running.code == 2
    assert "'recovery'" in reading.err
    assert "is not a threshold" in running.err
    assert not (run / "report.html").exists()
    assert not (run / "new").exists()
