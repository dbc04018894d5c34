"""python -m bench hard-test: make the rows of the hard test from the testbed's unseen sites.

The scripted agent solves their tasks with nothing failing; its steps give the pages of the pairs.
This takes about two minutes on 2 cores. `--out src/warex/training/evaluation/hard_test.json`
replaces the test that WAREX brings.
"""

import argparse
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.training.campaigns import HELD_OUT, SCRIPTED, Campaign, tasks_of
from bench.training.steps import WAREX
from warex.exports.dataset import read_dataset
from warex.training.evaluation.hard_test import HardTestFile, matched_pairs


def main(arguments: Sequence[str]) -> int:
    """Write the file; return 1 if a command fails."""
    parser = argparse.ArgumentParser(prog="python -m bench hard-test", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    asked = parser.parse_args(arguments)
    with TemporaryDirectory(prefix="warex-hard-test-") as scratch:
        folder = Path(scratch)
        campaign = Campaign("pages", tasks_of(HELD_OUT, None), [SCRIPTED], {}).write(folder)
        run, rows = str(folder / "run"), folder / "rows"
        export = ("--only", "clean", "--all", "--split", "none", "--out", str(rows))
        for command in (("run", str(campaign), "--out", run), ("export", run, *export)):
            if subprocess.run([WAREX, *command], check=False).returncode:
                return 1
        dataset = read_dataset(rows)
        pairs = tuple(matched_pairs(dataset.rows("train")))
    made = HardTestFile(
        made_by="python -m bench hard-test",
        vocabulary=dataset.vocabulary(pairs[0]),
        rows=pairs,
    )
    asked.out.write_text(made.model_dump_json(indent=1, exclude_defaults=True) + "\n")
    print(f"{len(pairs)} rows in {asked.out}")
    return 0
