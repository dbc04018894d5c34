"""Serves connections that are redirected here, from a namespace or by the machine's own rules."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from mitmproxy.addons.proxyserver import Proxyserver

from warex.proxy.addon import WarexAddon
from warex.proxy.config import ProxyConfig
from warex.proxy.connection_faults.blocklist import ConnectionBlocklist
from warex.proxy.connection_faults.name_lookup import LookupFaults
from warex.proxy.dns.server import DnsServer
from warex.proxy.dns.virtual_addresses import VirtualAddresses
from warex.proxy.interception import RESERVED_HOSTS
from warex.proxy.transparent.bridge import MitmproxyBridge
from warex.proxy.transparent.listener import RedirectListener
from warex.proxy.transparent.passed_sockets import PassedSockets
from warex.proxy.transparent.redirected_connection import RedirectedConnection
from warex.proxy.transparent.relay import Connector

_OTHER_LOOPBACK = {"127.0.0.1": "::1", "0.0.0.0": "::"}
"""The address to which the IPv6 rules redirect, by that of the IPv4 rules."""


@asynccontextmanager
async def serve_redirected(
    config: ProxyConfig, passed: PassedSockets | None, addon: WarexAddon, server: Proxyserver
) -> AsyncIterator[int]:
    """Serve redirected connections; yield the port they arrive on, 0 for a namespace."""
    names = VirtualAddresses()
    tunnels, recorder = addon.tunnels, addon.recorder
    inside = None if passed is None else _NamespaceServices(config, passed, names, addon, server)

    def broke(error: Exception) -> None:
        recorder.harness_broke(f"{type(error).__name__}: {error}")

    def relayed(arrival: RedirectedConnection, sent: int, received: int, began: float) -> None:
        tunnels.relayed(arrival.host, arrival.port, sent, received, began)

    listeners = passed.tcp if passed is not None else _listeners(config)
    listener = RedirectListener(
        listeners,
        name_of=lambda address: names.name_of(address) or address,
        accepted=lambda arrival: inside.gates.accepted(arrival) if inside else None,
        serve=MitmproxyBridge(server, config.traffic.upstream).serve,
        relayed=relayed,
        broke=broke,
        now=recorder.clock.now,
        route=Connector(config.traffic.upstream),
        http_ports=_http_ports(config),
        relays_h2c=config.traffic.upstream is not None,
    )
    listener.open()
    if inside is not None:
        inside.open()
    try:
        yield 0 if passed is not None else listeners[0].getsockname()[1]
    finally:
        await listener.close()
        if inside is not None:
            await inside.close()


def _http_ports(config: ProxyConfig) -> set[int]:
    """Return the ports that are known to use HTTP."""
    ports = {port for site in config.sites if (port := urlsplit(site).port)}
    return ports | {entry.origin_port for entry in config.traffic.host_maps}


class _NamespaceServices:
    """The services that only a namespace has: DNS and the connection blocklist."""

    def __init__(
        self,
        config: ProxyConfig,
        passed: PassedSockets,
        names: VirtualAddresses,
        addon: WarexAddon,
        server: Proxyserver,
    ) -> None:
        recorder = addon.recorder
        self._handed = passed

        def broke(error: Exception) -> None:
            recorder.harness_broke(f"{type(error).__name__}: {error}")

        self.gates = ConnectionBlocklist(
            passed,
            names,
            addon.injector,
            addon.connection_tries,
            recorder.clock,
            sites=config.sites,
            broke=broke,
        )
        self._faults = LookupFaults(addon.connection_tries, recorder.clock)
        self._resolver = DnsServer(
            names,
            faults=self._faults,
            record=recorder.write,
            named=lambda name: self.gates.update(),
            broke=broke,
            known=(*RESERVED_HOSTS, *(entry.origin for entry in config.traffic.host_maps)),
            asks=config.traffic.upstream is None,
        )
        addon.on_rules_changed = self.gates.update

    def open(self) -> None:
        self.gates.open()
        self._resolver.open(self._handed.dns_udp, self._handed.dns_tcp)

    async def close(self) -> None:
        await self._resolver.close()
        self._faults.close()
        self.gates.close()
        self._handed.close()


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
