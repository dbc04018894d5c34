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
OWN = """\
schema_version: 1
name: checkout-fails-twice
rules:
  - name: shop-down
    match: {url: "https://shop.example/checkout*", method: [POST]}
    trigger: {first: 2}
    fault: {kind: http_error, status: 503}
"""


def measure(setting: Setting) -> list[Row]:
    """Start a command in a namespace until it runs, without a scenario and with one of one's own.

    A file is read before the command may start; a preset was read by WAREX's own tests.
    """
    own = setting.folder / "own.yaml"
    own.write_text(OWN)
    options = {
        "alone": [],
        "plain": [WAREX, "exec", "--quiet", "--isolate", "namespace"],
        "preset": [WAREX, "exec", "--quiet", "--scenario", "paper/server-error"],
        "own": [WAREX, "exec", "--quiet", "--scenario", str(own)],
    }
    seconds: dict[str, list[float]] = {name: [] for name in options}
    for _ in range(3 if setting.quick else 31):
        for name, before in options.items():
            seconds[name].append(_until_it_runs(*before))
    alone, plain, preset, with_own = (median(each) * 1000 for each in seconds.values())
    return [
        Row(
            "exec",
            "`warex exec` until the command's first instruction, in a network of its own",
            plain,
            "ms",
            300,
            at_least=False,
            detail=f"slowest {max(seconds['plain']) * 1000:.0f} ms; under a preset {preset:.0f} ms;"
            f" the command alone {alone:.0f} ms",
        ),
        Row(
            "exec-scenario",
            "the same under a scenario of one's own, which is read first",
            with_own,
            "ms",
            300,
            at_least=False,
            detail=f"slowest {max(seconds['own']) * 1000:.0f} ms",
        ),
    ]


def _until_it_runs(*before: str) -> float:
    # By the wall clock, since that is what the command can tell; a leap would show as an outlier.
    began = time.time()  # noqa: TID251
    done = subprocess.run(
        [*before, *(["--"] if before else []), *TOLD], capture_output=True, text=True, check=True
    )
    return float(done.stdout) - began
