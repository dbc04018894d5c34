"""`python -m tests.analysis.trajectories.collector.testbed RUN OUT --first N`: add trials of a run.

It takes the trials with faults from a finished run on the testbed, such as `warex demo`'s.
"""

import argparse
import json
from pathlib import Path

from tests.analysis.trajectories.collector.index import Entry, write
from tests.analysis.trajectories.collector.trace import delivered, shrink


def main() -> None:
    """Store the trials' reduced traces and add them to the index."""
    parser = argparse.ArgumentParser(prog="collector.testbed")
    parser.add_argument("run", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--first", type=int, default=201)
    parser.add_argument("--most", type=int, default=8, help="injections of one trial")
    parser.add_argument("--skip", default="", help="tasks to leave out, by commas")
    arguments = parser.parse_args()
    number = arguments.first
    for events in sorted(arguments.run.glob("trials/testbed/*/*/*/*/attempt-*/events.jsonl")):
        agent, condition, task = events.parts[-6:-3]
        lines = shrink(events)
        if task in arguments.skip.split(",") or not 1 <= delivered(lines) <= arguments.most:
            continue
        outcome = json.loads(events.with_name("outcome.json").read_text("utf-8"))
        hidden = {"agent": agent, "faults": condition, "task": task}
        name = f"c{number}"
        (arguments.out / f"{name}.jsonl").write_text(
            "".join(f"{line}\n" for line in lines), "utf-8"
        )
        solved = outcome["score"] == 1.0
        write(arguments.out, Entry(name, "testbed", solved, outcome.get("answer"), hidden))
        number += 1


if __name__ == "__main__":
    main()
