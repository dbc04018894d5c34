"""mitmdump of the same environment, as a user starts it."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.workspace import Setting


@dataclass(frozen=True, slots=True)
class Running:
    """A mitmdump that runs."""

    port: int
    pid: int


@contextmanager
def mitmdump(setting: Setting) -> Iterator[Running]:
    """Run stock mitmdump with the CA that clients trust here, its output going to nowhere.

    Its defaults, and what the place asks for.
    """
    folder = setting.fresh("mitmproxy") / "ca"
    shutil.copytree(setting.ca.folder, folder)
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
            yield Running(port, process.pid)
        finally:
            process.terminate()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until it accepts connections; raise RuntimeError where it never does."""
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("mitmdump did not start; its message stands above")
