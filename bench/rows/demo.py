"""The wall time of ``warex demo`` after set-up. It takes minutes, so it runs only when named."""

import subprocess
import sys
import time

from bench.row import Row
from bench.workspace import Workspace


def measure(workspace: Workspace) -> list[Row]:
    """Run the demo in the workspace."""
    folder = workspace.fresh("demo") / "run"
    command = [sys.executable, "-m", "warex.cli", "demo", "--out", str(folder)]
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [
        Row(
            "demo",
            "`warex demo`, set-up done",
            time.perf_counter() - began,
            "s",
            180,
            at_least=False,
        )
    ]
