"""What a command leaves behind is cleared up, also when WAREX is killed."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.proxy.support.lanes import wait_until
from warex.sandbox.cleanup.process_tree import ProcessTree
from warex.sandbox.cleanup.reaper import start_reaper
from warex.sandbox.cleanup.symlink_tree import create_symlink_tree

pytestmark = pytest.mark.wire

# Starts a command with a reaper, says what there is, and waits to be killed.
OWNER = """
import subprocess, sys, time
from pathlib import Path
from warex.sandbox.cleanup.process_tree import ProcessTree
from warex.sandbox.cleanup.symlink_tree import create_symlink_tree
from warex.sandbox.cleanup.reaper import start_reaper
with start_reaper() as reaper:
    family = ProcessTree()
    reaper.watch_processes(family)
    farm = create_symlink_tree(Path(sys.argv[1]), reaper.scratch / "farm")
    reaper.watch_symlinks(farm)
    sleeper = subprocess.Popen(
        [sys.executable, "-c", "import time; time.sleep(600)"],
        env=family.marked({}), start_new_session=True,
    )
    (farm.shadow / "new").touch()
    print(reaper.scratch, sleeper.pid, flush=True)
    while reaper.died is None:
        time.sleep(0.01)
    with reaper._lock:  # The next one is being informed.
        print("replaced", flush=True)
    time.sleep(600)
"""


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_at_the_end_nothing_is_left_but_what_was_forgotten(tmp_path: Path) -> None:
    watched, forgotten = ProcessTree(), ProcessTree()
    with start_reaper() as reaper:
        reaper.watch_processes(watched)
        reaper.watch_processes(forgotten)
        reaper.forget_processes(forgotten)
        reaper.watch_symlinks(create_symlink_tree(tmp_path, reaper.scratch / "farm"))
        sleepers = [
            subprocess.Popen(["sleep", "600"], env=it.marked(os.environ))
            for it in (watched, forgotten)
        ]
        (reaper.scratch / "farm/new").touch()

    assert sleepers[0].wait(10) != 0
    assert sleepers[1].poll() is None
    sleepers[1].kill()
    sleepers[1].wait()
    assert not reaper.scratch.exists()
    assert (tmp_path / "new").exists()


def test_only_its_owner_may_look_into_the_folder() -> None:
    with start_reaper() as reaper:
        assert reaper.scratch.stat().st_mode & 0o077 == 0


def test_a_kill_leaves_nothing_behind(tmp_path: Path) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with owner:
        assert owner.stdout is not None
        scratch, sleeper = owner.stdout.readline().split()
        assert Path(scratch).exists()
        owner.kill()

    wait_until(lambda: not Path(scratch).exists())
    assert not alive(int(sleeper))
    assert (tmp_path / "new").exists()


def test_a_ctrl_c_is_not_for_the_reaper() -> None:
    with start_reaper() as reaper:
        assert os.getpgid(reaper._process.pid) != os.getpgrp()


def test_a_reaper_that_is_killed_is_replaced_by_one_that_knows_as_much(tmp_path: Path) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
    )
    with owner:
        assert owner.stdout is not None
        scratch, sleeper = owner.stdout.readline().split()
        (first,) = reapers(scratch)
        os.kill(first, signal.SIGKILL)
        assert owner.stdout.readline() == "replaced\n"
        assert reapers(scratch) not in ([], [first])
        owner.kill()

    wait_until(lambda: not Path(scratch).exists())
    assert not alive(int(sleeper))
    assert (tmp_path / "new").exists()


def test_where_no_reaper_can_be_had_its_owner_clears_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with start_reaper() as reaper:
        reaper.watch_symlinks(create_symlink_tree(tmp_path, reaper.scratch / "farm"))
        (reaper.scratch / "farm/new").touch()
        monkeypatch.setattr(sys, "executable", "/bin/false")
        reaper._process.kill()
        reaper._monitor.join(10)
        assert str(reaper.died).startswith("the reaper, which cleans up, ended by itself")

    assert not reaper.scratch.exists()
    assert (tmp_path / "new").exists()


def reapers(scratch: str) -> list[int]:
    """Return the reapers of a folder."""
    results = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            line = (entry / "cmdline").read_bytes().split(b"\0")
            if scratch.encode() in line and b"-S" in line:
                results.append(int(entry.name))
    return results
