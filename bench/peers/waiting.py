"""Where a peer is to listen, and when it does."""

import socket
import subprocess
import time


def free_port() -> int:
    """Return a port of loopback that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def wait_for(port: int, process: subprocess.Popen[bytes], name: str) -> None:
    """Wait until a peer accepts connections; raise RuntimeError where it never does."""
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"{name} did not start; its message stands above")
