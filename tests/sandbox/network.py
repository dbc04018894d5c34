"""A network namespace for a test, in which root may set rules without affecting this machine."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

# Brings up loopback as `ip link set lo up` would, and holds the namespace until its input ends.
_HOLD = """
import fcntl, os, socket, struct, sys
os.unshare(os.CLONE_NEWNET)
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x41))
print("up", flush=True)
sys.stdin.read()
"""


@dataclass
class Network:
    """A network namespace with only loopback."""

    pid: int
    environment: Mapping[str, str]

    def inside(self, *command: object, user: int = 0) -> list[str]:
        """Return the command line that runs a command in the namespace."""
        who = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net", *who, *map(str, command)]

    def run(
        self, *command: object, user: int = 0, text: str = "", **more: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.inside(*command, user=user),
            input=text,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**self.environment, **more},
        )

    def says(self, *command: object, user: int = 0, text: str = "") -> str:
        """Run a command that must succeed; return what it printed."""
        done = self.run(*command, user=user, text=text)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, *command: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            self.inside(*command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=dict(self.environment),
        )


@contextmanager
def network(**environment: object) -> Iterator[Network]:
    """Keep a network namespace until the block ends."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a network with several users in it")
    holder = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "up\n"
        variables = {name: str(value) for name, value in environment.items()}
        yield Network(holder.pid, {**os.environ, "PYTHONUNBUFFERED": "1", **variables})
    finally:
        holder.communicate()
