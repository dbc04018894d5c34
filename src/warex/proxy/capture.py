"""Serves connections that were redirected here: from a namespace, or by the machine's own rules."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mitmproxy.addons.proxyserver import Proxyserver

from warex.proxy.addon import WarexAddon
from warex.proxy.arrivals import Arrival
from warex.proxy.config import ProxyConfig
from warex.proxy.entrance import Entrance
from warex.proxy.front_door import FrontDoor
from warex.proxy.handed import Handed
from warex.proxy.names import Names
from warex.proxy.relay import Route

_OTHER_LOOPBACK = {"127.0.0.1": "::1", "0.0.0.0": "::"}
"""Where the rules for IPv6 redirect, beside those for IPv4."""


@asynccontextmanager
async def captured(
    config: ProxyConfig, handed: Handed | None, addon: WarexAddon, server: Proxyserver
) -> AsyncIterator[int]:
    """Serve redirected connections; give the port on which they come in, 0 for a namespace's."""
    names = Names()
    entrance = Entrance(server, config.upstream)
    tunnels, recorder = addon.tunnels, addon.recorder

    def relayed(arrival: Arrival, sent: int, received: int, began: float) -> None:
        tunnels.relayed(arrival.host, arrival.port, sent, received, began)

    listeners = handed.tcp if handed is not None else _listeners(config)
    door = FrontDoor(
        listeners,
        name_of=lambda address: names.name_of(address) or address,
        admits=lambda arrival: True,
        serve=entrance.serve,
        relayed=relayed,
        broke=lambda error: recorder.harness_broke(f"{type(error).__name__}: {error}"),
        now=recorder.clock.now,
        route=Route(config.upstream),
        http_ports={entry.origin_port for entry in config.maps},
        relays_h2c=config.upstream is not None,
    )
    door.open()
    try:
        yield 0 if handed is not None else listeners[0].getsockname()[1]
    finally:
        await door.close()
        if handed is not None:
            handed.close()


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
