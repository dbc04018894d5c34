"""What is known of a client's socket."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
from mitmproxy import connection, ctx
from mitmproxy.test import tflow

from warex.proxy.net.client_socket import is_connected, reset, wait_flushed, writer_of

pytestmark = pytest.mark.wire


@asynccontextmanager
async def connected(
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[tuple[connection.Client, socket.socket]]:
    """A client as mitmproxy knows it, and the other end of its connection."""
    arrived: asyncio.Future[asyncio.StreamWriter] = asyncio.get_running_loop().create_future()
    server = await asyncio.start_server(
        lambda reader, writer: arrived.set_result(writer), "127.0.0.1", 0
    )
    peer = socket.socket()
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.setblocking(False)
    await asyncio.get_running_loop().sock_connect(peer, server.sockets[0].getsockname())
    writer = await arrived
    client = tflow.tclient_conn()
    handler = SimpleNamespace(transports={client: SimpleNamespace(writer=writer)})
    addons = SimpleNamespace(get=lambda name: SimpleNamespace(connections={client.id: handler}))
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons=addons), raising=False)
    try:
        yield client, peer
    finally:
        peer.close()
        writer.transport.abort()
        server.close()
        await asyncio.sleep(0)


async def test_a_client_that_waits_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    async with connected(monkeypatch) as (client, _):
        assert is_connected(client)
        assert await wait_flushed(client)


@pytest.mark.parametrize("linger", [None, struct.pack("ii", 1, 0)], ids=["close", "reset"])
async def test_a_client_that_has_gone_is_seen_before_asyncio_sees_it(
    monkeypatch: pytest.MonkeyPatch, linger: bytes | None
) -> None:
    async with connected(monkeypatch) as (client, peer):
        if linger is not None:
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        peer.close()
        # Not a moment is given to the event loop.
        assert not is_connected(client)


async def test_a_client_of_no_connection_is_not_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    async with connected(monkeypatch):
        stranger = tflow.tclient_conn()
        assert writer_of(stranger) is None
        assert not is_connected(stranger)
        assert not await wait_flushed(stranger)
        reset(stranger)


async def test_what_is_not_read_is_not_out(monkeypatch: pytest.MonkeyPatch) -> None:
    async with connected(monkeypatch) as (client, peer):
        writer = writer_of(client)
        assert writer is not None
        size = 8 * 2**20
        writer.write(bytes(size))
        out = asyncio.create_task(wait_flushed(client))
        await asyncio.sleep(0.05)
        assert not out.done()
        loop, got = asyncio.get_running_loop(), 0
        while got < size:
            got += len(await loop.sock_recv(peer, 2**20))
        assert await out


async def test_what_was_left_when_the_client_went_is_not_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with connected(monkeypatch) as (client, peer):
        writer = writer_of(client)
        assert writer is not None
        writer.write(bytes(8 * 2**20))
        out = asyncio.create_task(wait_flushed(client))
        await asyncio.sleep(0)
        peer.close()
        assert not await out


async def test_a_reset_is_a_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    async with connected(monkeypatch) as (client, peer):
        reset(client)
        with pytest.raises(ConnectionResetError):
            await asyncio.get_running_loop().sock_recv(peer, 1)
        assert not is_connected(client)
