"""Bytes pass unread both ways; test_connection.py does so through an engine."""

import asyncio
import socket
import ssl
from pathlib import Path

import pytest

from warex.engine.ends import End
from warex.engine.handler import Address, Connection
from warex.engine.net.tunnel import pass_on
from warex.engine.tls.layer import TlsLayer
from warex.linux.sockets import reset_on_close
from warex.proxy.certificates.ca import CertificateAuthority


@pytest.mark.parametrize("secured", [False, True])
async def test_bytes_pass_and_are_counted(
    ca: CertificateAuthority, leaf: tuple[Path, Path], secured: bool
) -> None:
    """``secured``: through TLS to an upstream proxy, where the kernel cannot pass them on."""
    loop = asyncio.get_running_loop()
    client, ours = tcp_pair()
    theirs, site = tcp_pair()
    theirs.setblocking(False)
    client_end = End(ours)
    site_end = End(theirs)
    far_end = End(site)
    if secured:
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(*leaf)
        trusting = ssl.create_default_context(cafile=ca.certificate)
        await asyncio.gather(
            site_end.start_tls(TlsLayer(trusting, server_hostname="localhost")),
            far_end.start_tls(TlsLayer(server, server_side=True)),
        )
    connection = Connection(1, Address("127.0.0.1", 1))
    client.sendall(b"early")
    await client_end.peek(5)
    passing = asyncio.ensure_future(pass_on(connection, client_end, site_end))
    async with asyncio.timeout(5):
        assert await far_end.read() == b"early"
        client.setblocking(False)
        far_end.write(b"answer")
        assert await loop.sock_recv(client, 100) == b"answer"
        client.shutdown(socket.SHUT_WR)
        assert await far_end.read() == b""
        far_end.close()
        assert await loop.sock_recv(client, 100) == b""
        await passing
    client.close()
    await asyncio.sleep(0)
    assert (connection.sent_to_site, connection.sent_to_client) == (5, 6)


@pytest.mark.parametrize("noticed", [False, True])
@pytest.mark.parametrize("by_client", [False, True])
async def test_a_reset_before_the_first_byte_passes_is_a_reset(
    by_client: bool, noticed: bool
) -> None:
    """``noticed``: the event loop knows of it before bytes are to pass."""
    client, ours = tcp_pair()
    theirs, site = tcp_pair()
    theirs.setblocking(False)
    client_end = End(ours)
    site_end = End(theirs)
    client.sendall(b"early")
    await client_end.peek(5)
    leaving, staying = (client, site) if by_client else (site, client)
    reset_on_close(leaving)
    leaving.close()
    if noticed:
        await (client_end if by_client else site_end).read()

    staying.setblocking(False)
    async with asyncio.timeout(5):
        await pass_on(Connection(1, Address("127.0.0.1", 1)), client_end, site_end)
        with staying, pytest.raises(ConnectionResetError):
            await read_to_end(staying)


async def read_to_end(peer: socket.socket) -> None:
    while await asyncio.get_running_loop().sock_recv(peer, 100):
        pass


def tcp_pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        one = socket.create_connection(server.getsockname())
        other, _ = server.accept()
    other.setblocking(False)
    return one, other
