"""Serves one trial: its lane on the engine, and the listeners of its connections."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from msgspec import Struct

from warex.engine.handler import Handler
from warex.engine.net.connector import SiteUnreachable
from warex.engine.server import Engine, EngineConfig, serve
from warex.engine.tls.site_contexts import TrustStore
from warex.errors import InputError, WarexError
from warex.lane.config import ProxyConfig
from warex.lane.episodes.episodes import Episodes
from warex.lane.hosts.own_hosts import is_reserved
from warex.lane.lane import Lane, begin_lane
from warex.lane.record.recorder import Recorder
from warex.proxy.certificates.ca import (
    CertificateAuthority,
    folder_of_bundle,
    key_file,
    system_bundle,
)
from warex.proxy.ports import check_port
from warex.proxy.transparent.passed_sockets import PassedSockets
from warex.proxy.transparent_mode import serve_redirected


class RunningLane(Struct, frozen=True):
    """A lane that is served."""

    lane: Lane
    recorder: Recorder
    episodes: Episodes
    port: int
    """Port for clients or for redirected connections; 0 in a namespace."""


@asynccontextmanager
async def run_lane(
    config: ProxyConfig, passed: PassedSockets | None = None
) -> AsyncIterator[RunningLane]:
    """Serve one trial in this process and event loop, and end it.

    Raises InputError if the port is in use, MachineError if the trace cannot be written.
    """
    check_port(config)
    authority = CertificateAuthority(config.ca)
    lane = begin_lane(config, authority)
    recorder = lane.recorder
    served = EngineConfig(
        authority=key_file(config.ca),
        trust=_trust(authority),
        insecure=config.traffic.insecure,
        upstream=config.traffic.upstream,
        is_refused=is_reserved,
    )

    episodes = Episodes(lane, lambda of: begin_lane(of, authority))
    try:
        async with (
            _callbacks_watched(episodes.broke),
            serve(served, episodes, clock=recorder.clock) as engine,
        ):
            lane.engine.attach(engine)
            try:
                if config.capture == "forward":
                    episodes.port = _listen(engine, config.host, config.port)
                    episodes.attach(_Served(engine, config))
                    yield RunningLane(lane, recorder, episodes, episodes.port)
                else:
                    redirected = serve_redirected(
                        config,
                        passed,
                        lane,
                        engine.serve_redirected,
                        lane.relayed,
                        lambda host, port: _connect(engine, lane, host, port),
                        engine.buffers,
                    )
                    async with redirected as port:
                        episodes.attach(_Served(engine, config))
                        yield RunningLane(lane, recorder, episodes, port)
            finally:
                await episodes.end_all()
                # If the trace cannot be written, the trial is already void.
                with suppress(WarexError):
                    lane.finish()
    finally:
        recorder.close()


async def _connect(engine: Engine, lane: Lane, host: str, port: int) -> socket.socket:
    """Return a socket at a site, for what is relayed; raise OSError."""
    try:
        return await engine.connect_socket(host, port)
    except SiteUnreachable as error:
        lane.not_relayed(host, port, error.failure, str(error))
        raise


def _trust(authority: CertificateAuthority) -> TrustStore:
    bundle = system_bundle()
    folder = folder_of_bundle(bundle)
    return TrustStore(bundle if folder is None else None, authority.hashed_dir, folder)


@asynccontextmanager
async def _callbacks_watched(broke: Callable[[Exception], None]) -> AsyncIterator[None]:
    """Report what breaks in a callback of the event loop, which would only be logged."""
    loop = asyncio.get_running_loop()
    former = loop.get_exception_handler()

    def handle(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        # A peer may leave at any time, also while asyncio ends what it has sent.
        if isinstance(error, Exception) and not isinstance(error, OSError):
            broke(error)

    loop.set_exception_handler(handle)
    try:
        yield
    finally:
        loop.set_exception_handler(former)


class _Served:
    """Serves episodes on the engine of the process's own trial."""

    def __init__(self, engine: Engine, config: ProxyConfig) -> None:
        self._engine, self._config = engine, config

    def open_port(self, port: int) -> int:
        """Accept clients at a port, 0 for any; return it. Raises InputError."""
        if self._config.capture != "forward":
            raise InputError(
                "port: clients of this proxy are redirected to it, and know no port; have them send"
                " the header X-Warex-Task"
            )
        check_port(self._config.model_copy(update={"port": port}))
        return _listen(self._engine, self._config.host, port)

    def close_port(self, port: int) -> None:
        """Accept no more clients at a port."""
        self._engine.stop_listening(port)

    async def drop(self, handler: Handler) -> None:
        """End the open exchanges and connections of a handler."""
        await self._engine.drop(handler)


def _listen(engine: Engine, host: str, port: int) -> int:
    """Accept clients; return the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family, backlog=1024)
    engine.listen(listener)
    accepted_at: int = listener.getsockname()[1]
    return accepted_at
