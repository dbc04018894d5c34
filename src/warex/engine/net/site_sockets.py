"""Connects to sites for relays, which need a socket of the kernel."""

import asyncio
import socket
from contextlib import suppress
from typing import Final

from warex.engine.ends import End
from warex.engine.handler import Address
from warex.engine.net.connector import Connector

_CARRYING: Final[set[asyncio.Task[None]]] = set()
"""Kept from being collected."""


async def connect_socket(connector: Connector, host: str, port: int) -> socket.socket:
    """Return a socket at a site; raise SiteUnreachable, which is an OSError."""
    end = await connector.connect(Address(host, port))
    if end.tls is None and not end.has_unread:
        opened, _ = end.detach()
        return opened
    # The upstream proxy speaks TLS, or has sent the site's first bytes with its own answer.
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    carrying = asyncio.ensure_future(_carry_both(End(ours), end))
    _CARRYING.add(carrying)
    carrying.add_done_callback(_CARRYING.discard)
    return theirs


async def _carry_both(near: End, site: End) -> None:
    try:
        with suppress(OSError):
            await asyncio.gather(_carry(near, site), _carry(site, near))
    finally:
        near.close()
        site.close()


async def _carry(source: End, sink: End) -> None:
    while data := await source.read():
        sink.write(data)
        await sink.drain()
    sink.end_writing()
