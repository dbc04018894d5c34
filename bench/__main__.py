"""Measure, print the table, and say whether every target is met.

python -m bench                       all but the demo
python -m bench requests event        the ones that are named
python -m bench --json FILE           the table for programs too
python -m bench --docs FILE           put the table into a page, between its marks
python -m bench --quick               a few seconds each: does it work? The numbers mean little.
"""

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from bench import (
    demo,
    event,
    exec_ready,
    first_event,
    inside,
    machine,
    memory,
    pages,
    ready,
    table,
    throughput,
)
from bench.row import Row
from bench.setting import Setting, setting

BENCHMARKS: Mapping[str, Callable[[Setting], list[Row]]] = {
    "requests": throughput.measure,
    "page": pages.measure,
    "ready": ready.measure,
    "memory": memory.measure,
    "first-event": first_event.measure,
    "namespace": inside.measure,
    "exec": exec_ready.measure,
    "event": event.measure,
    "demo": demo.measure,
}
ONLY_WHEN_NAMED = ("demo",)


def main() -> int:
    """Run the benchmarks that are asked for; return 1 where a target is missed."""
    usual = [name for name in BENCHMARKS if name not in ONLY_WHEN_NAMED]
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="What WAREX costs, in one run beside its peers. Without names: all but the "
        "demo, whose time `time make demo` tells (target: 3 minutes on 2 cores).",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as JSON")
    parser.add_argument("--docs", type=Path, metavar="FILE", help="put the table into a page")
    parser.add_argument("--quick", action="store_true", help="a few seconds each")
    asked = parser.parse_args()
    for name in asked.names:
        if name not in BENCHMARKS:
            parser.error(f"{name!r} is no benchmark; there are {', '.join(BENCHMARKS)}")
    console = Console(stderr=True)
    rows: list[Row] = []
    with setting(asked.quick) as place:
        for name in asked.names or usual:
            with console.status(f"measuring {name}"):
                rows += BENCHMARKS[name](place)
    described = machine.describe()
    table.show(rows)
    if asked.json:
        found = {
            "machine": dict(described),
            "quick": asked.quick,
            "rows": [asdict(row) | {"ok": row.ok} for row in rows],
        }
        asked.json.write_text(json.dumps(found, indent=2) + "\n")
    if asked.docs:
        table.put_into(asked.docs, table.markdown(rows, described))
    if not asked.names:
        print("The demo takes minutes and is measured apart: time make demo (target: ≤ 3 minutes)")
    return 0 if asked.quick or all(row.ok for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
