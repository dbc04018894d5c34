import subprocess
import sys

_BOTH = """
import os
from warex.campaigns.ray.gateway import silence_stderr
silence_stderr()
os.write(2, b"out of a library")
raise SystemExit("out of Python")
"""


def test_standard_error_shows_tracebacks_but_no_library_output() -> None:
    done = subprocess.run([sys.executable, "-c", _BOTH], capture_output=True, text=True)

    assert done.stderr.strip() == "out of Python"
