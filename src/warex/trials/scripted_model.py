"""The embedded scripted model, started once for a campaign."""

import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

from warex.benchmarks.child_process import require_alive, start_child
from warex.errors import MachineError, ProcessDied, TrialVoid, retry_if_process_died

MODULE = "warex.agents.scripted_model"

SCRIPTED_PREFIX = "scripted:"
"""Prefix of models that WAREX plays; the rest is the persona."""

PERSONAS = ("giveup", "patient", "suggestible")
"""The personas of the scripted model."""

MODEL_HOST = "model.warex.test"
"""Its host name behind the proxy, since loopback stays direct."""


class ScriptedModelProcess(ExitStack):
    """The program that plays the model, restarted if it was killed; use as a context manager."""

    def __init__(self, tasks: Sequence[Path]) -> None:
        """Take a benchmark's task files."""
        super().__init__()
        self._arguments = ("--tasks", *map(str, tasks))
        self._lock = threading.Lock()
        self._running: tuple[subprocess.Popen[bytes], dict[str, Any]] | None = None

    def __enter__(self) -> Self:
        """Start it; raise MachineError if it does not start."""
        try:
            retry_if_process_died(self._started)
        except ProcessDied:
            raise
        except TrialVoid as error:
            # No trial has begun, so none can be void.
            raise MachineError(f"the scripted model does not start: {error}") from None
        return self

    @contextmanager
    def port(self) -> Iterator[int]:
        """Yield its port for a trial; raise ProcessDied if it is killed."""
        process, ready = self._started()
        with require_alive(process, MODULE):
            yield int(ready["port"])

    def _started(self) -> "tuple[subprocess.Popen[bytes], dict[str, Any]]":
        with self._lock:
            if self._running is None or self._running[0].poll() is not None:
                self.close()
                self._running = self.enter_context(start_child(MODULE, *self._arguments))
            return self._running
