"""The listeners: each is a server of uvicorn's, with or without TLS."""

import asyncio
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

from warex_testbed.admin import Admin
from warex_testbed.sites import Sites

IDLE = 120
"""Seconds after which a silent connection is closed."""


class Listener(Server):
    """One listening socket; `visit` gives each connection the application that answers it.

    Raises OSError when the address cannot be bound.
    """

    def __init__(
        self,
        address: tuple[str, int],
        visit: Callable[[], ASGIApp],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        class Connection(H11Protocol):
            """Meets the sites as they are now: a reset leaves it with the old ones."""

            def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
                super().connection_made(transport)
                self.app = _reporting(visit())

        config = Config(
            visit(),
            http=Connection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            proxy_headers=False,
            log_config=None,
            # What breaks in an application is reported here; what clients do wrong is not ours.
            log_level="critical",
            access_log=False,
            server_header=False,
            headers=[("Server", "testbed")],
            timeout_keep_alive=IDLE,
            timeout_graceful_shutdown=1,
            ssl_context_factory=None if tls is None else lambda *_: tls,
        )
        super().__init__(config)
        self._socket = socket.create_server(address, backlog=128)
        # Its connections inherit it. Of itself asyncio spares only sockets that name TCP the delay.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._socket.getsockname()[1])

    async def listen(self) -> None:
        """Serve until `should_exit`."""
        await self.serve([self._socket])

    def close(self) -> None:
        """Give the port back; for a listener that does not serve."""
        self._socket.close()

    def drop(self) -> None:
        """End every connection there is."""
        for each in list(self.server_state.connections):
            each.transport.abort()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the port and all connections, where uvicorn would wait for the clients."""
        self.drop()
        await super().shutdown(sockets)


def _reporting(app: ASGIApp) -> ASGIApp:
    """Return an application that says in one line what broke, once it is answered."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except ClientDisconnect:
            pass
        except Exception as error:  # noqa: BLE001 - whatever a site breaks on is its own affair
            sys.stderr.write(f"testbed: {scope['method']} {scope['path']} failed: {error!r}\n")

    return answer


@contextmanager
def running(*listeners: Listener) -> Iterator[None]:
    """Serve on one thread, beside the caller's, until the block is left."""

    async def serve() -> None:
        await asyncio.gather(*(each.listen() for each in listeners))

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    try:
        yield
    finally:
        for each in listeners:
            each.should_exit = True
        thread.join()


def tls_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """Return the site's side of TLS; raises OSError when a file cannot be read or used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["http/1.1"])
    return context


class Testbed:
    """All sites behind one port, the verifier's door behind another: a fresh instance of each.

    Both ports are taken at once, 0 for a free one, and answer within the block of a `with`; leaving
    it closes them. Raises OSError when a port cannot be bound.
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
        self._sites = Listener((host, port), sites.visit, tls)
        admin = Admin(sites, self._sites.drop)
        try:
            self._admin = Listener(("127.0.0.1", admin_port), lambda: admin)
        except OSError:
            self._sites.close()
            raise
        self._running = ExitStack()

    @property
    def port(self) -> int:
        """The port of the sites."""
        return self._sites.port

    @property
    def admin_port(self) -> int:
        """The port of the verifier, always on loopback."""
        return self._admin.port

    def __enter__(self) -> Self:
        self._running.enter_context(running(self._sites, self._admin))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._running.close()
