"""An engine on its own thread, and a handler that does as a test says."""

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.engine.pass_through import PassThrough
from tests.proxy.support.client import trusting
from tests.waiting import wait_until as wait_until
from warex.engine.handler import (
    Connection,
    ConnectionPlan,
    Exchange,
    Handler,
    Handlers,
    Handshake,
    Intercept,
    Need,
    Outcome,
    Rejection,
    RequestPlan,
    ResponsePlan,
    Site,
    SiteFailure,
    WholeResponsePlan,
)
from warex.engine.http.heads import RequestHead
from warex.engine.server import Engine, EngineConfig, serve
from warex.engine.tls.site_contexts import TrustStore
from warex.proxy.certificates.ca import CertificateAuthority, key_file


@dataclass(slots=True)
class Scripted(PassThrough):
    """Plans what a test says, and keeps what the engine tells."""

    connect_plan: Callable[[Connection], Site | None] = lambda connection: None
    hello_plan: Callable[[Connection], ConnectionPlan] = lambda connection: Intercept()
    need: Need = "stream"
    request_plan: Callable[[Exchange], RequestPlan] | None = None
    response_plan: Callable[[Exchange], ResponsePlan] | None = None
    buffered_plan: Callable[[Exchange], WholeResponsePlan] | None = None
    piece: Callable[[bytes, bool], Iterable[bytes]] | None = None
    reads_on: Callable[[Exchange], bool] = lambda exchange: False
    connections: int = 0
    exchanges: list[Exchange] = field(default_factory=list)
    handshakes: list[tuple[str, str]] = field(default_factory=list)
    rejections: list[Rejection] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)
    failures: list[SiteFailure] = field(default_factory=list)
    raw_connections: list[Connection] = field(default_factory=list)
    closed_connections: list[Connection] = field(default_factory=list)

    upgrades_closed: list[Exchange] = field(default_factory=list)
    closed_by_client: list[bool] = field(default_factory=list)

    def connected(self, connection: Connection) -> None:
        self.connections += 1

    def hello(self, connection: Connection) -> ConnectionPlan:
        return self.hello_plan(connection)

    def handshake(self, connection: Connection, ended: Handshake, reason: str) -> None:
        self.handshakes.append((ended, reason))

    def connect(self, connection: Connection) -> Site | None:
        return self.connect_plan(connection)

    def unreachable(self, connection: Connection, failure: SiteFailure, error: str) -> None:
        self.unreached.append(error)
        self.failures.append(failure)

    def not_http(self, connection: Connection) -> bool:
        self.raw_connections.append(connection)
        return True

    def rejected(self, connection: Connection, rejection: Rejection) -> None:
        self.rejections.append(rejection)

    def upgrade_closed(self, exchange: Exchange, *, by_client: bool) -> None:
        self.upgrades_closed.append(exchange)
        self.closed_by_client.append(by_client)

    def closed(self, connection: Connection) -> None:
        self.closed_connections.append(connection)

    def request_head(self, exchange: Exchange) -> Need:
        self.exchanges.append(exchange)
        return self.need

    def request(self, exchange: Exchange) -> RequestPlan:
        if self.request_plan is not None:
            return self.request_plan(exchange)
        return PassThrough.request(self, exchange)

    def response(self, exchange: Exchange) -> ResponsePlan:
        if self.response_plan is not None:
            return self.response_plan(exchange)
        return PassThrough.response(self, exchange)

    def whole_response(self, exchange: Exchange) -> WholeResponsePlan:
        if self.buffered_plan is not None:
            return self.buffered_plan(exchange)
        return PassThrough.whole_response(self, exchange)

    def response_piece(self, exchange: Exchange, piece: bytes, *, last: bool) -> Iterable[bytes]:
        return [piece] if self.piece is None else self.piece(piece, last)

    def read_on(self, exchange: Exchange) -> bool:
        return self.reads_on(exchange)

    def outcome(self, count: int = 1) -> Outcome:
        """Wait for the outcome of the ``count``-th exchange."""
        wait_until(lambda: len(self.outcomes) >= count)
        return self.outcomes[count - 1]


def shake_hands(raw: socket.socket, host: str, ca: CertificateAuthority) -> None:
    """Shake hands as a client of a host, and close the connection."""
    with trusting(ca.certificate).wrap_socket(
        raw, server_hostname=host, do_handshake_on_connect=False
    ) as client:
        client.do_handshake()


@dataclass(slots=True)
class Only:
    """One handler decides for everything."""

    handler: PassThrough

    def of_connection(self, connection: Connection) -> Handler:
        return self.handler

    def of_request(self, connection: Connection, head: RequestHead) -> Handler:
        return self.handler


@dataclass
class Running:
    """An engine that runs."""

    port: int
    engine: Engine
    loop: asyncio.AbstractEventLoop
    broken: list[Exception]

    def call(self, function: Callable[[], object]) -> object:
        """Call a function on the engine's thread."""

        async def run() -> object:
            return function()

        return self.finish(run())

    def finish[T](self, work: Coroutine[object, object, T]) -> T:
        """Run a coroutine on the engine's thread to its end."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(5)


@contextmanager
def running(
    handlers: PassThrough | Handlers,
    ca: CertificateAuthority,
    *,
    upstream: str | None = None,
    buffered: int = 64 * 1024 * 1024,
) -> Iterator[Running]:
    """Run an engine; nothing of one handler may have broken at its end."""
    broken = handlers.broken if isinstance(handlers, PassThrough) else []
    several = Only(handlers) if isinstance(handlers, PassThrough) else handlers
    config = EngineConfig(
        authority=key_file(ca.folder),
        trust=TrustStore(ca.certificate),
        upstream=upstream,
        buffered=buffered,
    )
    ready: list[Running] = []
    started = threading.Event()
    stop: list[Callable[[], object]] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        ending = asyncio.Event()
        stop.append(lambda: loop.call_soon_threadsafe(ending.set))
        async with serve(config, several) as engine:
            listener = socket.create_server(("127.0.0.1", 0), backlog=256)
            engine.listen(listener)
            ready.append(Running(listener.getsockname()[1], engine, loop, broken))
            started.set()
            await ending.wait()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert started.wait(5)
    try:
        yield ready[0]
    finally:
        stop[0]()
        thread.join(5)
    assert not thread.is_alive()
    assert broken == []
