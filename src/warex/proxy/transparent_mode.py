"""Serves connections that are redirected here, from a namespace or by the machine's own rules."""

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol
from urllib.parse import urlsplit

from warex.engine.sockets.buffers import Buffers
from warex.errors import TrialVoid
from warex.lane.config import ProxyConfig
from warex.lane.connection_faults.tries import ConnectionTries
from warex.lane.hosts.own_hosts import RESERVED_HOSTS
from warex.lane.record.recorder import Recorder
from warex.proxy.connection_faults.blocklist import ConnectionBlocklist
from warex.proxy.connection_faults.name_lookup import LookupFaults
from warex.proxy.dns.server import DnsServer
from warex.proxy.dns.virtual_addresses import VirtualAddresses
from warex.proxy.transparent.listener import (
    ConnectCallback,
    RedirectListener,
    RelayCallback,
    ServeCallback,
)
from warex.proxy.transparent.passed_sockets import PassedSockets
from warex.scenarios import Injector

_OTHER_LOOPBACK = {"127.0.0.1": "::1", "0.0.0.0": "::"}
"""The address to which the IPv6 rules redirect, by the address of the IPv4 rules."""


class RedirectedTrial(Protocol):
    """What the services of redirected connections ask of a trial."""

    on_rules_changed: Callable[[], None]
    """Called when the rules in force may have changed."""

    @property
    def injector(self) -> Injector:
        """Decides which faults are injected."""

    @property
    def recorder(self) -> Recorder:
        """Keeps the ledger."""

    @property
    def connection_tries(self) -> ConnectionTries:
        """Records faults of connections."""


@asynccontextmanager
async def serve_redirected(
    config: ProxyConfig,
    passed: PassedSockets | None,
    trial: RedirectedTrial,
    serve: ServeCallback,
    relayed: RelayCallback,
    connect: ConnectCallback,
    buffers: Buffers,
) -> AsyncIterator[int]:
    """Serve redirected connections; yield the port they arrive on, 0 for a namespace.

    ``serve`` serves a connection to its end. One that is not HTTP is relayed to the socket that
    ``connect`` returns, and ``relayed`` is called with it.
    """
    names, recorder = VirtualAddresses(), trial.recorder

    def broke(error: Exception) -> None:
        late = isinstance(error, TrialVoid)
        recorder.harness_broke(str(error) if late else f"{type(error).__name__}: {error}")

    async with AsyncExitStack() as stack:
        blocklist = None
        listeners = passed.tcp if passed is not None else _listeners(config)
        if passed is not None:
            services = _namespace_services(config, passed, names, trial, broke)
            blocklist = await stack.enter_async_context(services)
        listener = RedirectListener(
            listeners,
            name_of=names.name_of,
            accepted=blocklist.accepted if blocklist else lambda redirected: None,
            ended=blocklist.ended if blocklist else lambda redirected: None,
            serve=serve,
            relayed=relayed,
            broke=broke,
            now=recorder.clock.now,
            connect=connect,
            buffers=buffers,
            http_ports=_http_ports(config),
        )
        listener.open()
        stack.push_async_callback(listener.close)
        yield 0 if passed is not None else listeners[0].getsockname()[1]


@asynccontextmanager
async def _namespace_services(
    config: ProxyConfig,
    passed: PassedSockets,
    names: VirtualAddresses,
    trial: RedirectedTrial,
    broke: Callable[[Exception], None],
) -> AsyncIterator[ConnectionBlocklist]:
    """Run what only a namespace has, DNS and the connection blocklist; yield the blocklist."""
    tries, recorder = trial.connection_tries, trial.recorder
    blocklist = ConnectionBlocklist(
        passed, names, trial.injector, tries, recorder.clock, sites=config.sites, broke=broke
    )
    faults = LookupFaults(tries, recorder.clock)
    resolver = DnsServer(
        names,
        plan_fault=faults.plan,
        record=recorder.write,
        named=lambda name: blocklist.update(),
        broke=broke,
        known=[entry.origin for entry in config.traffic.host_maps],
        own=RESERVED_HOSTS,
        asks=config.traffic.upstream is None,
    )
    trial.on_rules_changed = blocklist.update
    blocklist.open()
    resolver.open(passed.dns_udp, passed.dns_tcp)
    try:
        yield blocklist
    finally:
        trial.on_rules_changed = lambda: None
        await resolver.close()
        faults.close()
        blocklist.close()
        passed.close()


def _http_ports(config: ProxyConfig) -> set[int]:
    """Return the ports that are known to use HTTP."""
    ports = {port for site in config.sites if (port := urlsplit(site).port)}
    return ports | {entry.origin_port for entry in config.traffic.host_maps}


def _listeners(config: ProxyConfig) -> tuple[socket.socket, ...]:
    """Listen at the addresses to which the machine's rules redirect."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    first = socket.create_server((config.host, config.port), family=family, backlog=1024)
    other = _OTHER_LOOPBACK.get(config.host)
    if other is None or not socket.has_ipv6:
        return (first,)
    try:
        port = first.getsockname()[1]
        second = socket.create_server((other, port), family=socket.AF_INET6, backlog=1024)
    except OSError:
        return (first,)  # The machine has no IPv6, or the port is in use there.
    return first, second
