"""Sites and clients in separate processes, so that each has its own interpreter."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

_END_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Program:
    """A program that answers each line of its input with a line. It ends when its input ends."""

    stdin: IO[str]
    stdout: IO[str]
    pid: int

    def ask(self, line: str) -> str:
        """Send a line, return the answer; raise RuntimeError if the program has died."""
        self.stdin.write(f"{line}\n")
        self.stdin.flush()
        return self.read_line()

    def read_line(self) -> str:
        """Return the next line of output; raise RuntimeError if the program has died."""
        line = self.stdout.readline()
        if not line:
            raise RuntimeError("a program of the benchmark has died; see its message above")
        return line.strip()


@contextmanager
def program(module: str, *arguments: str) -> Iterator[Program]:
    """Run ``python -m MODULE ARGUMENTS`` until the block ends."""
    with started(sys.executable, "-m", module, *arguments) as running:
        yield running


@contextmanager
def started(*command: str) -> Iterator[Program]:
    """Run a command until the block ends."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("no pipes to the program")
    with process:
        try:
            yield Program(process.stdin, process.stdout, process.pid)
        finally:
            process.stdin.close()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def site(module: str, *arguments: str) -> Iterator[int]:
    """Run a site of the benchmark; yield its port."""
    with program(module, *arguments) as running:
        yield int(running.read_line())
