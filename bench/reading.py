"""What it takes to read a long trace: processor time and memory, by processor time alone.

Each reading counts what it read: all the events that were written, or the benchmark fails.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.event import event
from bench.row import Row
from bench.setting import Setting
from warex.clock import Clock
from warex.traces import TraceWriter, TrialBegan, TrialEnded

WAREX = str(Path(sys.executable).with_name("warex"))
_READ = """
import resource, sys, time
from pathlib import Path
from warex.traces import read_trace
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
before, began = peak(), time.process_time()
read = read_trace(Path(sys.argv[1]))
print(len(read.entries), time.process_time() - began, peak() - before)
"""


def measure(setting: Setting) -> list[Row]:
    """Write a trace of 400,000 events and one of 100,000; read the one, inspect the other."""
    long, short = (2_000, 1_000) if setting.quick else (400_000, 100_000)
    read = _read(_written(setting.fresh("reading"), long), long)
    seconds = _inspected(_written(setting.fresh("inspect"), short), short)
    detail = f"{long:,} events in {read.seconds:.2f} s of processor time"
    return [
        Row(
            "reading",
            "reading one event of a trace, processor time",
            1e6 * read.seconds / long,
            "µs",
            8,
            at_least=False,
            detail=detail,
        ),
        Row(
            "reading-memory",
            "memory of a trace of 400,000 events, read",
            read.grown / 1e6,
            "MB",
            400,
            at_least=False,
            detail=f"{long:,} events, {read.grown / long:.0f} B each",
        ),
        Row(
            "inspect",
            "`warex inspect` of 100,000 events, processor time",
            seconds,
            "s",
            3,
            at_least=False,
            detail=f"{short:,} events",
        ),
    ]


@dataclass(frozen=True, slots=True)
class _Read:
    seconds: float
    grown: int


def _written(folder: Path, events: int) -> Path:
    with TraceWriter(folder / "events.jsonl", Clock()) as writer:
        writer.write(TrialBegan())
        for number in range(events - 2):
            writer.write(event(number))
        writer.write(TrialEnded(exchanges=events // 2, delivered=0, missed=0))
    return folder


def _read(folder: Path, events: int) -> _Read:
    command = (sys.executable, "-c", _READ, str(folder / "events.jsonl"))
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    count, seconds, grown = said.split()
    _require(int(count), events)
    return _Read(float(seconds), int(grown))


def _inspected(folder: Path, events: int) -> float:
    with (folder / "said").open("wb") as out:
        before = os.times()
        subprocess.run((WAREX, "inspect", str(folder)), stdout=out, check=True)
        after = os.times()
    # A request stands in the timeline with its answer; so every second line is one of it.
    said = (folder / "said").read_text("utf-8")
    _require(said.count("  exchange  "), (events - 2) // 2)
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )


def _require(found: int, wanted: int) -> None:
    if found != wanted:
        raise AssertionError(f"{found:,} events were read of {wanted:,} that were written")
