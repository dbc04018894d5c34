"""Clears up after a command, also where WAREX itself was killed: a small process that outlives it.

It holds the reading end of a pipe. When the other end closes, for whatever reason, it ends what the
command has left running, brings home what stands in folders of links, and removes the scratch
folder. It is started without site-packages, so that it is there in some milliseconds.
"""

import json
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from warex.errors import MachineError
from warex.sandbox.family import Family
from warex.sandbox.farm import Farm

_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from warex.sandbox import guard; guard.main()"
)
_SOURCES = Path(__file__).parents[2]
_SECONDS = 15.0
_REMOVING_SECONDS = 10.0
_PAUSE = 0.05
"""Seconds between two tries: who still writes tells nobody when it has ended."""


class Guard:
    """The caller's side: what is to be cleared up."""

    def __init__(self, process: "subprocess.Popen[str]", scratch: Path) -> None:
        self._process = process
        self.scratch = scratch
        """A folder for this command alone."""

    def watch(self, family: Family) -> None:
        """Have the processes of a command ended."""
        self._tell(mark=family.mark, leader=family.leader)

    def tend(self, farm: Farm) -> None:
        """Have what is new in a folder of links brought home."""
        self._tell(shadow=str(farm.shadow), real=str(farm.real), planted=farm.planted)

    def _tell(self, **what: object) -> None:
        if self._process.stdin is not None:
            # Somebody may have killed it; the end clears up what it can.
            with suppress(OSError):
                self._process.stdin.write(json.dumps(what) + "\n")
                self._process.stdin.flush()


@contextmanager
def guarded() -> Iterator[Guard]:
    """Give a scratch folder and a guard for it; all is cleared up at the end.

    Raises MachineError where no folder can be made.
    """
    try:
        scratch = Path(tempfile.gettempdir(), f"warex-{secrets.token_hex(6)}")
    except OSError as error:
        raise _no_folder(error) from None
    # First the guard, then the folder: a kill between the two leaves nothing behind.
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _START, str(_SOURCES), str(scratch)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        # Neither a Ctrl-C nor whatever else the terminal sends is for it.
        start_new_session=True,
    )
    try:
        try:
            scratch.mkdir(mode=0o700)
        except OSError as error:
            raise _no_folder(error) from None
        yield Guard(process, scratch)
    finally:
        if process.stdin is not None:
            with suppress(OSError):  # It was killed with words still on their way.
                process.stdin.close()
        try:
            process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _remove(scratch)


def _no_folder(error: OSError) -> MachineError:
    return MachineError(
        f"no temporary folder can be made: {error}; set TMPDIR to one that can be written"
    )


def _remove(folder: Path) -> None:
    """Remove a folder in which programs may still write that are on their way out."""
    deadline = time.monotonic() + _REMOVING_SECONDS
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            time.sleep(_PAUSE)


def main() -> None:
    """Wait until the other end closes, then clear up."""
    families: dict[str, Family] = {}
    farms: list[Farm] = []
    for line in sys.stdin:
        match json.loads(line):
            case {"mark": mark, "leader": leader}:
                families[mark] = Family(mark, leader)
            case {"shadow": shadow, "real": real, "planted": planted}:
                farms.append(Farm(Path(shadow), Path(real), tuple(planted)))
            case _:
                pass
    for family in families.values():
        family.end()
    for farm in farms:
        farm.bring_home()
    _remove(Path(sys.argv[2]))
