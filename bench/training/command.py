"""python -m bench training: from failures on the testbed to a model that recovers, end to end.

Campaigns make the traces; stage one teaches SmolLM2-135M the clean steps of the known sites, stage
two to recover, by the paper's recipe. Held-out sites and error pages test it, and it then drives
the reference agent. On 2 cores it takes an hour; begun again, it goes on where it was.
"""

import argparse
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from bench import machine
from bench.training.experiment import FULL, SMALL, Experiment, smollm2
from bench.training.verdict import LEAST_ASKED, found, tables, wrong

_LONGEST = 60
"""Minutes."""


def main(arguments: Sequence[str]) -> int:
    """Run what is not done yet, print the numbers; return 1 where a claim does not hold."""
    parser = argparse.ArgumentParser(prog="python -m bench training", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="all that is made")
    parser.add_argument("--model", metavar="NAME", help="another one (default: SmolLM2-135M)")
    parser.add_argument("--quick", action="store_true", help="a few minutes: does it work?")
    asked = parser.parse_args(arguments)
    try:
        model = asked.model or smollm2()
    except FileNotFoundError as error:
        parser.error(str(error))
    began = time.monotonic()

    def tell(told: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {told}", flush=True)

    experiment = Experiment(asked.out.resolve(), SMALL if asked.quick else FULL, model, tell)
    try:
        experiment.run()
    except subprocess.CalledProcessError as error:
        print(f"failed, see {experiment.folder / 'log'}: {' '.join(map(str, error.cmd))}")
        return 1
    it = found(experiment)
    told = f"Machine: {', '.join(f'{name} {value}' for name, value in machine.describe().items())}."
    page = f"{told}\n\n{tables(it)}"
    (experiment.folder / "results.md").write_text(page)
    print(f"\n{page}")
    claims = list(wrong(it, least_asked=1 if asked.quick else LEAST_ASKED))
    minutes = sum(it.seconds.values()) / 60
    if minutes > _LONGEST:
        claims.append(f"it took {minutes:.0f} minutes, not {_LONGEST}")
    for claim in claims:
        print(f"wrong: {claim}")
    return 1 if claims else 0
