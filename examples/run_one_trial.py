"""Run one trial: one agent, one task, one scenario, with a real browser.

    python examples/run_one_trial.py

The embedded agent does a task on the embedded calendar while the first page fails. `patient`
reloads it; try `giveup` instead, or `scenario=None` for no fault.
"""

import tempfile
from pathlib import Path

from warex.benchmarks import AgentSpec, benchmark_kind
from warex.proxy.certificates.ca import ensure_ca
from warex.proxy.process.forkserver import Forkserver
from warex.sandbox.chromium import find_chromium
from warex.scenarios.load import load_scenario
from warex.traces import FaultDelivered, TrialKey, read_trace
from warex.trials import TrialContext, TrialSpec, run_trial
from warex.trials.scripted_model import ScriptedModelProcess


def main() -> None:
    """Run the trial and print its outcome."""
    benchmark = benchmark_kind("testbed")()
    task, script = benchmark.tasks()[0], benchmark.scripted_task_files()
    assert script is not None
    spec = TrialSpec(
        TrialKey("testbed", "patient", "server-error", task, 1),
        AgentSpec("patient", "scripted:patient"),
        seed=1,
        scenario=load_scenario("paper/server-error"),
    )
    forkserver = Forkserver()
    with tempfile.TemporaryDirectory() as folder, ScriptedModelProcess(script) as model:
        context = TrialContext(benchmark, forkserver, ensure_ca(), find_chromium(), model=model)
        outcome = run_trial(spec, 1, Path(folder), context)
        delivered = list(read_trace(Path(folder) / "events.jsonl").events(FaultDelivered))
        print(f"task:    {task}")
        print(f"faults:  {len(delivered)} delivered")
        print(f"outcome: {outcome}")
    forkserver.close()


if __name__ == "__main__":
    main()
