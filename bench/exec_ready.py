"""How long a command waits that is put behind WAREX, and what that is made of."""

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from bench.row import Row
from bench.setting import Setting

WAREX = str(Path(sys.executable).with_name("warex"))
TOLD = ("bash", "-c", "echo $EPOCHREALTIME")
"""Its first instruction, as far as a program can tell: seconds since 1970."""


def measure(setting: Setting) -> list[Row]:
    """Start a command in a namespace until it runs, with the paper's scenario and without."""
    rounds = 3 if setting.quick else 31
    bare = [_until_it_runs() for _ in range(rounds)]
    plain = [_until_it_runs(WAREX, "exec", "--quiet", "--isolate", "namespace") for _ in bare]
    paper = ("--scenario", "paper/server-error")
    faults = [_until_it_runs(WAREX, "exec", "--quiet", *paper) for _ in bare]
    return [
        Row(
            "exec",
            "`warex exec` until the command's first instruction, in a network of its own",
            median(plain) * 1000,
            "ms",
            300,
            at_least=False,
            detail=f"slowest {max(plain) * 1000:.0f} ms; under a scenario"
            f" {median(faults) * 1000:.0f} ms; the command alone {median(bare) * 1000:.0f} ms",
        )
    ]


def _until_it_runs(*before: str) -> float:
    # By the wall clock, since that is what the command can tell; a leap would show as an outlier.
    began = time.time()  # noqa: TID251
    done = subprocess.run(
        [*before, *(["--"] if before else []), *TOLD], capture_output=True, text=True, check=True
    )
    return float(done.stdout) - began
