"""SSLsplit: transparent TLS interception in C; it records connections and no requests."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from bench.peers import Absent, Running
from bench.peers.waiting import free_port, wait_for
from bench.setting import Setting
from warex.proxy.ca import BASENAME


@contextmanager
def sslsplit(setting: Setting, site: int) -> Iterator[Running]:
    """Run it in front of the site on a port; raise Absent where it is not installed.

    It splits HTTPS, with the CA that clients trust here, and logs each connection to nowhere.
    """
    program = shutil.which("sslsplit")
    if program is None:
        raise Absent("not installed: install your system's package sslsplit (Debian has it)")
    port = free_port()
    command = [
        *(program, "-k", str(setting.ca.folder / f"{BASENAME}-ca.pem")),
        *("-c", str(setting.ca.certificate), "-l", "/dev/null"),
        *("https", "127.0.0.1", str(port), "127.0.0.1", str(site)),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(port, process, "sslsplit")
            yield Running(port, process.pid, connects=False)
        finally:
            process.terminate()
