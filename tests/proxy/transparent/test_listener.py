"""Each connection is served or relayed by its protocol, and none is accepted by accident."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from tests.ports import reserved_port
from warex.engine.net.protocol_detection import DetectedProtocol
from warex.engine.net.redirected_connection import RedirectedConnection
from warex.engine.sockets.buffers import Buffers
from warex.proxy.transparent import listener
from warex.proxy.transparent.listener import RedirectListener

pytestmark = pytest.mark.wire


@dataclass
class _House:
    """What was served, relayed and accepted."""

    address: tuple[str, int] = ("", 0)
    served: list[tuple[RedirectedConnection, DetectedProtocol]] = field(default_factory=list)
    relayed: list[tuple[str, int, int]] = field(default_factory=list)
    broken: list[Exception] = field(default_factory=list)
    accepted: list[RedirectedConnection] = field(default_factory=list)
    ended: list[RedirectedConnection] = field(default_factory=list)

    async def serve(self, connection: RedirectedConnection, protocol: DetectedProtocol) -> None:
        self.served.append((connection, protocol))
        loop = asyncio.get_running_loop()
        with connection.client as client:
            # The first bytes are still there.
            await loop.sock_sendall(client, await loop.sock_recv(client, 100))


@asynccontextmanager
async def _open(
    monkeypatch: pytest.MonkeyPatch,
    to: tuple[str, int] | None,
    accepted: Callable[[RedirectedConnection], None] | None = None,
) -> AsyncIterator[_House]:
    """A door whose every visitor was on the way to one place; None: came straight here."""
    house = _House()

    async def connect(host: str, port: int) -> socket.socket:
        """Reach the site by its address: the names of this test do not exist."""
        assert to is not None
        site = socket.socket()
        site.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(site, to)
        except OSError:
            site.close()
            raise
        return site

    monkeypatch.setattr(listener, "original_destination", lambda client: to)
    server = socket.create_server(("127.0.0.1", 0))
    house.address = server.getsockname()
    door = RedirectListener(
        [server],
        name_of=lambda address: f"name-of-{address}",
        accepted=accepted or house.accepted.append,
        ended=house.ended.append,
        serve=house.serve,
        relayed=lambda host, port, sent, received, began: house.relayed.append(
            (host, sent, received)
        ),
        broke=house.broken.append,
        now=lambda: 0.0,
        connect=connect,
        buffers=Buffers(),
    )
    door.open()
    try:
        yield house
    finally:
        await door.close()


async def _say(to: tuple[str, int], *values: bytes) -> bytes:
    """Say words one by one; return what is answered until the end, or ``reset``."""
    reader, writer = await asyncio.open_connection(*to)
    try:
        for word in values:
            writer.write(word)
            await writer.drain()
            await asyncio.sleep(0.02)
        async with asyncio.timeout(5):
            return await reader.read()
    except ConnectionResetError:
        return b"reset"
    finally:
        writer.close()


async def test_http_is_served_with_its_name_and_every_byte(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with _open(monkeypatch, ("198.18.0.1", 80)) as house:
        assert await _say(house.address, b"PROP", b"FIND /a HTTP/1.1\r\n") == (
            b"PROPFIND /a HTTP/1.1\r\n"
        )
        [(connection, protocol)] = house.served
        assert (connection.host, connection.address, connection.port) == (
            "name-of-198.18.0.1",
            "198.18.0.1",
            80,
        )
        assert protocol == "http"
        assert house.accepted == [connection]


async def test_a_beginning_that_becomes_nothing_is_relayed_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.read(100)).upper())
        writer.close()

    site = await asyncio.start_server(shout, "127.0.0.1", 0)
    async with site, _open(monkeypatch, site.sockets[0].getsockname()) as house:
        assert await _say(house.address, b"PRI") == b"PRI"
        assert await _say(house.address, b"get x\r\n") == b"GET X\r\n"
        async with asyncio.timeout(5):
            while len(house.relayed) < 2:
                await asyncio.sleep(0.005)
        assert [(sent, received) for _, sent, received in house.relayed] == [(3, 3), (7, 7)]
        assert house.served == []


async def test_a_dead_site_is_a_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _open(monkeypatch, ("127.0.0.1", reserved_port())) as house:
        assert await _say(house.address, b"\0\1\2") == b"reset"
        # Also for who waits for the site to speak.
        assert await _say(house.address) == b"reset"


async def test_only_redirected_connections_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _open(monkeypatch, None) as house:
        assert await _say(house.address, b"GET / HTTP/1.1\r\n\r\n") == b"reset"
        assert house.accepted == []


async def test_an_error_lets_no_connection_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(connection: RedirectedConnection) -> None:
        raise ZeroDivisionError("broken")

    async with _open(monkeypatch, ("198.18.0.1", 80), breaks) as house:
        assert await _say(house.address, b"GET / HTTP/1.1\r\n\r\n") == b"reset"
        assert [type(it) for it in house.broken] == [ZeroDivisionError]
        assert house.served == []


async def test_a_connection_closed_without_data_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with _open(monkeypatch, ("198.18.0.1", 443)) as house:
        _, writer = await asyncio.open_connection(*house.address)
        writer.close()
        await writer.wait_closed()
        assert await _say(house.address, b"GET / HTTP/1.1\r\n") == b"GET / HTTP/1.1\r\n"
        assert len(house.accepted) == 2
        assert len(house.served) == 1
