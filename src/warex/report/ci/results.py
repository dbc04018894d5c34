"""Collects the results of runs and comparisons for a CI server."""

from collections.abc import Sequence

from warex.analysis.output.comparison import Comparison
from warex.analysis.run.load import Run
from warex.analysis.table.tabulate import Table
from warex.report.ci.cases import Case, counting_case, trial_cases
from warex.report.ci.outputs import CiOutputs
from warex.report.ci.publish import CiReport
from warex.report.ci.sarif import sarif_results
from warex.report.ci.step_summary import comparison_summary, run_summary
from warex.report.text.overview import warnings


def run_results(run: Run, table: Table, gates: Sequence[Case], outputs: CiOutputs) -> CiReport:
    """Return the results of a run. Without a gate its case is that a trial counts."""
    counting = counting_case(run)
    if counting.end != "passed" or not gates:
        gates = (counting, *gates)
    return CiReport(
        suites={str(run.path): tuple(gates)},
        trials={str(run.path): tuple(trial_cases(run))} if outputs.junit_trials else {},
        summary=run_summary(run, table, gates),
        results=tuple(sarif_results(run)) if outputs.sarif else (),
        warnings=warnings(run, table),
    )


def comparison_results(
    comparisons: Sequence[Comparison],
    gates: Sequence[Case],
    outputs: CiOutputs,
) -> CiReport:
    """Return the results of comparisons; trials and attacks are those of the runs after."""
    runs = {str(each.after.run.path): each.after.run for each in comparisons}
    before = dict.fromkeys(str(each.before.run.path) for each in comparisons)
    trials = {path: tuple(trial_cases(run)) for path, run in runs.items()}
    return CiReport(
        suites={f"{', '.join(before)} to {', '.join(runs)}": tuple(gates)},
        trials=trials if outputs.junit_trials else {},
        summary=comparison_summary(comparisons, gates),
        results=tuple(one for run in runs.values() for one in sarif_results(run))
        if outputs.sarif
        else (),
    )
