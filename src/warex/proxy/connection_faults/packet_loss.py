"""Connections whose packets the kernel loses inside the namespace.

The kernel draws which packets, and logs each: a fault is delivered with the first that is lost.
"""

import socket
from collections.abc import Callable, Iterable

from msgspec import Struct

from warex.effects import LosePackets
from warex.engine.net.redirected_connection import RedirectedConnection
from warex.lane.connection_faults.tries import ConnectionTries
from warex.linux import nftables, rtnetlink
from warex.linux.nftables import BlockedConnection, PacketLossEntry
from warex.proxy.transparent.passed_sockets import PassedSockets
from warex.scenarios import PlannedInjection


class _LossyConnection(Struct, frozen=True):
    entry: PacketLossEntry
    injections: tuple[PlannedInjection, ...]


class PacketLosses:
    """Keeps the kernel's rules of packet loss up to date, and settles what they do."""

    def __init__(
        self, passed: PassedSockets, tries: ConnectionTries, broke: Callable[[Exception], None]
    ) -> None:
        """``broke`` is called if the kernel refuses."""
        self._passed, self._tries, self._broke = passed, tries, broke
        self._open: dict[socket.socket, _LossyConnection] = {}
        self._listeners = {it.getsockname()[:2] for it in passed.tcp}
        self._splits_packets = False

    def begin(
        self, redirected: RedirectedConnection, injections: Iterable[PlannedInjection]
    ) -> None:
        """Lose packets of an accepted connection, if one of its injections says so."""
        lossy = tuple(it for it in injections if _share(it))
        if not lossy:
            return
        try:
            address, port = redirected.client.getpeername()[:2]
        except OSError:
            self._tries.settle(*lossy, delivered=False)
            return
        passed = 1.0
        for injection in lossy:
            passed *= 1 - _share(injection)
        entry = PacketLossEntry(address, port, 1 - passed)
        self._open[redirected.client] = _LossyConnection(entry, lossy)
        self._install()

    def lost(self, packet: BlockedConnection) -> bool:
        """Note a packet that the kernel has stopped; return whether it is of an open connection.

        A connection try is stopped before it is redirected to the listener.
        """
        ends = ((packet.source, packet.source_port), (packet.address, packet.port))
        if self._listeners.isdisjoint(ends):
            return False
        for lossy in self._open.values():
            if (lossy.entry.address, lossy.entry.port) in ends:
                self._tries.settle(*lossy.injections, delivered=True)
        return True

    def ended(self, redirected: RedirectedConnection) -> None:
        """Forget a connection; if it has lost nothing, its injections are missed."""
        lossy = self._open.pop(redirected.client, None)
        if lossy is not None:
            self._tries.settle(*lossy.injections, delivered=False, reason="nothing_to_rewrite")
            self._install()

    def stop(self) -> None:
        """Lose nothing more: the agent has ended its task."""
        if not self._open:
            return
        for lossy in self._open.values():
            self._tries.settle(*lossy.injections, delivered=False, reason="trial_over")
        self._open.clear()
        self._install()

    def _install(self) -> None:
        try:
            if not self._splits_packets:
                # The kernel would pass 64 kB as one packet, and lose it as one.
                rtnetlink.split_packets(self._passed.route)
                self._splits_packets = True
            entries = (lossy.entry for lossy in self._open.values())
            nftables.set_packet_loss(self._passed.netfilter, entries)
        except OSError as error:
            self._broke(error)


def _share(injection: PlannedInjection) -> float:
    shares = (it.share for it in injection.effects if isinstance(it, LosePackets))
    return next(shares, 0.0)
