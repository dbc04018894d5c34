from pathlib import Path

from tests.analysis.builders import RunFolder, solved
from tests.analysis.output.test_comparison import compared, run
from warex.analysis.run.load import load_run
from warex.analysis.table.tabulate import tabulate
from warex.report.ci.cases import Case
from warex.report.ci.outputs import CiOutputs
from warex.report.ci.results import comparison_results, run_results
from warex.traces.outcome import Void

GATE = Case("warex.gates", "n>=1", "passed")


def names(folder: Path, *gates: Case) -> list[str]:
    loaded = load_run(folder)
    results = run_results(loaded, tabulate(loaded), gates, CiOutputs())
    return [case.name for case in results.suites[str(folder)]]


def test_a_run_without_a_gate_has_the_case_that_a_trial_counts(tmp_path: Path) -> None:
    RunFolder(tmp_path).manifest().trial("clean", "t", solved())

    assert names(tmp_path) == ["a trial counts"]
    assert names(tmp_path, GATE) == ["n>=1"]


def test_a_run_that_does_not_count_has_it_beside_its_gates(tmp_path: Path) -> None:
    RunFolder(tmp_path).manifest().trial("clean", "t", Void(reason="x"))

    assert names(tmp_path, GATE) == ["a trial counts", "n>=1"]


def test_the_trials_of_a_comparison_are_those_after(tmp_path: Path) -> None:
    run(tmp_path / "old", 2, 2, 2)
    run(tmp_path / "new", 2, 2, 2)
    outputs = CiOutputs(junit=tmp_path / "a.xml", junit_trials=True)

    compared_runs = [compared(tmp_path / "old", tmp_path / "new")]
    results = comparison_results(compared_runs, [GATE], outputs)

    assert list(results.trials) == [str(tmp_path / "new")]
    assert len(results.trials[str(tmp_path / "new")]) == 4
