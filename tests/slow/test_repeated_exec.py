"""Eighty-five commands in a row, and nothing of them is left on the machine.

Four of five run in a namespace, of which ``repeated_exec.LIMIT`` may exist at once. So a command
fails if one in seven of them left its own behind, as with five hundred commands and a limit of 60.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.sandbox.support.users import ROOT

pytestmark = pytest.mark.slow

COUNT = 85
"""Seven times as many in namespaces as there may be at once."""


def test_many_in_a_row_leave_nothing() -> None:
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
