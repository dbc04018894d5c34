"""The processor time of commands that do little, to that of Python's own start."""

import os
import resource
import subprocess
import sys
from statistics import median

from bench.row import Row
from bench.rows.exec_ready import with_bytecode
from bench.workspace import Workspace

_WAREX = (sys.executable, "-m", "warex.cli")
_PYTHON = (sys.executable, "-c", "pass")


def measure(workspace: Workspace) -> list[Row]:
    """Measure what answers at once, and a command that sends nothing."""
    rounds = 3 if workspace.quick else 11
    return [
        _row("version", "`warex --version`", (*_WAREX, "--version"), 12, rounds),
        _row("help", "`warex exec --help`", (*_WAREX, "exec", "--help"), 14, rounds),
        _row(
            "exec-idle",
            "`warex exec -- true`, in a network of its own",
            (*_WAREX, "exec", "--quiet", "--isolate", "namespace", "--", "true"),
            40,
            rounds,
        ),
    ]


def _row(name: str, what: str, command: tuple[str, ...], most: float, rounds: int) -> Row:
    pairs = [(_processor_seconds(command), _processor_seconds(_PYTHON)) for _ in range(rounds)]
    measured, alone = (median(column) * 1000 for column in zip(*pairs, strict=True))
    return Row(
        name,
        f"processor time of {what}, to that of Python's own start",
        median(mine / its for mine, its in pairs),
        "times",
        most,
        at_least=False,
        detail=f"{measured:.0f} ms; Python's own start {alone:.0f} ms",
    )


def _processor_seconds(command: tuple[str, ...]) -> float:
    """Return the processor time of a command and of all that it waits for."""

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    variables = with_bytecode(os.environ)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=variables)
    return used() - before
