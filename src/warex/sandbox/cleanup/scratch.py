"""One temporary folder for a process and its children, removed at the end."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warex.sandbox.cleanup.reaper import start_reaper


@contextmanager
def process_scratch() -> Iterator[Path]:
    """Set ``TMPDIR`` of this process to a new folder; yield it.

    It is removed at the end, also if the process is killed. Raises MachineError if it cannot be
    made.
    """
    with start_reaper() as reaper:
        variable, default = os.environ.get("TMPDIR"), tempfile.tempdir
        os.environ["TMPDIR"] = tempfile.tempdir = str(reaper.scratch)
        try:
            yield reaper.scratch
        finally:
            tempfile.tempdir = default
            if variable is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = variable
