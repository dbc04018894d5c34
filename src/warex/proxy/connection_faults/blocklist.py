"""Connections that the kernel refuses or drops inside the namespace.

An accepted connection cannot be refused any more. So the namespace's nftables rules always state
what the next connection try at each host would meet; the kernel logs each try that they stop, and
the try is counted then. They are set again at each event that may change what a try would meet (a
try, a lookup, a step, arming, a new rule), and when a window or an occurrence begins or ends.

A dropped connection counts as delivered when the client retransmits its SYN, at least a second
later.
"""

import asyncio
import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from warex.clock import Clock
from warex.engine.net.redirected_connection import RedirectedConnection
from warex.lane.connection_faults.tries import ConnectionTries
from warex.lane.record.ip_address import parse_ip
from warex.linux import nftables
from warex.linux.nftables import BlocklistEntry, PacketEnds
from warex.proxy.connection_faults.packet_faults import PacketFaults
from warex.proxy.dns.virtual_addresses import VirtualAddresses
from warex.proxy.transparent.passed_sockets import PassedSockets
from warex.scenarios import Injector, PlannedInjection, Rule, TryOutcome
from warex.scenarios.origins import ConnectionTarget
from warex.text.latest import Latest
from warex.traces import MissReason

_SYN_RETRY_SECONDS: Final = 1.5
"""Seconds within which a waiting client retransmits its SYN; Linux does after one."""
_FORGET_SECONDS: Final = 4.0
"""Seconds after which a dropped connection is forgotten."""
_MAX_LITERAL_ADDRESSES: Final = 256
"""Remembered addresses without a name."""
_MOST_NAMES: Final = 10_000
"""Names of which it is remembered whether a rule may block them."""

_HOST: Final = re.compile(r"://(\[[0-9a-fA-F:.]+\]|[^/:*?\[\]]+)")


class _BlockedTry(Struct):
    """A connection try that was dropped."""

    since: float
    injections: tuple[PlannedInjection, ...]


class ConnectionBlocklist:
    """Keeps the kernel's blocklist up to date, and records the tries that it stops."""

    def __init__(
        self,
        passed: PassedSockets,
        names: VirtualAddresses,
        injector: Injector,
        tries: ConnectionTries,
        clock: Clock,
        *,
        sites: tuple[str, ...] = (),
        broke: Callable[[Exception], None],
    ) -> None:
        """``sites``: as for the injector; ``broke`` is called if the kernel refuses."""
        self._passed, self._names = passed, names
        self._injector, self._tries, self._clock = injector, tries, clock
        self._sites, self._broke = sites, broke
        self._packets = PacketFaults(passed, tries, broke)
        self._entries: tuple[BlocklistEntry, ...] = ()
        self._pending: dict[PacketEnds, _BlockedTry] = {}
        self._literal_addresses: dict[str, None] = {}
        self._rules: tuple[Rule, ...] = ()
        self._named: tuple[str, ...] = ()
        self._concerned = Latest[str, bool](_MOST_NAMES)
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    def open(self) -> None:
        """Start to update the blocklist.

        Raises MachineError if the kernel lacks what a rule needs.
        """
        self._packets.require(self._injector.rules)
        self._passed.log.setblocking(False)
        self._loop.add_reader(self._passed.log, self._read_log)
        self.update()

    def close(self) -> None:
        """Settle the pending tries and clear the blocklist at the end of the trial."""
        self._read_log()
        self._loop.remove_reader(self._passed.log)
        if self._timer is not None:
            self._timer.cancel()
        self._packets.close()
        now = self._clock.now()
        for pending in self._pending.values():
            self._settle(pending, "trial_over", now)
        self._install(())

    def accepted(self, redirected: RedirectedConnection) -> None:
        """Count an accepted connection, whether a rule concerns it or not.

        The position of a one-shot fault counts the connections before it, for a replay.
        """
        host = self._host(redirected.address, redirected.port)
        if host == redirected.address and len(self._literal_addresses) < _MAX_LITERAL_ADDRESSES:
            self._literal_addresses[host] = None
        injections = self._tries.plan("connect", host, redirected.port, met=False)
        self._packets.begin(redirected, injections)
        self.update()

    def ended(self, redirected: RedirectedConnection) -> None:
        """Note the end of an accepted connection."""
        self._read_log()
        self._packets.ended(redirected)

    def update(self) -> None:
        """Set the blocklist to what the next connection tries should meet, until time changes it.

        Must be called whenever something else may have changed it.
        """
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._injector.arming.task_ended:
            self._packets.stop()
        now, entries = self._clock.now(), tuple[BlocklistEntry, ...]()
        if self._concern_connections():
            entries = tuple(it for each in self._targets() for it in self._entries_for(*each, now))
            then = self._injector.connections.next_change(now)
            if then is not None:
                self._timer = self._loop.call_later(then - now, self.update)
        self._install(entries)

    # ---- the entries

    def _concern_connections(self) -> bool:
        rules = self._injector.rules
        if rules != self._rules:
            self._rules = rules
            self._concerned.clear()
            named = (rule.match.url_exact or rule.match.url or "" for rule in rules)
            hosts = (_HOST.search(text) for text in (*named, *self._sites))
            self._named = tuple({it[1].strip("[]").lower(): None for it in hosts if it})
        return any(rule.fault.point == "connect" for rule in rules)

    def _targets(self) -> Iterator[tuple[str, tuple[str, ...], bool]]:
        """Yield each host, its addresses, and whether all its ports may be blocked."""
        for name in self._names:
            if self._is_concerned(name):
                own = self._names.addresses_of(name)
                yield name, (own.v4, own.v6), True
        for host in dict.fromkeys((*self._named, *self._literal_addresses)):
            if host == "localhost":
                # Not all ports: the command's own services are there, too.
                yield host, ("127.0.0.1", "::1"), False
            elif (address := parse_ip(host)) is not None:
                yield host, (str(address),), not address.is_loopback

    def _entries_for(
        self, host: str, addresses: tuple[str, ...], everywhere: bool, now: float
    ) -> Iterator[BlocklistEntry]:
        rules = self._injector.connections

        def outcome(port: int | None) -> TryOutcome | None:
            return rules.next_outcome(ConnectionTarget.of("connect", host, port), now)

        elsewhere = outcome(None) if everywhere else None
        for port in rules.ports_with_own_block(host):
            how = outcome(port)
            if how is not None or elsewhere is not None:
                yield from (BlocklistEntry(address, port, how or "pass") for address in addresses)
        if elsewhere is not None:
            yield from (BlocklistEntry(address, None, elsewhere) for address in addresses)

    def _is_concerned(self, host: str) -> bool:
        """Whether the rules may ever block a host."""
        if host not in self._concerned:
            rules, target = self._injector.connections, ConnectionTarget.of("connect", host, None)
            self._concerned[host] = bool(rules.ports_with_own_block(host)) or rules.concerns(target)
        return self._concerned[host]

    def _install(self, entries: tuple[BlocklistEntry, ...]) -> None:
        if entries == self._entries:
            return
        try:
            nftables.set_blocklist(self._passed.netfilter, entries)
        except OSError as error:
            self._broke(error)
        else:
            self._entries = entries

    # ---- the connection tries

    def _read_log(self) -> None:
        while True:
            try:
                received = self._passed.log.recv(65536)
            except BlockingIOError:
                return
            except OSError as error:
                # The kernel has dropped log messages, so the ledger is incomplete.
                self._broke(error)
                return
            for blocked in nftables.read_log(received):
                if not self._packets.lost(blocked):
                    self._blocked(blocked)

    def _blocked(self, ends: PacketEnds) -> None:
        now = self._clock.now()
        again = self._pending.get(ends)
        if again is not None:
            self._settle(again, None, now)
            return
        host = self._host(ends.address, ends.port)
        injections = self._tries.plan("connect", host, ends.port, met=True)
        if any(effect.traits.kernel == "drop" for it in injections for effect in it.effects):
            pending = self._pending[ends] = _BlockedTry(now, injections)
            # A client that leaves does so within the first second; the time is not observable.
            self._loop.call_later(_SYN_RETRY_SECONDS, self._gave_up, pending, now)
            self._loop.call_later(_FORGET_SECONDS, self._pending.pop, ends, None)
        else:
            self._tries.settle(*injections, delivered=True)
        self.update()

    def _gave_up(self, pending: _BlockedTry, now: float) -> None:
        if pending.injections:
            self._settle(pending, "client_gone", now)
            self.update()  # A miss may return its rule's budget.

    def _settle(self, pending: _BlockedTry, missed: MissReason | None, now: float) -> None:
        self._tries.settle(
            *pending.injections,
            delivered=missed is None,
            reason=missed or "client_gone",
            waited_s=now - pending.since,
        )
        pending.injections = ()

    def _host(self, address: str, port: int) -> str:
        """Return the host name that the rules use for a destination."""
        name = self._names.name_of(address)
        if name is not None:
            return name
        local = ConnectionTarget.of("connect", "localhost", port)
        if ipaddress.ip_address(address).is_loopback and self._injector.connections.concerns(local):
            return "localhost"
        return address
