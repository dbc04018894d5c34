"""Reaches the client's socket behind mitmproxy, to say what the client did and to reset it."""

import asyncio
import socket
import struct
import sys
from weakref import WeakSet

from mitmproxy import connection, ctx
from mitmproxy.proxy import commands, events
from mitmproxy.utils import asyncio_utils

_ESTABLISHED = 1
"""State of a TCP connection that neither side has ended (linux/tcp_states.h)."""


def writer_of(
    client: connection.Client, server: connection.Server | None = None
) -> asyncio.StreamWriter | None:
    """Return what writes to the client, or to a server of its; None once that has gone."""
    handler = ctx.master.addons.get("proxyserver").connections.get(client.id)
    end = client if server is None else server
    if handler is None or end not in handler.transports:
        return None
    writer = handler.transports[end].writer
    return writer if isinstance(writer, asyncio.StreamWriter) else None


async def wait_drained(writer: asyncio.StreamWriter, settled: asyncio.Event) -> None:
    """Wait until there is room for more, the connection has gone, or an event is set."""
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

    mitmproxy may learn later than the kernel that the client has gone; Linux is asked directly.
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
    """Wait until all that was written has left for the client; False if it went before."""
    writer = writer_of(client)
    if writer is None or writer.transport.is_closing():
        return False
    transport = writer.transport
    try:
        # Again if somebody else, who waits for another answer, was done first.
        while True:
            # With no room at all in the buffer, drain() waits for its last byte.
            transport.set_write_buffer_limits(high=0)
            await writer.drain()
            if not transport.get_write_buffer_size():
                break
    except OSError:
        return False
    finally:
        # Back to asyncio's own; mitmproxy sets none.
        transport.set_write_buffer_limits()
    # What the client sent while it took the last bytes is read first: it may be a reset.
    await asyncio.sleep(0)
    return writer not in _reset


_reset: WeakSet[asyncio.StreamWriter] = WeakSet()
"""Whom we reset: what was still to be written is lost, and drain() does not say so."""


def reset(client: connection.Client) -> None:
    """End the connection by a TCP reset: unsent bytes are dropped, the client sees an RST."""
    writer = writer_of(client)
    if writer is not None:
        reset_writer(writer)


def reset_writer(writer: asyncio.StreamWriter) -> None:
    """End a connection by a TCP reset, from the side that writes to the client."""
    _reset.add(writer)
    raw = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def fire_wakeup(client: connection.Client, alarm: commands.RequestWakeup) -> None:
    """Let an alarm that a layer has set go off now."""
    handler = ctx.master.addons.get("proxyserver").connections.get(client.id)
    if handler is not None:
        asyncio_utils.create_task(
            handler.server_event(events.Wakeup(alarm)),
            name="wakeup",
            keep_ref=True,
            client=client.peername,
        )
