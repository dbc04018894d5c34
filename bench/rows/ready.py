"""The time until a lane is ready for its next trial."""

import socket
import time
from statistics import median

from bench.row import Row
from bench.traffic.measured_lanes import LOADED, warex_config
from bench.workspace import Workspace
from warex.proxy.process.client import start_proxy


def measure(workspace: Workspace) -> list[Row]:
    """Measure from the end of one proxy to the first accepted connection of the next; median."""
    starts: list[float] = []
    turns: list[float] = []
    ended = 0.0
    for _ in range(4 if workspace.quick else 21):
        config = warex_config(workspace, LOADED)
        began = time.perf_counter()
        with start_proxy(workspace.forkserver, config) as proxy:
            socket.create_connection((proxy.host, proxy.port), timeout=10).close()
            starts.append(time.perf_counter() - began)
            if ended:
                turns.append(ended + starts[-1])
            stops = time.perf_counter()
        ended = time.perf_counter() - stops
    return [
        Row(
            "ready",
            "a lane ready for its next trial: the last one ended, a new one accepts",
            median(turns) * 1000,
            "ms",
            150,
            at_least=False,
            detail=f"of it the start {median(starts) * 1000:.0f} ms; "
            f"slowest {max(turns) * 1000:.0f} ms",
        )
    ]
