"""python -m bench training: train a model to recover, on examples from the testbed, and test it.

Campaigns produce the traces. Rankers learn from the known sites, one without failures and one for
each seed with them; they are asked the held-out steps and the hard test, and drive the reference
agent on unseen sites. Then SmolLM2-135M learns from a sample of the same steps, mixed in one stage
and by the paper's two stages, and all are asked the same rows. Without the language model, or
without live tasks, this is to fit an hour on 2 cores; with both it takes some hours.
``--live-fault`` picks one fault, ``--seeds`` fewer seeds. A second call resumes it.
"""

import argparse
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench import machine
from bench.training.campaigns import LIVE_FAULTS
from bench.training.experiment import FULL, SMALL, Experiment, Size, smollm2
from bench.training.verdict import MIN_FAILURES, failed_claims, goals, read_result, tables

_LONGEST = 60
"""Allowed minutes without live tasks."""


def main(arguments: Sequence[str]) -> int:
    """Run the remaining steps, print the numbers; return 1 if a claim does not hold."""
    options = parser()
    asked = options.parse_args(arguments)
    try:
        model = None if asked.ranker_only else asked.model or smollm2()
    except FileNotFoundError as error:
        options.error(str(error))
    began = time.monotonic()

    def progress(step: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {step}", flush=True)

    size = size_of(asked)
    experiment = Experiment(asked.out.resolve(), size, model, progress=progress)
    try:
        experiment.run()
    except subprocess.CalledProcessError as error:
        print(f"failed, see {experiment.folder / 'log'}: {' '.join(map(str, error.cmd))}")
        return 1
    result = read_result(experiment)
    described = ", ".join(f"{name} {value}" for name, value in machine.describe().items())
    page = f"Machine: {described}.\n\n{tables(result)}"
    (experiment.folder / "results.md").write_text(page)
    print(f"\n{page}")
    claims = list(failed_claims(result, min_failures=1 if asked.quick else MIN_FAILURES))
    minutes = sum(it.seconds for it in result.durations.values()) / 60
    if asked.no_live and minutes > _LONGEST:
        claims.append(f"it took {minutes:.0f} minutes, more than {_LONGEST}")
    for claim in claims:
        print(f"wrong: {claim}")
    reached = all(yes for yes, _ in goals(result)) or asked.quick
    return 1 if claims or not reached else 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench training", description=__doc__)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for all files"
    )
    parser.add_argument("--model", metavar="NAME", help="another model (default: SmolLM2-135M)")
    parser.add_argument(
        "--ranker-only", action="store_true", help="no language model, for which torch is needed"
    )
    parser.add_argument(
        "--stages",
        choices=("one", "two", "both"),
        default="both",
        help="of the language model: one mixed stage, the paper's two, or first one, then the"
        " other for comparison (default)",
    )
    parser.add_argument("--seeds", type=int, metavar="N", help="number of seeds (default: 3)")
    parser.add_argument(
        "--asked",
        type=int,
        metavar="N",
        help=f"rows of each kind that a language model is asked (default: {FULL.asked}, and"
        f" {FULL.asked_hard} of the hard test)",
    )
    parser.add_argument("--no-live", action="store_true", help="no live tasks")
    parser.add_argument(
        "--live-fault",
        action="append",
        choices=tuple(LIVE_FAULTS),
        help="of the live tasks; can be repeated (default: each of the four)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="a few minutes: only shows that it runs"
    )
    return parser


def size_of(asked: argparse.Namespace) -> Size:
    """Return the size that was asked for."""
    size = SMALL if asked.quick else FULL
    if asked.seeds is not None:
        size = replace(size, seeds=tuple(range(asked.seeds)))
    if asked.live_fault:
        size = replace(size, live_faults=tuple(asked.live_fault))
    if asked.asked is not None:
        size = replace(size, asked=asked.asked, asked_hard=asked.asked)
    if asked.stages == "one":
        size = replace(size, stage_one=None)
    elif asked.stages == "two":
        size = replace(size, stage_one=FULL.stage_one, mixed=False)
    return replace(size, live=(), ranker_live=()) if asked.no_live else size
