"""What an end of a connection reads, writes and knows of its peer."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from warex.engine.ends import End
from warex.engine.tls.layer import TlsLayer
from warex.linux.sockets import reset_on_close
from warex.proxy.certificates.ca import CertificateAuthority


@asynccontextmanager
async def connected() -> AsyncIterator[tuple[End, socket.socket]]:
    """An end, and the socket of its peer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        peer = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
    accepted.setblocking(False)
    peer.setblocking(False)
    end = End(accepted)
    try:
        yield end, peer
    finally:
        end.abort()
        peer.close()
        await asyncio.sleep(0)


async def test_bytes_are_peeked_at_read_and_put_back() -> None:
    async with connected() as (end, peer):
        peer.sendall(b"abc")
        assert await end.peek(3) == b"abc"
        assert await end.read() == b"abc"
        end.unread(b"bc")
        assert await end.read() == b"bc"
        peer.shutdown(socket.SHUT_WR)
        assert await end.read() == b""
        assert await end.peek() == b""
        assert end.has_ended


async def test_a_callback_gets_what_waited_and_what_comes() -> None:
    async with connected() as (end, peer):
        got: list[bytes] = []
        ended = asyncio.Event()
        end.on_end = ended.set
        peer.sendall(b"a")
        await end.peek()
        end.start(got.append)
        peer.sendall(b"b")
        peer.shutdown(socket.SHUT_WR)
        await asyncio.wait_for(ended.wait(), 5)
        assert b"".join(got) == b"ab"


@pytest.mark.parametrize("lingers", [False, True])
async def test_a_peer_that_has_reset_the_connection_breaks_no_orderly_end(lingers: bool) -> None:
    async with connected() as (end, peer):
        reset_on_close(peer)
        peer.close()
        if lingers:
            end.linger(1)
        else:
            end.end_writing()
        assert end.is_closed == lingers


async def test_all_who_paused_a_peer_must_resume_it() -> None:
    async with connected() as (end, peer):
        got: list[bytes] = []
        end.start(got.append)
        end.pause("one")
        end.pause("other")
        peer.sendall(b"x")
        end.resume("one")
        await asyncio.sleep(0.02)
        assert got == []
        end.resume("other")
        end.resume("other")
        async with asyncio.timeout(5):
            while not got:
                await asyncio.sleep(0.001)


async def test_a_peer_that_is_not_read_fills_a_bounded_buffer() -> None:
    async with connected() as (end, peer):
        peer.setblocking(False)
        sent = 0
        async with asyncio.timeout(10):
            while sent < 2**20:
                try:
                    sent += peer.send(bytes(65536))
                except BlockingIOError:
                    break
                await asyncio.sleep(0)
        assert len(await end.read()) <= 2 * 256 * 1024


async def test_draining_waits_for_a_slow_peer_and_ends_with_it() -> None:
    async with connected() as (end, peer):
        end.raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        end.write(bytes(32 * 2**20))
        drain = asyncio.ensure_future(end.drain())
        await asyncio.sleep(0.02)
        assert not drain.done()
        assert not end.has_arrived()
        reset_on_close(peer)
        peer.close()
        await asyncio.wait_for(drain, 5)
        assert end.is_lost


async def test_a_peer_that_read_all_and_closed_has_it() -> None:
    async with connected() as (end, peer):
        end.write(b"hello")
        assert end.has_arrived()
        async with asyncio.timeout(5):
            assert await asyncio.get_running_loop().sock_recv(peer, 10) == b"hello"
        peer.close()
        await end.read()
        assert (end.is_established(), end.has_arrived()) == (False, True)


async def test_a_peer_that_was_there_and_resets_once_it_has_read_all_has_it() -> None:
    async with connected() as (end, peer):
        reset_on_close(peer)
        end.write(b"hello")
        assert peer.recv(10) == b"hello"
        peer.close()
        # Not a moment is given to the event loop.
        assert (end.has_arrived(was_connected=True), end.has_arrived()) == (True, False)


async def test_what_is_written_after_a_reset_has_not_arrived() -> None:
    async with connected() as (end, peer):
        reset_on_close(peer)
        peer.close()
        end.write(b"hello")
        assert not end.has_arrived(was_connected=True)


async def test_a_peer_that_closed_without_reading_has_not() -> None:
    async with connected() as (end, peer):
        end.write(b"hello")
        await asyncio.sleep(0.01)
        peer.close()
        await end.read()
        assert not end.has_arrived()


async def test_a_reset_is_a_reset() -> None:
    async with connected() as (end, peer):
        end.reset()
        await asyncio.sleep(0.01)
        with pytest.raises(ConnectionResetError):
            peer.recv(1)
        assert not end.has_arrived()


async def test_ending_a_reset_connection_is_harmless() -> None:
    async with connected() as (end, peer):
        reset_on_close(peer)
        peer.close()
        # Not a moment is given to the event loop.
        end.end_writing()
        end.linger(1)
        assert await end.read() == b""


async def test_a_detached_socket_goes_on() -> None:
    async with connected() as (end, peer):
        peer.sendall(b"first")
        await end.peek(5)
        raw, unread = end.detach()
        await asyncio.sleep(0)
        with raw:
            peer.sendall(b"then")
            async with asyncio.timeout(5):
                more = await asyncio.get_running_loop().sock_recv(raw, 10)
        assert (unread, more) == (b"first", b"then")


async def test_tls_runs_through_tls(ca: CertificateAuthority, leaf: tuple[Path, Path]) -> None:
    """As to a site through an upstream proxy that speaks TLS."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*leaf)
    client = ssl.create_default_context(cafile=ca.certificate)
    async with connected() as (end, peer):
        other = End(peer.dup())
        for _ in range(2):
            await asyncio.gather(
                end.start_tls(TlsLayer(client, server_hostname="localhost")),
                other.start_tls(TlsLayer(server, server_side=True)),
            )
        end.write(b"ping" * 10000)
        got = b""
        async with asyncio.timeout(5):
            while len(got) < 40000:
                got += await other.read()
        other.write(b"pong")
        assert await end.read() == b"pong"
        other.close()
        assert await end.read() == b""
        assert not end.is_truncated


async def test_an_end_without_the_alert_of_tls_is_reported(
    ca: CertificateAuthority, leaf: tuple[Path, Path]
) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*leaf)
    client = ssl.create_default_context(cafile=ca.certificate)
    async with connected() as (end, peer):
        other = End(peer.dup())
        await asyncio.gather(
            end.start_tls(TlsLayer(client, server_hostname="localhost")),
            other.start_tls(TlsLayer(server, server_side=True)),
        )
        other.raw.shutdown(socket.SHUT_WR)
        assert await end.read() == b""
        assert end.is_truncated
        other.abort()
        await asyncio.sleep(0)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
async def test_session_tickets_leave_with_what_is_written_first(
    ca: CertificateAuthority, leaf: tuple[Path, Path], version: ssl.TLSVersion
) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*leaf)
    trusting = ssl.create_default_context(cafile=ca.certificate)
    trusting.maximum_version = version
    loop = asyncio.get_running_loop()
    async with connected() as (end, peer), asyncio.timeout(5):
        client = TlsLayer(trusting, server_hostname="localhost")
        shaking = asyncio.ensure_future(end.start_tls(TlsLayer(server, server_side=True)))
        while not client.shake_hands():
            await loop.sock_sendall(peer, client.outgoing.read())
            client.incoming.write(await loop.sock_recv(peer, 65536))
        await loop.sock_sendall(peer, client.outgoing.read())
        await shaking
        with pytest.raises(BlockingIOError):
            peer.recv(1)
        client.session.write(b"question")
        peer.sendall(client.outgoing.read())
        assert await end.read() == b"question"
        with pytest.raises(BlockingIOError):
            peer.recv(1)
        end.write(b"answer")
        client.incoming.write(await loop.sock_recv(peer, 65536))
        assert client.read() == b"answer"
        session = client.session.session
        assert session is not None
        assert session.has_ticket


async def test_peeking_waits_no_longer_than_it_may() -> None:
    async with connected() as (end, peer):
        peer.sendall(b"ab")
        assert await end.peek(2, 5) == b"ab"
        assert await end.peek(3, 0.01) == b"ab"
        assert await end.read() == b"ab"
        assert await end.peek(1, 0.01) == b""
        assert not end.has_ended
