"""Starts WAREX's own programs, which know nothing of it: the testbed and the scripted model."""

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
def child_process(
    module: str, *arguments: str, ready_s: float = _READY_SECONDS
) -> Iterator[dict[str, Any]]:
    """Run one of our own programs that prints a JSON line when it is ready; end it afterwards.

    It ends with its standard input, so that it cannot outlive whoever started it. Raises TrialVoid
    where it is not ready in time, ProcessDied where somebody has ended it, then or later.
    """
    with (
        start_child(module, *arguments, ready_s=ready_s) as (process, said),
        require_alive(process, module),
    ):
        yield said


@contextmanager
def start_child(
    module: str, *arguments: str, ready_s: float = _READY_SECONDS
) -> Iterator[tuple["subprocess.Popen[bytes]", dict[str, Any]]]:
    """Run one of our own programs as ``program`` does; leave it to the caller if it is ended."""
    with subprocess.Popen(
        [sys.executable, "-m", module, *arguments, "--exit-with-stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # A Ctrl-C is for whoever started it, who ends it once nobody needs it.
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
    """Raise ProcessDied where a program is ended before the block is."""
    void: TrialVoid | None = None
    try:
        yield
    except TrialVoid as error:
        void = error
    if (code := process.poll()) is not None:
        # What was found wrong without it says less.
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
    said: dict[str, Any] = json.loads(line)
    return said
