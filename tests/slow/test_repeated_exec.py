"""Two hundred commands in a row, and nothing of them is left on the machine."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.sandbox.support.users import ROOT

pytestmark = pytest.mark.slow

COUNT = 200
"""Several times as many as there may be namespaces at once."""


def test_two_hundred_in_a_row_leave_nothing() -> None:
    # Not in a folder of pytest's own, which others may not enter.
    with tempfile.TemporaryDirectory(prefix="warex-test-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        done = subprocess.run(
            [sys.executable, "-m", "tests.exec.support.repeated_exec", str(COUNT), folder],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=1800,
            check=False,
        )
    assert done.returncode == 0, done
    report = json.loads(done.stdout)

    assert report["failed"] == []
    assert report["after"] == report["before"]
    assert len(report["after"]["processes"]) == 1
