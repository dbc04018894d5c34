"""Starts WAREX's own programs, which know nothing of it: the testbed and the scripted model."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from warex.errors import TrialVoid


@contextmanager
def program(module: str, *arguments: str) -> Iterator[dict[str, Any]]:
    """Run one of our own programs that prints a JSON line when it is ready; end it afterwards.

    It ends with its standard input, so that it cannot outlive whoever started it. Raises TrialVoid
    where it does not become ready.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments, "--exit-with-stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ,
    )
    if process.stdin is None or process.stdout is None:
        raise TrialVoid(f"{module} was started without its pipes")
    try:
        line = process.stdout.readline()
        if not line:
            raise TrialVoid(f"{module} ended with code {process.wait()} before it was ready")
        yield json.loads(line)
    finally:
        process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
