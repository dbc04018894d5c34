"""mitmdump of the same environment, as a user starts it."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.peers import Running
from bench.peers.waiting import free_port, wait_for
from bench.setting import Setting


@contextmanager
def mitmdump(setting: Setting) -> Iterator[Running]:
    """Run stock mitmdump with the CA that clients trust here, its output going to nowhere.

    Its defaults, and what the place asks for.
    """
    folder = setting.fresh("mitmproxy") / "ca"
    shutil.copytree(setting.ca.folder, folder)
    port = free_port()
    command = [
        str(Path(sys.executable).with_name("mitmdump")),
        *("--listen-host", "127.0.0.1"),
        *("--listen-port", str(port)),
        "--ssl-insecure",
        *("--set", f"confdir={folder}"),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            wait_for(port, process, "mitmdump")
            yield Running(port, process.pid)
        finally:
            process.terminate()
