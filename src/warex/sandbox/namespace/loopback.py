"""What a command asks its namespace's own loopback for, and what of it may be a mistake.

A service of this machine is not there, so whoever asks for it is refused; and what the command
serves there itself never comes to the proxy. Both are said, with what helps.
"""

import socket
import time
from collections.abc import Collection, Iterator
from typing import Final

from warex.linux import nftables
from warex.linux.proc_net import find_listener, listening, tables_of, used

_SETTLE_SECONDS: Final = 1.0
"""Seconds after which a port that refuses is not one of a service that is just being started."""
_DRIVERS: Final = (
    "chrome",
    "chromium",
    "headless_shell",
    "firefox",
    "msedge",
    "geckodriver",
    "WebKitWebDriver",
    "MiniBrowser",
    "Xvfb",
)
"""How the names of browsers and of what drives them begin: what they serve is no site."""
_UNNAMED: Final = "a program of it"
_PROXY_PORTS: Final = (1011, 1012)
"""Where the proxy listens inside (``warex.sandbox.namespace.setup``)."""


class LoopbackMonitor:
    """The loopback of a namespace, looked at from outside while its commands run."""

    def __init__(self, refusals: socket.socket, pid: int, host_ports: Collection[int]) -> None:
        """``refusals``: the log of it; ``pid``: a process inside; ``host_ports``: let through."""
        self._refusals = refusals
        self._refusals.setblocking(False)
        self._tables = tables_of(pid)
        self._host_ports = frozenset(host_ports)
        self._refused: dict[int, float] = {}
        self._served: dict[int, str | None] = {}
        """Who listens on a port, or did; None for a browser or its driver."""
        self._visited: set[int] = set()
        self._told: set[int] = set()

    def close(self) -> None:
        """Hear no more of it."""
        self._refusals.close()

    def poll(self, *, over: bool = False) -> Iterator[str]:
        """Give what there is to say by now, each sentence once; ``over``: the commands have ended.

        To be called several times a second: who listens is seen only while it does.
        """
        self._read_log()
        self._scan_listeners()
        now = time.monotonic()
        # A browser asks ::1 first, where a service that is let through need not listen.
        known = self._told | self._served.keys() | self._host_ports
        pending = [port for port in self._refused if port not in known]
        if ripe := [
            port for port in pending if over or now - self._refused[port] >= _SETTLE_SECONDS
        ]:
            outside = listening()
            for port in sorted(ripe):
                if port in outside:
                    self._told.add(port)
                    yield (
                        f"localhost:{port} was asked for and refused: nothing listens on it in the"
                        " command's own network, but something does on this machine; to let it"
                        f" through, add --host-ports {port} (or --host-ports auto, for all that"
                        " listen when the command starts)"
                    )
        for port in sorted(self._host_ports & self._served.keys() - self._told):
            self._told.add(port)
            yield (
                f"port {port} is let through to this machine, so the server that the command has"
                f" started on it ({self._served[port]}) is not reached; start that server before"
                " `warex exec`, or have it use another port"
            )

    def own_services(self) -> str | None:
        """Return what to say of services that the command started and used; None for none."""
        own = {
            port: name
            for port, name in sorted(self._served.items())
            if name is not None and port in self._visited and port not in self._host_ports
        }
        if not own:
            return None
        listed = ", ".join(f"localhost:{port} ({name})" for port, name in own.items())
        ports = ",".join(map(str, own))
        return (
            f"the command started and used services of its own: {listed}. That traffic stays in its"
            " network: no fault meets it and no trace holds it. If the site under test is among"
            f" them, start it before `warex exec` and add --host-ports {ports}, or, for what"
            " browsers ask for, use --isolate environment (docs/how-to/exec.md)"
        )

    def _read_log(self) -> None:
        while True:
            try:
                received = self._refusals.recv(65536)
            except BlockingIOError:
                return
            except OSError:
                continue  # ENOBUFS: some were lost, which are told again if they are asked again.
            now = time.monotonic()
            for port in nftables.refused_ports(received):
                self._refused.setdefault(port, now)

    def _scan_listeners(self) -> None:
        """Note who listens inside, and who was connected to."""
        named = {port for port, name in self._served.items() if name != _UNNAMED}
        for port in listening(self._tables) - named:
            if port in _PROXY_PORTS:
                continue
            holder = find_listener(port, self._tables)
            # One that is just ending cannot be found any more.
            name = holder.name if holder is not None and holder.name else _UNNAMED
            self._served[port] = None if name.startswith(_DRIVERS) else name
        self._visited |= used(self._tables) & self._served.keys()
