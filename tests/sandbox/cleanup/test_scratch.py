"""What a process makes temporarily lies in one folder, and goes with it, however it ends."""

import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from warex.sandbox.cleanup.scratch import process_scratch

PROGRAM = """
import subprocess, sys, tempfile
from warex.sandbox.cleanup.scratch import process_scratch
with process_scratch() as scratch:
    tempfile.mkdtemp()
    subprocess.run([sys.executable, "-c", "import tempfile; tempfile.mkdtemp()"], check=True)
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_temporary_files_are_in_the_scratch_folder_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with process_scratch() as scratch:
        assert scratch.parent == tmp_path
        assert Path(tempfile.mkdtemp()).parent == scratch
        assert os.environ["TMPDIR"] == str(scratch)

    assert list(tmp_path.iterdir()) == []
    assert os.environ["TMPDIR"] == str(tmp_path)
    assert tempfile.gettempdir() == str(tmp_path)


def test_a_process_that_is_killed_leaves_none(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        (scratch,) = tmp_path.iterdir()
        assert len(list(scratch.iterdir())) == 2
        (reaper,) = _children(process.pid)
        ended = os.pidfd_open(reaper)
        process.send_signal(signal.SIGKILL)

    assert select.select([ended], [], [], 30)[0]
    os.close(ended)
    assert list(tmp_path.iterdir()) == []


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]
