import subprocess
import sys

_BOTH = """
import os
from warex.campaigns.ray.gateway import silence_stderr
silence_stderr()
os.write(2, b"out of a library")
raise SystemExit("out of Python")
"""


def test_what_a_library_writes_on_standard_error_is_not_seen_and_a_traceback_is() -> None:
    done = subprocess.run([sys.executable, "-c", _BOTH], capture_output=True, text=True)

    assert done.stderr.strip() == "out of Python"
