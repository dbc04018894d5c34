"""Accesses the client's socket below mitmproxy, to check, flush and reset it."""

import asyncio
import socket
import sys
from weakref import WeakSet

from mitmproxy import connection, ctx
from mitmproxy.proxy import commands, events
from mitmproxy.utils import asyncio_utils

from warex.linux.sockets import reset_on_close

_ESTABLISHED = 1
"""TCP_ESTABLISHED of linux/tcp_states.h."""


def writer_of(
    client: connection.Client, server: connection.Server | None = None
) -> asyncio.StreamWriter | None:
    """Return the writer to a client, or to one of its servers; None if it is closed."""
    handler = ctx.master.addons.get("proxyserver").connections.get(client.id)
    end = client if server is None else server
    if handler is None or end not in handler.transports:
        return None
    writer = handler.transports[end].writer
    return writer if isinstance(writer, asyncio.StreamWriter) else None


async def wait_drained(writer: asyncio.StreamWriter, settled: asyncio.Event) -> None:
    """Wait until the write buffer drains, the connection closes, or the event is set."""
    if settled.is_set():
        return
    waits = [asyncio.ensure_future(it) for it in (writer.drain(), settled.wait())]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waits:
            each.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


def is_connected(client: connection.Client) -> bool:
    """Whether the client is still connected and has not begun to close.

    On Linux the kernel is asked, which knows earlier than mitmproxy that the client has left.
    """
    writer = writer_of(client)
    if writer is None or writer.is_closing() or not client.connected:
        return False
    if sys.platform != "linux":
        return True
    raw = writer.get_extra_info("socket")
    try:
        state: int = raw.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
    except OSError:
        return False
    return state == _ESTABLISHED


async def wait_flushed(client: connection.Client) -> bool:
    """Wait until the write buffer is empty; return False if the client left before."""
    writer = writer_of(client)
    if writer is None or writer.transport.is_closing():
        return False
    transport = writer.transport
    try:
        # Repeat if another caller has reset the limits first.
        while True:
            # With limit 0, drain() waits for the last byte.
            transport.set_write_buffer_limits(high=0)
            await writer.drain()
            if not transport.get_write_buffer_size():
                break
    except OSError:
        return False
    finally:
        transport.set_write_buffer_limits()  # asyncio's defaults; mitmproxy sets none.
    # First read what the client has sent meanwhile: it may be a reset.
    await asyncio.sleep(0)
    return writer not in _reset


_reset: WeakSet[asyncio.StreamWriter] = WeakSet()
"""Writers that we reset: unsent bytes are lost without an error of drain()."""


def reset(client: connection.Client) -> None:
    """Reset the client's TCP connection; unsent bytes are dropped."""
    writer = writer_of(client)
    if writer is not None:
        reset_writer(writer)


def reset_writer(writer: asyncio.StreamWriter) -> None:
    """Reset the TCP connection of a writer."""
    _reset.add(writer)
    reset_on_close(writer.get_extra_info("socket"))
    writer.transport.abort()


def fire_wakeup(client: connection.Client, alarm: commands.RequestWakeup) -> None:
    """Trigger a layer's requested wakeup now."""
    handler = ctx.master.addons.get("proxyserver").connections.get(client.id)
    if handler is not None:
        asyncio_utils.create_task(
            handler.server_event(events.Wakeup(alarm)),
            name="wakeup",
            keep_ref=True,
            client=client.peername,
        )
