"""One place for all temporary files of a process and of what it starts, gone when it is."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warex.sandbox.cleanup.reaper import start_reaper


@contextmanager
def process_scratch() -> Iterator[Path]:
    """Have temporary files made in a folder of this process's own; yield it.

    It is removed at the end, also where the process was killed. It is set for the whole process
    (``TMPDIR``), so this is for a program, not for a library. Raises MachineError where no folder
    can be made.
    """
    with start_reaper() as guard:
        variable, default = os.environ.get("TMPDIR"), tempfile.tempdir
        os.environ["TMPDIR"] = tempfile.tempdir = str(guard.scratch)
        try:
            yield guard.scratch
        finally:
            tempfile.tempdir = default
            if variable is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = variable
