"""The delay of a command behind ``warex exec``, until it runs and until its first answer.

Python keeps its bytecode, as users' does; without, each start compiles all that it imports.
"""

import os
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from bench.campaigns import use_workspace_ca
from bench.row import Row
from bench.traffic.counted_lanes import check_recorded
from bench.traffic.programs import site
from bench.workspace import HOST, Workspace
from warex.traces import EVENTS

WAREX = str(Path(sys.executable).with_name("warex"))
_ANSWER_MS, _PROCESSOR_MS = 350, 600
_PRINT_TIME = "echo $EPOCHREALTIME"
_COMMAND = ("bash", "-c", _PRINT_TIME)
"""Prints the time, in seconds since 1970, as its first instruction."""


def measure(workspace: Workspace) -> list[Row]:
    """Measure a command in a namespace until it runs, and one until its first answer."""
    return [_until_running(workspace), *_until_answer(workspace)]


def _until_running(workspace: Workspace) -> Row:
    plain = (WAREX, "exec", "--quiet", "--isolate", "namespace", "--")
    direct, proxied = list[float](), list[float]()
    for _ in range(3 if workspace.quick else 31):
        direct.append(_seconds_until_time(*_COMMAND))
        proxied.append(_seconds_until_time(*plain, *_COMMAND))
    return Row(
        "exec",
        "`warex exec` until the command's first instruction, in a network of its own",
        median(proxied) * 1000,
        "ms",
        300,
        at_least=False,
        detail=f"slowest {max(proxied) * 1000:.0f} ms; the command alone"
        f" {median(direct) * 1000:.0f} ms",
    )


def _until_answer(workspace: Workspace) -> list[Row]:
    """Start curl, which fetches a page over TLS, with and without ``warex exec``."""
    what = "`warex exec` until curl, which asks at once, has read its first answer"
    cost = "the same, to its end: processor time of `warex exec` and all that it starts"
    if not (curl := shutil.which("curl")):
        why = "curl is not installed: install your system's package curl"
        return [
            Row("exec-answer", what, None, "ms", _ANSWER_MS, at_least=False, detail=why),
            Row("exec-processor", cost, None, "ms", _PROCESSOR_MS, at_least=False, detail=why),
        ]
    direct, proxied, used = list[float](), list[float](), list[float]()
    with site("bench.traffic.quick_site", *workspace.tls) as port, use_workspace_ca(workspace):
        url = f"https://{HOST}:{port}/first"
        ask = ("bash", "-c", f'{curl} -s --http1.1 -o /dev/null "$@" && {_PRINT_TIME}', "bash", url)
        bare = (*ask, "--cacert", str(workspace.ca.certificate))
        for _ in range(3 if workspace.quick else 31):
            direct.append(_seconds_until_time(*bare))
            out = workspace.fresh("exec")
            before = _processor_seconds()
            proxied.append(
                _seconds_until_time(WAREX, "exec", "--quiet", "--out", str(out), "--", *ask)
            )
            used.append(_processor_seconds() - before)
            check_recorded(Counter([url]), out / EVENTS)
    slowest = f"slowest {max(proxied) * 1000:.0f} ms; curl alone {median(direct) * 1000:.0f} ms"
    answer, processor = median(proxied) * 1000, median(used) * 1000
    most = f"most {max(used) * 1000:.0f} ms"
    return [
        Row("exec-answer", what, answer, "ms", _ANSWER_MS, at_least=False, detail=slowest),
        Row("exec-processor", cost, processor, "ms", _PROCESSOR_MS, at_least=False, detail=most),
    ]


def _processor_seconds() -> float:
    """Return the processor time of all children so far that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def with_bytecode(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command whose Python keeps its bytecode."""
    return {k: v for k, v in variables.items() if k != "PYTHONDONTWRITEBYTECODE"}


def _seconds_until_time(*command: str) -> float:
    """Return the seconds from a command's start to the time that it prints."""
    # By the wall clock, the only one that the command prints; a leap would show as an outlier.
    began = time.time()  # noqa: TID251
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=with_bytecode(os.environ)
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return float(done.stdout) - began
