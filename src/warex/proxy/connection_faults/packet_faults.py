"""Connections whose packets the kernel loses or brings late inside the namespace.

The kernel draws which packets are lost, and logs each: a fault is delivered with the first. Packets
that come out of order are held in its queue.
"""

import os
import socket
from collections.abc import Callable, Iterable

from msgspec import Struct

from warex.effects import LosePackets, ReorderPackets
from warex.engine.net.redirected_connection import RedirectedConnection
from warex.errors import MachineError
from warex.lane.connection_faults.tries import ConnectionTries
from warex.linux import nftables, rtnetlink
from warex.linux.nftables import PacketEnds, PacketEntry
from warex.proxy.connection_faults.held_packets import HeldPackets
from warex.proxy.transparent.passed_sockets import PassedSockets
from warex.scenarios import PlannedInjection, Rule
from warex.traces import MissReason


class _Connection(Struct, frozen=True):
    entry: PacketEntry
    lossy: tuple[PlannedInjection, ...]
    reordered: tuple[PlannedInjection, ...]


class PacketFaults:
    """Keeps the kernel's rules about packets up to date, and settles what they do."""

    def __init__(
        self, passed: PassedSockets, tries: ConnectionTries, broke: Callable[[Exception], None]
    ) -> None:
        """``broke`` is called if the kernel refuses."""
        self._passed, self._tries, self._broke = passed, tries, broke
        self._delayed = HeldPackets(passed.queue, broke)
        self._open: dict[socket.socket, _Connection] = {}
        self._listeners = {it.getsockname()[:2] for it in passed.tcp}
        self._splits_packets = False

    def require(self, rules: Iterable[Rule]) -> None:
        """Raise MachineError if the kernel cannot do what one of the rules asks of it."""
        for rule in rules:
            if any(isinstance(it, ReorderPackets) for it in rule.fault.effects_on_page()):
                self._require_queue(rule)
                return

    def begin(
        self, redirected: RedirectedConnection, injections: Iterable[PlannedInjection]
    ) -> None:
        """Lose or hold packets of an accepted connection, if one of its injections says so."""
        injections = tuple(injections)
        lossy = tuple(it for it in injections if _loss(it))
        reordered = tuple(it for it in injections if _reordering(it))
        if not lossy and not reordered:
            return
        try:
            address, port = redirected.client.getpeername()[:2]
        except OSError:
            self._tries.settle(*lossy, *reordered, delivered=False)
            return
        passing = 1.0
        for injection in lossy:
            passing *= 1 - _loss(injection)
        entry = PacketEntry(address, port, 1 - passing, bool(reordered))
        self._open[redirected.client] = _Connection(entry, lossy, reordered)
        if self._install():
            for injection in reordered:
                self._hold(entry, injection)

    def lost(self, packet: PacketEnds) -> bool:
        """Note a packet that the kernel has stopped; return whether it is of an open connection.

        A connection try is stopped before it is redirected to the listener.
        """
        ends = ((packet.source, packet.source_port), (packet.address, packet.port))
        if self._listeners.isdisjoint(ends):
            return False
        for connection in self._open.values():
            if (connection.entry.address, connection.entry.port) in ends:
                self._tries.settle(*connection.lossy, delivered=True)
        return True

    def ended(self, redirected: RedirectedConnection) -> None:
        """Forget a connection; an injection that has hit none of its packets is missed."""
        connection = self._open.pop(redirected.client, None)
        if connection is not None:
            self._settle(connection, "nothing_to_rewrite")
            self._install()

    def stop(self) -> None:
        """Lose and hold nothing more: the agent has ended its task."""
        if not self._open:
            return
        for connection in self._open.values():
            self._settle(connection, "trial_over")
        self._open.clear()
        self._install()

    def close(self) -> None:
        """Stop, and read no packets any more."""
        self.stop()
        self._delayed.close()

    def _hold(self, entry: PacketEntry, injection: PlannedInjection) -> None:
        def overtaken() -> None:
            self._tries.settle(injection, delivered=True)

        for effect in _reordering(injection):
            self._delayed.begin((entry.address, entry.port), effect, overtaken)

    def _settle(self, connection: _Connection, missed: MissReason) -> None:
        self._delayed.end((connection.entry.address, connection.entry.port))
        injections = (*connection.lossy, *connection.reordered)
        self._tries.settle(*injections, delivered=False, reason=missed)

    def _require_queue(self, rule: Rule) -> None:
        # No connection comes from port 0.
        probe = PacketEntry("127.0.0.1", 0, is_queued=True)
        try:
            self._delayed.open()
            nftables.set_packet_entries(self._passed.netfilter, (probe,))
            nftables.set_packet_entries(self._passed.netfilter, ())
        except OSError as error:
            raise MachineError(
                f"rule {rule.name!r} ({rule.fault.kind}) needs the kernel's queue of packets, which"
                f" is refused here ({os.strerror(error.errno or 0)}): have an"
                " administrator load it with `modprobe -a nfnetlink_queue nft_queue`, or use"
                " packet_loss, which makes a connection late, too"
            ) from None

    def _install(self) -> bool:
        """Set the kernel's rules; return whether it took them."""
        try:
            if not self._splits_packets:
                # The kernel would pass 64 kB as one packet, and lose or hold it as one.
                rtnetlink.split_packets(self._passed.route)
                self._splits_packets = True
            entries = [connection.entry for connection in self._open.values()]
            if any(entry.is_queued for entry in entries):
                self._delayed.open()
            nftables.set_packet_entries(self._passed.netfilter, entries)
        except OSError as error:
            self._broke(error)
            return False
        return True


def _loss(injection: PlannedInjection) -> float:
    shares = (it.share for it in injection.effects if isinstance(it, LosePackets))
    return next(shares, 0.0)


def _reordering(injection: PlannedInjection) -> tuple[ReorderPackets, ...]:
    return tuple(it for it in injection.effects if isinstance(it, ReorderPackets))
