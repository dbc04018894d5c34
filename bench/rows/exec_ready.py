"""How long a command waits that is put behind WAREX: until it runs, and until it is answered."""

import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import median

from bench.campaigns import own_ca
from bench.row import Row
from bench.traffic.counted_lanes import all_recorded
from bench.traffic.programs import site
from bench.workspace import HOST, Setting
from warex.traces import EVENTS

WAREX = str(Path(sys.executable).with_name("warex"))
_NOW = "echo $EPOCHREALTIME"
TOLD = ("bash", "-c", _NOW)
"""Its first instruction, as far as a program can tell: seconds since 1970."""


def measure(setting: Setting) -> list[Row]:
    """Start a command in a namespace until it runs, and one until it is answered."""
    return [_until_run(setting), _until_answered(setting)]


def _until_run(setting: Setting) -> Row:
    plain = (WAREX, "exec", "--quiet", "--isolate", "namespace", "--")
    alone, behind = list[float](), list[float]()
    for _ in range(3 if setting.quick else 31):
        alone.append(_until_told(*TOLD))
        behind.append(_until_told(*plain, *TOLD))
    return Row(
        "exec",
        "`warex exec` until the command's first instruction, in a network of its own",
        median(behind) * 1000,
        "ms",
        300,
        at_least=False,
        detail=f"slowest {max(behind) * 1000:.0f} ms; the command alone"
        f" {median(alone) * 1000:.0f} ms",
    )


def _until_answered(setting: Setting) -> Row:
    """Start curl, which asks for a page over TLS at once, with and without ``warex exec``."""
    what = "`warex exec` until curl, which asks at once, has read its first answer"
    if not (curl := shutil.which("curl")):
        why = "curl is not installed: install your system's package curl"
        return Row("exec-answer", what, None, "ms", 600, at_least=False, detail=why)
    alone, behind = list[float](), list[float]()
    with site("bench.traffic.quick_site", *setting.tls) as port, own_ca(setting):
        url = f"https://{HOST}:{port}/first"
        ask = ("bash", "-c", f'{curl} -s --http1.1 -o /dev/null "$@" && {_NOW}', "bash", url)
        bare = (*ask, "--cacert", str(setting.ca.certificate))
        for _ in range(3 if setting.quick else 31):
            alone.append(_until_told(*bare))
            out = setting.fresh("exec")
            behind.append(_until_told(WAREX, "exec", "--quiet", "--out", str(out), "--", *ask))
            all_recorded(Counter([url]), out / EVENTS)
    return Row(
        "exec-answer",
        what,
        median(behind) * 1000,
        "ms",
        600,
        at_least=False,
        detail=f"slowest {max(behind) * 1000:.0f} ms; curl alone {median(alone) * 1000:.0f} ms",
    )


def _until_told(*command: str) -> float:
    """Return how long a command takes until it prints the time."""
    # By the wall clock, since that is what the command can tell; a leap would show as an outlier.
    began = time.time()  # noqa: TID251
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return float(done.stdout) - began
