"""The reaper: a small process that cleans up after a command, also if WAREX was killed.

It reads from a pipe. When the pipe closes, it ends the command's process trees, merges symlink
trees back and removes the scratch folder. It runs without site-packages, to start quickly.
"""

import json
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from warex.errors import MAX_DEATHS_IN_A_ROW, MachineError, ProcessDied
from warex.sandbox.cleanup.process_tree import ProcessTree
from warex.sandbox.cleanup.symlink_tree import SymlinkTree
from warex.sandbox.job_control import signals_blocked

_START = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from warex.sandbox.cleanup import reaper; reaper.main()"
)
_SOURCES = Path(__file__).parents[3]
_SECONDS = 15.0
_QUICK_DEATH_SECONDS = 1.0
"""Seconds; an end before that counts as one more in a row."""
_REMOVING_SECONDS = 10.0
_RETRY_SECONDS = 0.05
"""Seconds between two tries to remove a folder."""


class Reaper:
    """The caller's side of the reaper process, which is restarted if it is killed."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        """A folder for this command alone."""
        self.died: ProcessDied | None = None
        """How the process was ended, if it was."""
        self._lock = threading.Lock()
        self._process_trees: list[ProcessTree] = []
        self._trees: list[SymlinkTree] = []
        self._closing = False
        self._process = _started(scratch)
        self._monitor = threading.Thread(target=self._restart_if_killed, name="reaper", daemon=True)
        with signals_blocked():
            self._monitor.start()

    def watch_processes(self, process_tree: ProcessTree) -> None:
        """Register a process tree to end."""
        with self._lock:
            self._process_trees.append(process_tree)
            _send(self._process, mark=process_tree.mark, leader=process_tree.leader)

    def forget_processes(self, process_tree: ProcessTree) -> None:
        """Remove a process tree that has ended."""
        with self._lock:
            self._process_trees.remove(process_tree)
            _send(self._process, ended=process_tree.mark)

    def watch_symlinks(self, tree: SymlinkTree) -> None:
        """Register a symlink tree to merge back."""
        with self._lock:
            self._trees.append(tree)
            _send_tree(self._process, tree)

    def close(self) -> None:
        """Clean up now; do it in this process if the reaper was killed."""
        with self._lock:
            self._closing = True
            _close(self._process)
        self._monitor.join(_SECONDS)
        if self._monitor.is_alive():
            self._process.kill()
            self._monitor.join()
        if self._process.returncode:
            _clear_up(self._process_trees, self._trees)
        _remove(self.scratch)

    def _restart_if_killed(self) -> None:
        """Restart the reaper whenever it ends; give up after MAX_DEATHS_IN_A_ROW."""
        in_a_row = 0
        while True:
            began = time.monotonic()
            code = self._process.wait()
            in_a_row = in_a_row + 1 if time.monotonic() - began < _QUICK_DEATH_SECONDS else 1
            with self._lock:
                if self._closing:
                    return
                self.died = ProcessDied.with_code("the reaper, which cleans up,", code)
                _close(self._process)
                if in_a_row == MAX_DEATHS_IN_A_ROW:
                    return
                self._process = _started(self.scratch)
                for process_tree in self._process_trees:
                    _send(self._process, mark=process_tree.mark, leader=process_tree.leader)
                for tree in self._trees:
                    _send_tree(self._process, tree)


def _started(scratch: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _START, str(_SOURCES), str(scratch)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        # The terminal's signals do not reach it.
        start_new_session=True,
    )


def _send(process: "subprocess.Popen[str]", **what: object) -> None:
    if process.stdin is not None:
        # It may have been killed; the next one gets everything again.
        with suppress(OSError):
            process.stdin.write(json.dumps(what) + "\n")
            process.stdin.flush()


def _send_tree(process: "subprocess.Popen[str]", tree: SymlinkTree) -> None:
    _send(process, shadow=str(tree.shadow), real=str(tree.real), planted=tree.initial_names)


def _close(process: "subprocess.Popen[str]") -> None:
    if process.stdin is not None:
        with suppress(OSError):  # It was killed with unread data.
            process.stdin.close()


@contextmanager
def start_reaper() -> Iterator[Reaper]:
    """Yield a reaper with a scratch folder; clean up at the end.

    Raises MachineError if no folder can be made.
    """
    try:
        scratch = Path(tempfile.gettempdir(), f"warex-{secrets.token_hex(6)}")
    except OSError as error:
        raise _no_temp_folder(error) from None
    # First the reaper, then the folder: a kill between the two leaves nothing behind.
    reaper = Reaper(scratch)
    try:
        try:
            scratch.mkdir(mode=0o700)
        except OSError as error:
            raise _no_temp_folder(error) from None
        yield reaper
    finally:
        reaper.close()


def _no_temp_folder(error: OSError) -> MachineError:
    return MachineError(
        f"no temporary folder can be made: {error}; set TMPDIR to one that can be written"
    )


def _remove(folder: Path) -> None:
    """Remove a folder to which ending programs may still write."""
    deadline = time.monotonic() + _REMOVING_SECONDS
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            time.sleep(_RETRY_SECONDS)


def main() -> None:
    """Read what to clean up until the pipe closes, then clean up."""
    process_trees: dict[str, ProcessTree] = {}
    trees: list[SymlinkTree] = []
    for line in sys.stdin:
        match json.loads(line):
            case {"mark": mark, "leader": leader}:
                process_trees[mark] = ProcessTree(mark, leader)
            case {"ended": mark}:
                process_trees.pop(mark, None)
            case {"shadow": shadow, "real": real, "planted": planted}:
                trees.append(SymlinkTree(Path(shadow), Path(real), tuple(planted)))
            case _:
                pass
    _clear_up(process_trees.values(), trees)
    _remove(Path(sys.argv[2]))


def _clear_up(process_trees: Iterable[ProcessTree], trees: Iterable[SymlinkTree]) -> None:
    for process_tree in process_trees:
        process_tree.end()
    for tree in trees:
        tree.merge_back()
