"""One trial's proxy: an embedded mitmproxy with only the addons that WAREX needs."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import NamedTuple
from urllib.parse import urlsplit

from mitmproxy import master, options
from mitmproxy.addons import core, next_layer, proxyserver
from mitmproxy.utils import asyncio_utils

from warex.errors import WarexError
from warex.lane.config import ProxyConfig
from warex.lane.record.beginning import begin_record
from warex.lane.record.page_canary import FirstPageCanary
from warex.lane.record.recorder import Recorder
from warex.proxy.addon import WarexAddon
from warex.proxy.certificates.tlsconfig import WarexTlsConfig, trust_store
from warex.proxy.mitmproxy_patches import (
    connection_handler,
    http1,
    http2,
    http_stream,
    websocket_layer,
)
from warex.proxy.net.ports import check_port, port_unavailable
from warex.proxy.transparent.bridge import MitmproxyBridge
from warex.proxy.transparent.passed_sockets import PassedSockets
from warex.proxy.transparent_mode import serve_redirected

_VERSIONS = {name: version(name) for name in ("warex", "mitmproxy")}
"""Looked up before the fork: parsing the metadata files is slow."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A proxy that runs."""

    addon: WarexAddon
    recorder: Recorder
    port: int
    """Port for clients or for redirected connections; 0 in a namespace."""


@asynccontextmanager
async def run_engine(
    config: ProxyConfig, passed: PassedSockets | None = None
) -> AsyncIterator[Engine]:
    """Run one trial's proxy in this process and event loop, and shut it down.

    Raises InputError if the port is in use, MachineError if the trace cannot be written.
    """
    http1.install()
    http2.install()
    http_stream.install()
    websocket_layer.install()
    connection_handler.install()
    check_port(config)
    addon = begin_trial(config)
    recorder = addon.recorder
    proof = FirstPageCanary(config, recorder)
    recorder.on_written = proof.handle_event
    addon.before_llm_call = proof.before_llm_call
    embedded, server = _embed(config, addon)
    crash_handler = _CrashHandler(recorder)
    logging.getLogger().addHandler(crash_handler)
    try:
        with (
            asyncio_utils.install_exception_handler(embedded._asyncio_exception_handler),
            asyncio_utils.set_eager_task_factory(),
        ):
            if not await server.setup_servers():
                failures = (listening.last_exception for listening in server.servers)
                raise port_unavailable(config, next(filter(None, failures), None))
            await embedded.running()
            try:
                if config.capture == "forward":
                    yield Engine(addon, recorder, server.listen_addrs()[0][1])
                else:
                    bridge = MitmproxyBridge(server, config.traffic.upstream)
                    redirected = serve_redirected(
                        config, passed, addon, bridge.serve, addon.tunnels.relayed
                    )
                    async with redirected as port:
                        yield Engine(addon, recorder, port)
            finally:
                # Leaving mitmproxy's main loop would not close its listening sockets.
                embedded.options.update(server=False)
                await server.servers.update([])
                # If the trace cannot be written, the trial is already void.
                with suppress(WarexError):
                    addon.finish()
                await _close_connections(server)
                await embedded.done()
    finally:
        logging.getLogger().removeHandler(crash_handler)
        recorder.close()


def begin_trial(config: ProxyConfig) -> WarexAddon:
    """Begin a trial and its trace; return its addon.

    Raises WarexError if a fault cannot be applied or the trace cannot be written.
    """
    injector, recorder = begin_record(config, _VERSIONS)
    return WarexAddon(config, injector, recorder)


class _Embedded(NamedTuple):
    """mitmproxy with the addons of every lane, without a trial's options."""

    master: master.Master
    server: proxyserver.Proxyserver


_prepared: list[_Embedded] = []


def preload() -> None:
    """Make a lane's mitmproxy before the fork: its options take half of a lane's start-up."""
    loop = asyncio.new_event_loop()
    loop.close()
    _prepared.append(_without_options(loop))


def _without_options(loop: asyncio.AbstractEventLoop) -> _Embedded:
    made = _Embedded(master.Master(options.Options(), event_loop=loop), proxyserver.Proxyserver())
    # Log events have no listener here and need a running loop.
    made.master._legacy_log_events.uninstall()
    made.master.addons.add(core.Core(), made.server, next_layer.NextLayer(), WarexTlsConfig())
    return made


def _embed(config: ProxyConfig, addon: WarexAddon) -> _Embedded:
    loop = asyncio.get_running_loop()
    made = _prepared.pop() if _prepared else _without_options(loop)
    embedded = made.master
    embedded.event_loop = loop
    embedded.addons.add(addon)
    mode = ["regular"]
    if config.capture != "forward":
        mode = []  # ``RedirectListener`` accepts redirected connections.
    elif config.traffic.upstream is not None:
        parts = urlsplit(config.traffic.upstream)
        mode = [f"upstream:{parts.scheme}://{parts.netloc.rpartition('@')[2]}"]
    trust = trust_store(config.ca)
    embedded.options.update(
        confdir=str(config.ca),
        mode=mode,
        listen_host=config.host,
        listen_port=config.port,
        ssl_insecure=config.traffic.insecure,
        ssl_verify_upstream_trusted_ca=trust.file,
        ssl_verify_upstream_trusted_confdir=trust.folder,
        # Unusual headers pass as without a proxy; mitmproxy would answer with an error itself.
        validate_inbound_headers=False,
        # Connect to a site only when a request needs it: injected responses work without the site.
        connection_strategy="lazy",
        http2=True,
        websocket=True,
    )
    return made


class _CrashHandler(logging.Handler):
    """Voids the trial when mitmproxy logs an exception."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(logging.ERROR)
        self._recorder = recorder

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self._recorder.harness_broke(f"{record.getMessage()}: {record.exc_info[1]!r}")


async def _close_connections(server: proxyserver.Proxyserver) -> None:
    """Close the open connections, and wait until each has ended."""
    for connected in list(server.connections.values()):
        for io in list(connected.transports.values()):
            if io.handler is not None:
                io.handler.cancel("the trial ended")
    with suppress(TimeoutError):
        async with asyncio.timeout(1):
            while server.connections:
                await asyncio.sleep(0.001)
