"""The listeners: HTTP/1.1 with keep-alive on threads, with or without TLS."""

import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socket import SHUT_RDWR, socket
from socketserver import ThreadingTCPServer
from types import TracebackType
from typing import Any, Self

from warex_testbed.admin import Admin
from warex_testbed.sites import Sites
from warex_testbed.web import Request, Response, page

LARGEST_BODY = 256 * 1024
"""Bytes; no form of any site comes near it."""

IDLE = 120.0
"""Seconds after which a silent connection is closed."""

type Application = Callable[[Request], Response]


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "testbed"
    sys_version = ""
    timeout = IDLE
    # Headers and body leave in one write, and without Nagle's delay: it would only add to every
    # latency that is measured.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: "Listener"

    def setup(self) -> None:
        """Meet the sites as they are now: a reset leaves this connection with the old ones."""
        super().setup()
        self._application = self.server.visit()

    def _exchange(self) -> None:
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdecimal():
            return self._refuse(HTTPStatus.LENGTH_REQUIRED)
        # Python refuses to read a number of thousands of digits.
        if len(length) > 20 or int(length) > LARGEST_BODY:
            return self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        body = self.rfile.read(int(length))
        return self._write(self._answer(body))

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _exchange

    def _answer(self, body: bytes) -> Response:
        try:
            host, origin = self.headers.get("Host", ""), self.headers.get("Origin", "")
            return self._application(Request.parse(self.command, self.path, host, body, origin))
        except Exception as error:  # noqa: BLE001 - whatever a site breaks on, the browser gets an answer
            sys.stderr.write(f"testbed: {self.command} {self.path} failed: {error!r}\n")
            return page(
                "<!doctype html><title>Server error</title><h1>Something broke on this site</h1>",
                HTTPStatus.INTERNAL_SERVER_ERROR,
            )

    def _refuse(self, status: HTTPStatus) -> None:
        # The unread body would be taken for the next request.
        self.close_connection = True
        self._write(page(f"<!doctype html><title>{status.phrase}</title>", status))

    def _write(self, response: Response) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", response.content_type)
        self.send_header("Content-Length", str(len(response.body)))
        caching = "public, max-age=3600" if response.cacheable else "no-store"
        self.send_header("Cache-Control", caching)
        if response.location is not None:
            self.send_header("Location", response.location)
        if self.close_connection:
            self.send_header("Connection", "close")
        body = b"" if self.command == "HEAD" else response.body
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: standard error is for what broke."""


class Listener(ThreadingTCPServer):
    """One listening socket; `visit` gives each connection the application that answers it.

    Raises OSError when the address cannot be bound.
    """

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self,
        address: tuple[str, int],
        visit: Callable[[], Application],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.visit = visit
        self._tls = tls
        self._lock = threading.Lock()
        self._open = set[socket]()
        super().__init__(address, _Connection)
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.socket.getsockname()[1])

    def stop(self) -> None:
        """Accept no more and close the listening socket."""
        self.shutdown()
        self._thread.join()
        self.server_close()

    def drop(self) -> None:
        """End every connection there is; each thread sees its client hang up."""
        with self._lock:
            for each in self._open:
                with suppress(OSError):
                    # Not the TLS socket's own way, which breaks who reads from it at this moment.
                    socket.shutdown(each, SHUT_RDWR)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Serve one connection on its own thread, where a slow handshake holds up nobody else."""
        if self._tls is None:
            with self._counted(request):
                super().finish_request(request, client_address)
            return
        request.settimeout(IDLE)
        tls = self._tls.wrap_socket(request, server_side=True, do_handshake_on_connect=False)
        with tls as secured, self._counted(secured):
            secured.do_handshake()
            super().finish_request(secured, client_address)

    @contextmanager
    def _counted(self, connection: socket) -> Iterator[None]:
        with self._lock:
            self._open.add(connection)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(connection)

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        """Leave out the browser's own hang-ups; anything else is a line on standard error."""
        error = sys.exception()
        if not isinstance(error, OSError):  # ssl.SSLError and TimeoutError are OSErrors too
            sys.stderr.write(f"testbed: connection from {client_address} failed: {error!r}\n")


def tls_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return the site's side of TLS; raises OSError when a file cannot be read or used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["http/1.1"])
    return context


class Testbed:
    """All sites behind one port, the verifier's door behind another: a fresh instance of each.

    Use it as a context manager; leaving it closes both ports. Port 0 takes a free one.
    Raises OSError when a port cannot be bound.
    """

    __test__ = False  # the name makes pytest take it for a test class

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        admin_port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        sites = Sites()
        self._site = Listener((host, port), sites.visit, tls)
        admin = Admin(sites, self._site.drop)
        try:
            self._admin = Listener(("127.0.0.1", admin_port), lambda: admin)
        except OSError:
            self._site.stop()
            raise

    @property
    def port(self) -> int:
        """The port of the sites."""
        return self._site.port

    @property
    def admin_port(self) -> int:
        """The port of the verifier, always on loopback."""
        return self._admin.port

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._site.stop()
        self._admin.stop()
