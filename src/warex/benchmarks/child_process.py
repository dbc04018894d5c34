"""Starts WAREX's own programs: the testbed and the scripted model."""

import json
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from warex.errors import ProcessDied, TrialVoid

_READY_SECONDS = 30.0
_END_SECONDS = 5.0


@contextmanager
def start_child(
    module: str, *arguments: str, ready_s: float = _READY_SECONDS
) -> Iterator[tuple["subprocess.Popen[bytes]", dict[str, Any]]]:
    """Run a program that prints a JSON line when it is ready; end it afterwards.

    It ends with its standard input, so that it cannot outlive this process. Raises TrialVoid if it
    is not ready in time, ProcessDied if it is killed before.
    """
    with subprocess.Popen(
        [sys.executable, "-m", module, *arguments, "--exit-with-stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A Ctrl-C reaches this process alone, which then ends the program.
        start_new_session=True,
    ) as process:
        try:
            yield process, _ready(process, module, ready_s)
        finally:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def require_alive(process: "subprocess.Popen[bytes]", module: str) -> Iterator[None]:
    """Raise ProcessDied if a program ends before the block does."""
    void: TrialVoid | None = None
    try:
        yield
    except TrialVoid as error:
        void = error
    if (code := process.poll()) is not None:
        # This is the cause of any other error.
        raise ProcessDied.with_code(module, code)
    if void is not None:
        raise void


def _ready(process: subprocess.Popen[bytes], module: str, ready_s: float) -> dict[str, Any]:
    if process.stdout is None:
        raise TrialVoid(f"{module} was started without its pipes")
    if not select.select([process.stdout], [], [], ready_s)[0]:
        process.kill()
        raise TrialVoid(f"{module} was not ready within {ready_s:g} s")
    line = process.stdout.readline()
    if not line.endswith(b"\n"):
        if (code := process.wait()) < 0:
            raise ProcessDied.with_code(module, code)
        raise TrialVoid(f"{module} ended with code {code} before it was ready")
    message: dict[str, Any] = json.loads(line)
    return message
