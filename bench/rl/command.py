"""``python -m bench rl``: learns with several seeds, and prints the curve."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean

from bench.rl.experiment import Experiment, Learning, Round, open_factory, success


def main(argv: Sequence[str]) -> int:
    """Run the experiment; return 1 if success under faults did not rise or clean success fell."""
    parser = argparse.ArgumentParser(prog="python -m bench rl")
    parser.add_argument("--out", type=Path, required=True, help="a new folder for the traces")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--group", type=int, default=8, help="episodes of a task and round")
    parser.add_argument("--json", type=Path, help="write all rewards into this file")
    options = parser.parse_args(argv)
    learned: list[Learning] = []
    with open_factory(options.out) as factory:
        for seed in range(1, options.seeds + 1):
            learned.append(Experiment(factory, seed, options.group).run(options.rounds))
            print(f"seed {seed}: {_pair(learned[-1].start)} before, {_pair(learned[-1].end)} after")
    print(table(learned))
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(it) for it in learned]), encoding="utf-8")
    return int(not all(map(has_learned, learned)))


def has_learned(learning: Learning) -> bool:
    """Whether success under faults rose, and clean success did not fall."""
    start, end = learning.start, learning.end
    rose = success(end.faulted) > success(start.faulted)
    return rose and success(end.clean) >= success(start.clean)


def table(learned: Sequence[Learning]) -> str:
    """Return the curve as a table in Markdown: means over the seeds."""
    lines = ["| round | clean | under faults | unscored |", "| --- | --- | --- | --- |"]
    curve = [("before", [it.start for it in learned])]
    curve += [
        (str(number), [it.rounds[number - 1] for it in learned])
        for number in range(1, len(learned[0].rounds) + 1)
    ]
    curve.append(("after", [it.end for it in learned]))
    for label, rounds in curve:
        clean = fmean(success(it.clean) for it in rounds)
        faulted = fmean(success(it.faulted) for it in rounds)
        unscored = sum(it.unscored for it in rounds)
        lines.append(f"| {label} | {clean:.0%} | {faulted:.0%} | {unscored} |")
    return "\n".join(lines)


def _pair(shown: Round) -> str:
    return f"clean {success(shown.clean):.0%}, under faults {success(shown.faulted):.0%}"
