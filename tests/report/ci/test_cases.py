from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, failed, solved
from warex.analysis.output.thresholds import JudgedRow, Judgement
from warex.analysis.run.load import load_run
from warex.report.ci.cases import Case, counting_case, gate_cases, trial_cases
from warex.traces.outcome import Unscored, Void

JUDGEMENT = Judgement(
    (
        JudgedRow("recovery>=0.8", "holds", ""),
        JudgedRow("recovery>=0.8", "broken", "a, x: recovery is 0."),
        JudgedRow("clean.success>=0.9", "cannot tell", "a, clean: may be chance."),
        JudgedRow("n>=1", "holds", ""),
    )
)


def test_a_gate_is_one_case_of_all_its_rows() -> None:
    assert gate_cases(JUDGEMENT) == (
        Case("warex.gates", "recovery>=0.8", "failed", "a, x: recovery is 0."),
        Case("warex.gates", "clean.success>=0.9", "skipped", "a, clean: may be chance."),
        Case("warex.gates", "n>=1", "passed"),
    )
    assert gate_cases(None) == ()


def test_an_undecided_case_ends_as_the_option_decides() -> None:
    assert gate_cases(JUDGEMENT, "pass")[1].end == "passed"
    assert gate_cases(JUDGEMENT, "fail")[1].end == "failed"
    assert gate_cases(JUDGEMENT, "pass")[0].end == "failed"


def test_a_trial_is_a_case_by_its_outcome(tmp_path: Path) -> None:
    made = RunFolder(tmp_path).manifest()
    made.trial("clean", "a", solved(3.0))
    made.trial("clean", "b", failed())
    made.trial("clean", "c", Void(reason="the browser did not start"))
    made.trial("clean", "d", Unscored())
    run = load_run(tmp_path)

    cases = {case.name: case for case in trial_cases(run)}

    assert {name: case.end for name, case in cases.items()} == {
        "a": "passed",
        "b": "failed",
        "c": "error",
        "d": "skipped",
    }
    assert cases["a"].group.endswith(".clean")
    assert cases["a"].seconds == pytest.approx(3.0)
    assert cases["c"].message == "void: the browser did not start"
    assert counting_case(run).end == "passed"


def test_a_run_of_void_trials_does_not_count(tmp_path: Path) -> None:
    RunFolder(tmp_path).manifest().trial("clean", "c", Void(reason="x"))

    assert counting_case(load_run(tmp_path)).end == "error"
