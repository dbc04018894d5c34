"""Notices about a namespace's own loopback.

Services of this machine are not reachable there, and traffic to the command's own services does
not come to the proxy. Both are reported to the user, with the remedy.
"""

import errno
import socket
import time
from collections.abc import Collection, Iterator
from typing import Final

from warex.extras import documentation
from warex.linux import nftables
from warex.linux.proc_net import find_listener, listening, tables_of, used

_SETTLE_SECONDS: Final = 1.0
"""Seconds to wait for a service of the command to start on a port that refused."""
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
"""Prefixes of the names of browsers and drivers, whose ports serve no site."""
_UNNAMED: Final = "a program of it"
_MOST_READ: Final = 1000
"""Entries of the log that are read at once; the next poll goes on."""
_PROXY_PORTS: Final = (1011, 1012)
"""Where the proxy listens inside (``warex.sandbox.namespace.setup``)."""


class LoopbackMonitor:
    """Monitors a namespace's loopback from outside while commands run."""

    def __init__(self, refusals: socket.socket, pid: int, host_ports: Collection[int]) -> None:
        """Take the socket that logs refusals, a process id inside, and the passed-through ports."""
        self._refusals = refusals
        self._refusals.setblocking(False)
        self._tables = tables_of(pid)
        self._host_ports = frozenset(host_ports)
        self._refused: dict[int, float] = {}
        self._served: dict[int, str | None] = {}
        """The program that listens or listened on a port; None for a browser or driver."""
        self._visited: set[int] = set()
        self._reported: set[int] = set()
        self._missed: set[int] = set()

    def close(self) -> None:
        """Close the log socket."""
        self._refusals.close()

    def poll(self, *, over: bool = False) -> Iterator[str]:
        """Yield new notices, each once; ``over``: the commands have ended.

        Call it several times a second: listeners are seen only while they exist.
        """
        self._read_log()
        self._scan_listeners()
        now = time.monotonic()
        # A browser tries ::1 first, where a passed-through service may not listen.
        known = self._reported | self._served.keys() | self._host_ports
        pending = [(port, at) for port, at in self._refused.items() if port not in known]
        if ripe := [port for port, at in pending if over or now - at >= _SETTLE_SECONDS]:
            outside = listening()
            for port in sorted(ripe):
                if port in outside:
                    self._reported.add(port)
                    self._missed.add(port)
                    yield (
                        f"localhost:{port} was asked for and refused: nothing listens on it in the"
                        " command's own network, but something does on this machine; to let it"
                        f" through, add --host-ports {port} (or --host-ports auto, for all that"
                        " listen when the command starts)"
                    )
        for port in sorted(self._host_ports & self._served.keys() - self._reported):
            self._reported.add(port)
            yield (
                f"port {port} is let through to this machine, so the server that the command has"
                f" started on it ({self._served[port]}) is not reached; start that server before"
                " `warex exec`, or have it use another port"
            )

    def refused_ports(self) -> tuple[int, ...]:
        """Return the ports that the command was refused, though this machine serves them."""
        return tuple(sorted(self._missed))

    def own_services(self) -> str | None:
        """Return a notice about services that the command started and used, or None."""
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
            f" browsers ask for, use --isolate environment ({documentation('how-to/exec')})"
        )

    def _read_log(self) -> None:
        for _ in range(_MOST_READ):
            try:
                received = self._refusals.recv(65536)
            except OSError as error:
                if error.errno == errno.ENOBUFS:
                    continue  # Some entries were lost.
                return  # There are no more, or the socket has failed for good.
            now = time.monotonic()
            # A refusal is logged as the answer, which comes from the port.
            for answer in nftables.read_log(received):
                self._refused.setdefault(answer.source_port, now)

    def _scan_listeners(self) -> None:
        """Record the listeners inside, and the ports that were connected to."""
        named = {port for port, name in self._served.items() if name != _UNNAMED}
        for port in listening(self._tables) - named:
            if port in _PROXY_PORTS:
                continue
            holder = find_listener(port, self._tables)
            # The holder of a closing socket is not found.
            name = holder.name if holder is not None and holder.name else _UNNAMED
            self._served[port] = None if name.startswith(_DRIVERS) else name
        self._visited |= used(self._tables) & self._served.keys()
