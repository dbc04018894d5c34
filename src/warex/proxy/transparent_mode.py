"""Serves connections that were redirected here: from a namespace, or by the machine's own rules."""

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
"""Where the rules for IPv6 redirect, beside those for IPv4."""


@asynccontextmanager
async def serve_redirected(
    config: ProxyConfig, passed: PassedSockets | None, addon: WarexAddon, server: Proxyserver
) -> AsyncIterator[int]:
    """Serve redirected connections; give the port on which they come in, 0 for a namespace's."""
    names = VirtualAddresses()
    entrance = MitmproxyBridge(server, config.traffic.upstream)
    tunnels, recorder = addon.tunnels, addon.recorder
    inside = None if passed is None else _NamespaceServices(config, passed, names, addon, server)

    def broke(error: Exception) -> None:
        recorder.harness_broke(f"{type(error).__name__}: {error}")

    def relayed(arrival: RedirectedConnection, sent: int, received: int, began: float) -> None:
        tunnels.relayed(arrival.host, arrival.port, sent, received, began)

    listeners = passed.tcp if passed is not None else _listeners(config)
    door = RedirectListener(
        listeners,
        name_of=lambda address: names.name_of(address) or address,
        accepted=lambda arrival: inside.gates.accepted(arrival) if inside else None,
        serve=entrance.serve,
        relayed=relayed,
        broke=broke,
        now=recorder.clock.now,
        route=Connector(config.traffic.upstream),
        http_ports=_http_ports(config),
        relays_h2c=config.traffic.upstream is not None,
    )
    door.open()
    if inside is not None:
        inside.open()
    try:
        yield 0 if passed is not None else listeners[0].getsockname()[1]
    finally:
        await door.close()
        if inside is not None:
            await inside.close()


def _http_ports(config: ProxyConfig) -> set[int]:
    """Return the ports of which it is known that HTTP is spoken there."""
    sites = (urlsplit(site) for site in config.sites)
    return {entry.origin_port for entry in config.traffic.host_maps} | {
        it.port for it in sites if it.port
    }


class _NamespaceServices:
    """What only a namespace has: names of its own, and gates."""

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
    """Listen where the machine's rules redirect to, for both families."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    first = socket.create_server((config.host, config.port), family=family, backlog=1024)
    other = _OTHER_LOOPBACK.get(config.host)
    if other is None or not socket.has_ipv6:
        return (first,)
    try:
        port = first.getsockname()[1]
        second = socket.create_server((other, port), family=socket.AF_INET6, backlog=1024)
    except OSError:
        # A machine without IPv6, or the port is somebody else's there.
        return (first,)
    return first, second
