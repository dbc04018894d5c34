"""The embedded scripted model: started once for a campaign, asked by every trial that names it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warex.benchmarks.program import program

PREFIX = "scripted:"
"""Models of this name are played by a program of WAREX's own; the rest is the persona."""

HOST = "model.warex.test"
"""The name under which a trial behind the proxy reaches it: loopback itself stays direct."""


@contextmanager
def scripted_model(tasks: Path) -> Iterator[int]:
    """Run the scripted model over a benchmark's task file; yield its port."""
    with program("warex.agents.scripted_model", "--tasks", str(tasks)) as said:
        yield int(said["port"])
