"""`warex` in its own process, for tests of signals, limits and pipes."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

WAREX = (sys.executable, "-m", "warex.cli")


@dataclass
class Running:
    """A running `warex proxy` that is ready."""

    process: "subprocess.Popen[str]"
    heading: dict[str, str]
    """The lines printed at its start, by their first words."""

    @property
    def url(self) -> str:
        return self.heading["proxy"].split()[0]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def interrupt(self) -> tuple[int, str]:
        """Send SIGINT, as Ctrl-C does; return the exit code and standard error."""
        self.process.send_signal(signal.SIGINT)
        return self.end()

    def end(self) -> tuple[int, str]:
        """Wait for its end; return the exit code and standard error."""
        _, err = self.process.communicate(timeout=30)
        return self.process.returncode, err


@contextmanager
def proxy(
    *arguments: object,
    environment: Mapping[str, str] | None = None,
    largest_file: int | None = None,
) -> Iterator[Running]:
    """Run `warex proxy` on a free port; ``largest_file``: the limit of a file's size in bytes."""
    process = subprocess.Popen(
        [*WAREX, "proxy", "--port", "0", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # The limit would leave truncated bytecode files behind.
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})},
        preexec_fn=None if largest_file is None else _limit(largest_file),
    )
    try:
        assert process.stdout is not None
        heading: dict[str, str] = {}
        while "trace" not in heading:
            line = process.stdout.readline()
            assert line, process.communicate()
            name, _, rest = line.strip().partition(" ")
            heading[name] = rest.strip()
        yield Running(process, heading)
    finally:
        process.kill()
        process.communicate()


def _limit(size: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def finished(
    *arguments: object, environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end."""
    return subprocess.run(
        [*WAREX, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        check=False,
    )
