"""The embedded scripted model: started once for a campaign, asked by every trial that names it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from warex.benchmarks.program import program
from warex.errors import MachineError, TrialVoid

PREFIX = "scripted:"
"""Models of this name are played by a program of WAREX's own; the rest is the persona."""

PERSONAS = ("giveup", "patient", "suggestible")
"""Those that it plays."""

HOST = "model.warex.test"
"""The name under which a trial behind the proxy reaches it: loopback itself stays direct."""


@contextmanager
def scripted_model(tasks: Sequence[Path]) -> Iterator[int]:
    """Run the scripted model over a benchmark's task files; yield its port.

    Raises MachineError where it does not start.
    """
    with ExitStack() as running:
        try:
            said = running.enter_context(
                program("warex.agents.scripted_model", "--tasks", *map(str, tasks))
            )
        except TrialVoid as error:
            # It serves a whole campaign: there is no trial yet to be void.
            raise MachineError(f"the scripted model does not start: {error}") from None
        yield int(said["port"])
