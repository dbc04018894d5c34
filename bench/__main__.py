"""Run the benchmarks, print the table and check each target.

python -m bench                       all but the demo
python -m bench requests exec         only these
python -m bench --json FILE           write the table as JSON, too
python -m bench --docs FILE           write the table into a page, between its marks
python -m bench --quick               a few seconds each: only shows that the benchmarks run

python -m bench soak                  100,000 requests through one lane: does its ledger add up?
python -m bench fuzz                  2,000 mutated messages: does the lane survive them?
python -m bench coverage              how often do a report's intervals cover the true value?
python -m bench secrets               how many planted secrets stand in the files of a trial?
python -m bench training --out DIR    does a model learn to recover from examples of the runs?
python -m bench dagger --out DIR      does a ranker learn from its own steps, relabelled?
python -m bench hard-test --out FILE  make the rows of `warex evaluate --test hard` again
python -m bench rl --out DIR          does a ranker learn to recover by reward alone?
python -m bench training-speed        is WAREX's training as fast as plain TRL?
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from rich.console import Console

from bench import machine, table
from bench.coverage import command as coverage
from bench.fuzz import command as fuzz
from bench.rl import command as rl
from bench.row import Row
from bench.rows import (
    calls,
    demo,
    exec_ready,
    first_event,
    latency,
    memory,
    overhead,
    pace,
    pages,
    processor,
    ready,
    redaction,
    report,
    start,
    view,
)
from bench.secrets import command as secrets
from bench.soak import command as soak
from bench.training import command as training
from bench.training import dagger, hard_test, speed
from bench.workspace import Workspace, open_workspace


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A function that measures one or several rows."""

    measure: Callable[[Workspace], list[Row]]
    rows: tuple[str, ...]
    """The names of its rows; ``memory`` is absent on a machine without ``/proc``."""


BENCHMARKS: Mapping[str, Benchmark] = {
    **{
        load.name: Benchmark(partial(processor.measure, of=load), processor.names(load))
        for load in processor.LOADS
    },
    "page": Benchmark(pages.measure, ("page",)),
    "calls": Benchmark(calls.measure, ("calls", "files")),
    "pace": Benchmark(pace.measure, ("pace", "pace-rate")),
    "redaction": Benchmark(redaction.measure, ("redaction", "redaction-new")),
    "ready": Benchmark(ready.measure, ("ready",)),
    "memory": Benchmark(memory.measure, ("lane-memory", "episode-memory", "memory")),
    "first-event": Benchmark(first_event.measure, ("first-event",)),
    "start": Benchmark(start.measure, ("version", "help", "exec-idle")),
    "exec": Benchmark(exec_ready.measure, ("exec", "exec-answer", "exec-processor")),
    "proxy-latency": Benchmark(latency.measure, ("proxy-latency",)),
    "campaign-overhead": Benchmark(overhead.measure, ("campaign-overhead",)),
    "report-10000": Benchmark(report.measure, ("report-10000",)),
    "view": Benchmark(view.measure, view.NAMES),
    "demo": Benchmark(demo.measure, ("demo",)),
}
ONLY_WHEN_NAMED = ("demo",)
CHECKS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "soak": soak.main,
    "fuzz": fuzz.main,
    "coverage": coverage.main,
    "secrets": secrets.main,
    "training": training.main,
    "dagger": dagger.main,
    "rl": rl.main,
    "hard-test": hard_test.main,
    "training-speed": speed.main,
}
"""Separate commands, which check or make something instead of measuring; 0 if all is well."""

USUAL = tuple(name for name in BENCHMARKS if name not in ONLY_WHEN_NAMED)


def main() -> int:
    """Run the chosen benchmarks; return 1 if a target is missed."""
    if sys.argv[1:] and sys.argv[1] in CHECKS:
        return CHECKS[sys.argv[1]](sys.argv[2:])
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure what WAREX costs. Without names: all but the "
        "demo, which `time make demo` measures (target: 3 minutes on 2 cores).",
        epilog=f"Commands of their own, each with --help: {', '.join(CHECKS)}.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as JSON")
    parser.add_argument("--docs", type=Path, metavar="FILE", help="write the table into a page")
    parser.add_argument("--quick", action="store_true", help="a few seconds each")
    asked = parser.parse_args()
    for name in asked.names:
        if name not in BENCHMARKS:
            parser.error(
                f"{name!r} is not a benchmark; there are {', '.join((*BENCHMARKS, *CHECKS))}"
            )
    console = Console(stderr=True)
    rows: list[Row] = []
    with open_workspace(asked.quick) as workspace:
        for name in asked.names or USUAL:
            with console.status(f"measuring {name}"):
                rows += BENCHMARKS[name].measure(workspace)
    described = machine.describe()
    table.show(rows)
    if asked.json:
        results = {
            "machine": dict(described),
            "quick": asked.quick,
            "rows": [asdict(row) | {"ok": row.ok} for row in rows],
        }
        asked.json.write_text(json.dumps(results, indent=2) + "\n")
    if asked.docs:
        table.put_into(asked.docs, table.markdown(rows, described))
    if not asked.names:
        print("The demo is measured separately: time make demo (target: ≤ 3 minutes)")
    return 0 if asked.quick or all(row.ok is not False for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
