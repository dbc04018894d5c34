"""What a report of many trials takes: time, memory, and the size of what is read in the end."""

import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from bench.processes import KNOWN, family, resident
from bench.row import Row
from bench.run_folder import write_run
from bench.setting import Setting

WAREX = str(Path(sys.executable).with_name("warex"))
_LOOK = 0.05
"""Seconds between two looks at the memory."""


def measure(setting: Setting) -> list[Row]:
    """Write a run folder and have ``warex report`` read it, as a user would, once.

    The memory is of all its processes together, so Linux only: elsewhere there is no row of it.
    """
    trials = 200 if setting.quick else 10_000
    run = write_run(setting.fresh("report") / "run", trials)
    events = sum(file.stat().st_size for file in run.rglob("*.jsonl"))
    took = _report(run)
    html = (run / "report.html").stat().st_size
    rows = [
        Row(
            "report-10000",
            "`warex report` of 10,000 trials",
            took.seconds,
            "s",
            30,
            at_least=False,
            detail=f"{trials:,} trials, {events / 1e6:,.0f} MB of traces",
        ),
        Row(
            "report-10000-html",
            "its `report.html`",
            html / 1e6,
            "MB",
            10,
            at_least=False,
            detail=f"summary.json {(run / 'summary.json').stat().st_size / 1e6:.2f} MB",
        ),
    ]
    if KNOWN:
        rows.append(
            Row(
                "report-10000-memory",
                "its memory at most, all its processes together",
                took.together / 1e6,
                "MB",
                1500,
                at_least=False,
                detail=f"the largest process {took.largest / 1e6:,.0f} MB",
            )
        )
    return rows


@dataclass(frozen=True, slots=True)
class _Took:
    seconds: float
    together: int
    """Bytes resident in all processes at a time, at most; what they share is counted in each."""
    largest: int
    """Bytes resident in the largest process, at most, as the kernel kept them."""


def _report(run: Path) -> _Took:
    """Make the report; raise CalledProcessError where that fails."""
    command = [WAREX, "report", str(run)]
    ended, seen = threading.Event(), [0]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def look() -> None:
        while KNOWN and not ended.wait(_LOOK):
            seen.append(sum(map(_resident, family(process.pid))))

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    ended.set()
    looking.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    # Linux counts it in kilobytes.
    largest = usage.ru_maxrss * 1024
    return _Took(seconds, max(*seen, largest), largest)


def _resident(pid: int) -> int:
    try:
        return resident(pid, "VmRSS")
    except (OSError, RuntimeError):
        return 0  # It has ended, or is about to.
