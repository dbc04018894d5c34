"""Runs a user's reset or check command outside of the sandbox.

It has this process's environment and bypasses the proxy: no fault can reach it, and the trace does
not record it. Processes that it leaves, such as a site, keep running.
"""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Final

from pydantic import AfterValidator

from warex.benchmarks.table import Text
from warex.errors import TrialVoid, signal_name
from warex.text.escaping import escape_controls

LIMIT_S: Final = 300.0
"""Time limit in seconds."""
SLOW_S: Final = 3.0
"""Seconds after which the user gets a notice that it runs."""
_LOOK_S: Final = 0.1
"""Seconds between two calls of ``stop``."""
_TAIL: Final = 65_536
"""Bytes of its output that are read."""
_LONGEST = 500

_STOP: ContextVar[Callable[[], bool]] = ContextVar("stop", default=lambda: False)

type Notify = Callable[[str], None]
"""Called with a notice."""


def ignore_notice(notice: str) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """How a command ended."""

    code: int
    """Exit code; negative for a signal."""
    last_line: str
    """The last line that it printed to its standard error, else to its standard output."""

    @property
    def ending(self) -> str:
        """How it ended, as a clause."""
        code = self.code
        how = f"ended with code {code}" if code >= 0 else f"was ended by {signal_name(-code)}"
        return f"{how} and said: {self.last_line}" if self.last_line else f"{how} and said nothing"


def split_command(command: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return a command's parts; raise ValueError for any other text."""
    try:
        parts = tuple(shlex.split(command)) if isinstance(command, str) else command
    except ValueError as error:
        raise ValueError(f"{command!r} cannot be split as a shell would: {error}") from None
    if not parts:
        raise ValueError("the command is empty; begin with a program")
    for part in parts:
        if "\0" in part:
            raise ValueError(f"{part!r} holds a zero byte, which no program can be given")
    if "://" in parts[0]:
        raise ValueError(
            f"{parts[0]!r} is a URL, and a command is wanted; write for instance: curl -fsS"
            f" {parts[0]}"
        )
    return parts


def _check_command(command: str | tuple[str, ...]) -> str | tuple[str, ...]:
    split_command(command)
    return command


type CommandLine = Annotated[Text | tuple[Text, ...], AfterValidator(_check_command)]
"""A command: split as a shell would but run by none, or its parts; checked."""


def require_program(parts: Sequence[str]) -> None:
    """Raise ValueError if a command's program does not exist."""
    if shutil.which(parts[0]) is None:
        raise ValueError(f"{parts[0]!r} is not a program that runs")


@contextmanager
def stopped_when(stop: Callable[[], bool]) -> Iterator[None]:
    """End user commands of this thread in the block once ``stop()`` is true."""
    token = _STOP.set(stop)
    try:
        yield
    finally:
        _STOP.reset(token)


def run_user_command(
    what: str,
    parts: Sequence[str],
    *,
    cwd: Path | None = None,
    limit_s: float = LIMIT_S,
    notify: Notify = ignore_notice,
    slow_s: float = SLOW_S,
) -> CommandOutcome:
    """Run a command until it ends; ``what`` names it in messages.

    ``notify`` is called once after ``slow_s`` seconds. Raises TrialVoid if it cannot be started,
    times out or is stopped (``stopped_when``); then its process group is killed.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            # Into files, since processes that it leaves would hold a pipe open.
            process = subprocess.Popen(
                parts,
                env=os.environ,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            raise TrialVoid(f"{what} cannot be started: {parts[0]!r}: {error.strerror}") from None
        shown = escape_controls(shlex.join(parts))[:_LONGEST]
        notice = f"{what} runs, for {limit_s:g} s at most: {shown}"
        code, late = None, False
        try:
            code = _wait(process, limit_s, slow_s, lambda: notify(notice))
        except subprocess.TimeoutExpired:
            late = True
        finally:
            if code is None:
                _end(process)
        last_line = _last_line(err) or _last_line(out)
        if late:
            last = f"; it said: {last_line}" if last_line else ""
            raise TrialVoid(f"{what} took longer than {limit_s:g} s and was ended{last}")
        if code is None:
            raise TrialVoid(f"{what} was interrupted")
        return CommandOutcome(code, last_line)


def _wait(
    process: "subprocess.Popen[bytes]", limit_s: float, slow_s: float, slow: Callable[[], None]
) -> int | None:
    """Return the exit code, None if it was stopped; raise TimeoutExpired."""
    began, notified, stop = time.monotonic(), False, _STOP.get()
    while not stop():
        passed = time.monotonic() - began
        if not notified and passed >= slow_s:
            notified = True
            slow()
        try:
            return process.wait(max(0.0, min(_LOOK_S, limit_s - passed)))
        except subprocess.TimeoutExpired:
            if passed >= limit_s:
                raise
    return None


def _end(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _last_line(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL))
    lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines()]
    last = next((line for line in reversed(lines) if line), "")
    return escape_controls(last[:_LONGEST])
