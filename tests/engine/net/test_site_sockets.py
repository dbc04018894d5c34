"""A relay gets a socket at its site, whatever is on the way."""

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.engine.net.socks5_proxy import socks5_proxy
from tests.ports import reserved_port
from tests.proxy.support.upstream import UpstreamProxy
from warex.engine.net.connector import Connector
from warex.engine.net.site_sockets import connect_socket
from warex.engine.tls.site_contexts import SiteContexts, TrustStore
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire


@pytest.fixture
def contexts(ca: CertificateAuthority) -> SiteContexts:
    return SiteContexts(TrustStore(None, system_folder=ca.hashed_dir))


@contextmanager
def greeting_site() -> Iterator[int]:
    """A site that speaks first and then shouts."""

    def serve() -> None:
        client, _ = server.accept()
        with client:
            client.sendall(b"220 ready")
            while data := client.recv(100):
                client.sendall(data.upper())

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


@contextmanager
def tls_proxy(leaf: tuple[Path, Path]) -> Iterator[int]:
    """An upstream proxy that speaks TLS; it sends the site's first bytes with its answer."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*leaf)

    def serve() -> None:
        raw, _ = server.accept()
        with context.wrap_socket(raw, server_side=True) as client:
            assert client.recv(1000).startswith(b"CONNECT site.test:25 ")
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n220 ready")
            while data := client.recv(100):
                client.sendall(data.upper())

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]


async def talks(connector: Connector, host: str, port: int) -> None:
    """The site greets, and answers."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(10):
        with await connect_socket(connector, host, port) as opened:
            assert await loop.sock_recv(opened, 16) == b"220 ready"
            await loop.sock_sendall(opened, b"helo")
            assert await loop.sock_recv(opened, 16) == b"HELO"
            opened.shutdown(socket.SHUT_WR)
            assert await loop.sock_recv(opened, 16) == b""
    await asyncio.sleep(0)


async def test_a_site_is_reached_directly(contexts: SiteContexts) -> None:
    with greeting_site() as port:
        await talks(Connector(None, contexts), "127.0.0.1", port)


async def test_a_site_is_reached_through_an_http_proxy(contexts: SiteContexts) -> None:
    with greeting_site() as port, UpstreamProxy("user:p@ss") as upstream:
        url = f"http://user:p%40ss@127.0.0.1:{upstream.port}"
        await talks(Connector(url, contexts), "127.0.0.1", port)
        assert upstream.asked == [f"CONNECT 127.0.0.1:{port}"]


async def test_a_site_is_reached_through_a_socks5_proxy(contexts: SiteContexts) -> None:
    with greeting_site() as port, socks5_proxy("user", "p@ss") as (proxy, asked):
        url = f"socks5://user:p%40ss@127.0.0.1:{proxy}"
        await talks(Connector(url, contexts), "localhost", port)
        assert asked == ["localhost"]


async def test_a_site_is_reached_through_a_proxy_that_speaks_tls(
    contexts: SiteContexts, leaf: tuple[Path, Path]
) -> None:
    with tls_proxy(leaf) as port:
        await talks(Connector(f"https://localhost:{port}", contexts), "site.test", 25)


async def test_a_dead_site_and_a_proxy_that_refuses_are_errors(contexts: SiteContexts) -> None:
    with pytest.raises(OSError, match="is unreachable"):
        await connect_socket(Connector(None, contexts), "127.0.0.1", reserved_port())
    with UpstreamProxy("user:p@ss") as upstream:
        stranger = Connector(f"http://127.0.0.1:{upstream.port}", contexts)
        with pytest.raises(OSError, match="407"):
            await connect_socket(stranger, "127.0.0.1", 80)
