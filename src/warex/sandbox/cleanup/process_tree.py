"""A command and all processes that it started.

Browsers and drivers start sessions of their own, so a signal to the command's process group does
not reach them. A mark in their environment identifies them.
"""

import os
import secrets
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

_VARIABLE = "WAREX_COMMAND"
_PROC = Path("/proc")
_POLL_SECONDS = 0.05
_TERM_SECONDS = 3.0
_KILL_SECONDS = 5.0


@dataclass(slots=True)
class ProcessTree:
    """The processes of one command: its session, and those with its mark."""

    mark: str = field(default_factory=lambda: secrets.token_hex(8))
    leader: int | None = None
    """Process id of the running command."""

    def marked(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the environment with the mark added."""
        return {**environment, _VARIABLE: self.mark}

    def end(self) -> None:
        """Send SIGTERM, so that browsers remove their profiles, then SIGKILL."""
        for how, patience in ((signal.SIGTERM, _TERM_SECONDS), (signal.SIGKILL, _KILL_SECONDS)):
            signalled: set[int] = set()
            deadline = time.monotonic() + patience
            while alive := self._live_pids():
                for process in alive - signalled:
                    with suppress(ProcessLookupError):
                        os.kill(process, how)
                signalled |= alive
                if time.monotonic() > deadline:
                    break
                time.sleep(_POLL_SECONDS)
            else:
                return

    def programs(self) -> set[str]:
        """Return the names of the running programs (comm)."""
        names = set()
        for process in self._live_pids():
            with suppress(OSError):
                names.add((_PROC / str(process) / "comm").read_text().strip())
        return names

    def _live_pids(self) -> set[int]:
        """Return the process ids to signal; a negative one is a process group (kill(2))."""
        if not _PROC.joinpath("self", "environ").exists():
            return self._group()
        mark = f"{_VARIABLE}={self.mark}".encode()
        return {
            int(process.name)
            for process in _PROC.iterdir()
            if process.name.isdecimal() and self._belongs(process, mark)
        }

    def _belongs(self, process: Path, mark: bytes) -> bool:
        try:
            # proc(5): "PID (NAME) STATE PPID PGRP SESSION …"; a name may hold anything.
            state, _, _, session, *_ = (process / "stat").read_bytes().rpartition(b")")[2].split()
            if state in (b"Z", b"X"):
                return False
            return int(session) == self.leader or mark in (process / "environ").read_bytes()
        except OSError:
            return False  # It has ended, or belongs to another user.

    def _group(self) -> set[int]:
        if self.leader is None:
            return set()
        try:
            os.kill(-self.leader, 0)
        except OSError:
            return set()
        return {-self.leader}
