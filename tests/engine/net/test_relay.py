"""Bytes pass unharmed, as fast as the slower side takes them, and ends as they were."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from warex.engine.net.relay import Relay
from warex.engine.sockets.buffers import LEAST, Buffers

pytestmark = pytest.mark.wire

_RESET = struct.pack("ii", 1, 0)


def _pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of one TCP connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
    for end in (ours, theirs):
        end.setblocking(False)
    return ours, theirs


@asynccontextmanager
async def _relayed() -> AsyncIterator[
    tuple[socket.socket, socket.socket, Relay, asyncio.Task[None]]
]:
    """A client and a site with a relay between them."""
    client, client_side = _pair()
    site, site_side = _pair()
    relay = Relay(client_side, site_side, Buffers())
    running = asyncio.create_task(relay.run())
    await asyncio.sleep(0)
    try:
        yield client, site, relay, running
    finally:
        running.cancel()
        await asyncio.wait([running])
        client.close()
        site.close()


async def _all(end: socket.socket) -> bytes:
    pending = b""
    while more := await asyncio.get_running_loop().sock_recv(end, 65536):
        pending += more
    return pending


async def test_a_half_close_passes_alone() -> None:
    loop = asyncio.get_running_loop()
    async with _relayed() as (client, site, relay, running):
        await loop.sock_sendall(client, b"question")
        client.shutdown(socket.SHUT_WR)
        assert await _all(site) == b"question"
        await loop.sock_sendall(site, b"answer")
        site.close()
        assert await _all(client) == b"answer"
        await running
        assert (relay.sent, relay.received) == (8, 6)


async def test_large_data_passes_both_ways_at_the_same_time() -> None:
    loop = asyncio.get_running_loop()
    out, back = bytes(range(256)) * 40_000, bytes(reversed(range(256))) * 40_000
    async with _relayed() as (client, site, relay, running):

        async def say(end: socket.socket, data: bytes) -> None:
            await loop.sock_sendall(end, data)
            end.shutdown(socket.SHUT_WR)

        async with asyncio.TaskGroup() as group:
            group.create_task(say(client, out))
            group.create_task(say(site, back))
            existing, here = group.create_task(_all(site)), group.create_task(_all(client))
        assert existing.result() == out
        assert here.result() == back
        await running
        assert (relay.sent, relay.received) == (len(out), len(back))


async def test_a_side_that_takes_nothing_stops_the_other() -> None:
    loop = asyncio.get_running_loop()
    async with _relayed() as (client, site, relay, _):
        sending = asyncio.create_task(loop.sock_sendall(client, bytes(64_000_000)))
        last = -1
        # Until the kernel's buffers are full and nothing moves any more.
        while relay.sent != last:
            last = relay.sent
            await asyncio.sleep(0.1)
        assert 0 < relay.sent < 64_000_000
        assert not sending.done()
        sending.cancel()
        await asyncio.wait([sending])
        client.close()
        assert len(await _all(site)) >= last


@pytest.mark.parametrize("who", ["client", "site"])
async def test_a_reset_passes_as_a_reset(who: str) -> None:
    loop = asyncio.get_running_loop()
    async with _relayed() as (client, site, _, running):
        breaks, sees = (client, site) if who == "client" else (site, client)
        breaks.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        breaks.close()
        with pytest.raises(ConnectionResetError):
            await loop.sock_recv(sees, 1)
        await running


async def test_the_trials_end_breaks_off() -> None:
    loop = asyncio.get_running_loop()
    async with _relayed() as (client, site, _, running):
        running.cancel()
        for end in (client, site):
            with pytest.raises(ConnectionResetError):
                await loop.sock_recv(end, 1)


async def test_what_waits_is_counted_and_little_where_there_is_no_room() -> None:
    async with _relayed() as (client, _, relay, running):
        relay.buffers.add(1 << 30)
        loop = asyncio.get_running_loop()
        sending = asyncio.create_task(loop.sock_sendall(client, bytes(50_000_000)))
        async with asyncio.timeout(5):
            while relay.buffers.used == 1 << 30:
                await asyncio.sleep(0.01)
        assert relay.buffers.used <= (1 << 30) + LEAST
        sending.cancel()
        running.cancel()
        await asyncio.wait([sending, running])
        assert relay.buffers.used == 1 << 30
