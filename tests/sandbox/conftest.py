"""A proxy of our own and a plain site that it serves under an https name."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from warex.lane.config import ProxyConfig
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.proxy.process.client import Proxy, start_proxy
from warex.proxy.process.forkserver import Forkserver
from warex.traffic import TrafficOptions


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def _served() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def ca(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return ensure_ca(tmp_path_factory.mktemp("authority") / "ca")


@pytest.fixture(scope="session")
def forkserver() -> Iterator[Forkserver]:
    server = Forkserver()
    yield server
    server.close()


@pytest.fixture(scope="session")
def site() -> Iterator[int]:
    """The port of a plain site that says hello."""
    with _served() as port:
        yield port


@pytest.fixture(scope="session")
def lane(
    forkserver: Forkserver,
    ca: CertificateAuthority,
    site: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Proxy, Path]]:
    """A running proxy and the folder of its trace; https://site.warex.test says hello."""
    folder = tmp_path_factory.mktemp("lane")
    config = ProxyConfig(
        ca=ca.folder,
        out=folder,
        traffic=TrafficOptions(maps=(f"https://site.warex.test=http://127.0.0.1:{site}",)),
    )
    with start_proxy(forkserver, config) as proxy:
        yield proxy, folder
