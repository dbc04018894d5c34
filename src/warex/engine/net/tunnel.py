"""Passes a connection's bytes on unread."""

import asyncio
from contextlib import ExitStack, suppress

from warex.engine.ends import End
from warex.engine.handler import Connection
from warex.engine.net.redirected_connection import close_with_reset
from warex.engine.net.relay import Relay


async def pass_on(connection: Connection, client: End, site: End) -> None:
    """Pass bytes on both ways until both sides have ended or one is reset."""
    if client.tls is not None or site.tls is not None:
        await _pump_both(connection, client, site)
        return
    loop = asyncio.get_running_loop()
    with ExitStack() as unless_relayed:
        try:
            site_socket, from_site = site.detach()
            unless_relayed.callback(close_with_reset, site_socket)
            client_socket, from_client = client.detach()
            unless_relayed.callback(close_with_reset, client_socket)
            # A connection's first bytes fit into the buffers of the kernel.
            if from_client:
                await loop.sock_sendall(site_socket, from_client)
            if from_site:
                await loop.sock_sendall(client_socket, from_site)
        except OSError:  # One side has reset its connection.
            client.reset()
            site.reset()
            return
        unless_relayed.pop_all()
    relay = Relay(client_socket, site_socket, client.buffers)
    try:
        await relay.run()
    finally:
        connection.sent_to_site = len(from_client) + relay.sent
        connection.sent_to_client = len(from_site) + relay.received


async def _pump_both(connection: Connection, client: End, site: End) -> None:
    """Pass bytes on through TLS, which the kernel does not know."""

    async def up() -> None:
        while data := await client.read():
            site.write(data)
            connection.sent_to_site += len(data)
            await site.drain()
        site.end_writing()

    async def down() -> None:
        while data := await site.read():
            client.write(data)
            connection.sent_to_client += len(data)
            await client.drain()
        client.end_writing()

    try:
        with suppress(OSError):
            await asyncio.gather(up(), down())
    finally:
        client.close()
        site.close()
