"""Serves one trial: its lane on the engine, and the listeners of its connections."""

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from warex.engine.server import Engine, EngineConfig, serve
from warex.engine.tls.site_contexts import TrustStore
from warex.errors import WarexError
from warex.lane.config import ProxyConfig
from warex.lane.lane import Lane, begin_lane
from warex.lane.own_hosts import is_reserved
from warex.lane.record.recorder import Recorder
from warex.proxy.certificates.ca import CertificateAuthority, key_file, system_bundle
from warex.proxy.ports import check_port
from warex.proxy.transparent.passed_sockets import PassedSockets
from warex.proxy.transparent_mode import serve_redirected


@dataclass(frozen=True, slots=True)
class RunningLane:
    """A lane that is served."""

    lane: Lane
    recorder: Recorder
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
        trust=TrustStore(system_bundle(), authority.hashed_dir),
        insecure=config.traffic.insecure,
        upstream=config.traffic.upstream,
        is_refused=is_reserved,
    )

    def broke(error: Exception) -> None:
        lane.fail(None, error)

    try:
        async with serve(served, lane, clock=recorder.clock, broke=broke) as engine:
            lane.engine.attach(engine)
            try:
                if config.capture == "forward":
                    yield RunningLane(lane, recorder, _listen(engine, config))
                else:
                    redirected = serve_redirected(
                        config, passed, lane, engine.serve_redirected, lane.relayed
                    )
                    async with redirected as port:
                        yield RunningLane(lane, recorder, port)
            finally:
                # If the trace cannot be written, the trial is already void.
                with suppress(WarexError):
                    lane.finish()
    finally:
        recorder.close()


def _listen(engine: Engine, config: ProxyConfig) -> int:
    """Accept clients; return the port."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    listener = socket.create_server((config.host, config.port), family=family, backlog=1024)
    engine.listen(listener)
    port: int = listener.getsockname()[1]
    return port
