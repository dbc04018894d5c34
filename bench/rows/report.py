"""The time of ``warex report`` on a run of many trials."""

import subprocess
import sys
import time
from pathlib import Path

from bench.row import Row
from bench.run_folder import write_run
from bench.workspace import Workspace

WAREX = str(Path(sys.executable).with_name("warex"))


def measure(workspace: Workspace) -> list[Row]:
    """Write a run folder and run ``warex report`` on it once."""
    trials = 200 if workspace.quick else 10_000
    run = write_run(workspace.fresh("report") / "run", trials)
    traces = sum(file.stat().st_size for file in run.rglob("*.jsonl"))
    began = time.perf_counter()
    subprocess.run([WAREX, "report", str(run)], stdout=subprocess.DEVNULL, check=True)
    seconds = time.perf_counter() - began
    html = (run / "report.html").stat().st_size
    return [
        Row(
            "report-10000",
            "`warex report` of 10,000 trials",
            seconds,
            "s",
            30,
            at_least=False,
            detail=f"{trials:,} trials, {traces / 1e6:,.0f} MB of traces; report.html"
            f" {html / 1e6:.2f} MB",
        )
    ]
