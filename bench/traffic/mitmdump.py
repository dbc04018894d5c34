"""mitmdump of the same Python environment, as a user starts it."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.workspace import Workspace


@dataclass(frozen=True, slots=True)
class MitmdumpProcess:
    """A running mitmdump."""

    port: int
    pid: int


@contextmanager
def mitmdump(workspace: Workspace) -> Iterator[MitmdumpProcess]:
    """Run stock mitmdump with the workspace's CA and default options, its output discarded."""
    folder = workspace.fresh("mitmproxy") / "ca"
    shutil.copytree(workspace.ca.folder, folder)
    port = _free_port()
    command = [
        str(Path(sys.executable).with_name("mitmdump")),
        *("--listen-host", "127.0.0.1"),
        *("--listen-port", str(port)),
        "--ssl-insecure",
        *("--set", f"confdir={folder}"),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            _wait_for(port, process)
            yield MitmdumpProcess(port, process.pid)
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until it accepts connections; raise RuntimeError if it does not within a minute."""
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("mitmdump did not start; see its message above")
