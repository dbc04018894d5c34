"""What a transport reads, writes and says of its socket."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from warex.engine.sockets.buffers import Buffers
from warex.engine.sockets.transport import Transport
from warex.linux.sockets import reset_on_close

LIMIT = 64 * 1024


class Receiver:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.calls: list[str] = []
        self.error: Exception | None = None
        self.breaks = False
        self.changed = asyncio.Event()

    def received(self, data: memoryview) -> None:
        self.data += data
        self.note("received")
        if self.breaks:
            raise LookupError("broken")

    def eof_received(self) -> None:
        self.note("ended")

    def connection_lost(self, error: Exception | None) -> None:
        self.error = error
        self.note("lost")

    def pause_writing(self) -> None:
        self.note("paused")

    def resume_writing(self) -> None:
        self.note("resumed")

    def note(self, call: str) -> None:
        self.calls.append(call)
        self.changed.set()

    async def until(self, call: str) -> None:
        async with asyncio.timeout(5):
            while call not in self.calls:
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[Transport, Receiver, socket.socket]]:
    """A transport, its receiver, and its peer's socket."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        peer = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
    receiver = Receiver()
    transport = Transport(accepted, receiver, memoryview(bytearray(1024)), LIMIT, Buffers())
    peer.setblocking(False)
    try:
        yield transport, receiver, peer
    finally:
        transport.abort()
        peer.close()
        await asyncio.sleep(0)


async def read_all(peer: socket.socket) -> bytes:
    loop, pieces = asyncio.get_running_loop(), []
    async with asyncio.timeout(10):
        while piece := await loop.sock_recv(peer, 65536):
            pieces.append(piece)
    return b"".join(pieces)


async def test_what_the_kernel_does_not_take_leaves_in_order_before_the_end() -> None:
    pieces = [bytes([number]) * 100_000 for number in range(100)]
    for ends in (Transport.close, Transport.write_eof):
        async with connected() as (transport, receiver, peer):
            for piece in pieces:
                transport.write(piece)
            assert transport.unsent > LIMIT
            assert receiver.calls == ["paused"]
            ends(transport)
            assert await read_all(peer) == b"".join(pieces)
            assert transport.unsent == 0
            await receiver.until("resumed")


async def test_nothing_is_received_while_it_is_paused() -> None:
    async with connected() as (transport, receiver, peer):
        transport.pause_reading()
        peer.sendall(b"abc")
        await asyncio.sleep(0.02)
        assert not receiver.calls
        transport.resume_reading()
        await receiver.until("received")
        assert receiver.data == b"abc"


async def test_a_pause_reaches_the_event_loop_only_if_something_comes_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    removed: list[int] = []
    loop = asyncio.get_running_loop()
    remove = loop.remove_reader

    def noted(fd: int) -> bool:
        removed.append(fd)
        return remove(fd)

    monkeypatch.setattr(loop, "remove_reader", noted)
    async with connected() as (transport, receiver, peer):
        transport.pause_reading()
        await asyncio.sleep(0)
        transport.resume_reading()
        assert not removed
        transport.pause_reading()
        peer.sendall(b"abc")
        async with asyncio.timeout(5):
            while not removed:
                await asyncio.sleep(0)
        transport.resume_reading()
        await receiver.until("received")
        assert receiver.calls == ["received"]


async def test_a_peer_that_ends_may_still_be_written_to() -> None:
    async with connected() as (transport, receiver, peer):
        peer.shutdown(socket.SHUT_WR)
        await receiver.until("ended")
        transport.pause_reading()
        transport.resume_reading()
        transport.write(b"answer")
        transport.close()
        assert await read_all(peer) == b"answer"
        await receiver.until("lost")
        assert receiver.calls == ["ended", "lost"]


async def test_a_reset_is_reported_once_with_its_error() -> None:
    async with connected() as (transport, receiver, peer):
        reset_on_close(peer)
        peer.close()
        await receiver.until("lost")
        transport.write(b"late")
        transport.write_eof()
        transport.close()
        await asyncio.sleep(0)
        assert receiver.calls == ["lost"]
        assert isinstance(receiver.error, ConnectionResetError)


async def test_an_abort_drops_what_waits() -> None:
    async with connected() as (transport, receiver, peer):
        transport.write(bytes(32 * 2**20))
        transport.abort()
        assert transport.unsent == 0
        assert len(await read_all(peer)) < 32 * 2**20
        assert receiver.calls == ["paused", "lost"]


async def test_what_breaks_in_the_receiver_ends_the_connection_and_is_reported() -> None:
    reported: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    async with connected() as (_, receiver, peer):
        receiver.breaks = True
        peer.sendall(b"x")
        await receiver.until("lost")
        assert await read_all(peer) == b""
    assert [type(it["exception"]) for it in reported] == [LookupError]
