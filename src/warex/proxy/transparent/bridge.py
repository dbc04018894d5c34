"""Passes a redirected connection to mitmproxy, as its transparent mode does.

The mode itself is not used: ``RedirectListener`` accepts the connection and knows the destination
by name, where mitmproxy would see only an address.
"""

import asyncio
from typing import Literal
from urllib.parse import urlsplit

from mitmproxy import ctx
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.net import server_spec
from mitmproxy.proxy import layer, mode_servers, mode_specs
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers import modes
from mitmproxy.proxy.layers.http._upstream_proxy import HttpUpstreamProxy

from warex.engine.net.protocol_detection import DetectedProtocol
from warex.engine.net.redirected_connection import RedirectedConnection

_TRANSPARENT = mode_specs.ProxyMode.parse("transparent")


class MitmproxyBridge:
    """Serves redirected connections with mitmproxy."""

    def __init__(self, server: Proxyserver, upstream: str | None) -> None:
        self._server = server
        self._via = None if upstream is None else _spec(upstream)

    async def serve(self, arrival: RedirectedConnection, spoken: DetectedProtocol) -> None:
        """Serve a connection to its end."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(loop=loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        transport, _ = await loop.connect_accepted_socket(lambda: protocol, arrival.client)
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        mode = _TRANSPARENT
        if spoken == "connect":
            # The client uses a proxy of its own, which becomes our upstream proxy.
            mode = mode_specs.ProxyMode.parse(f"upstream:http://{_authority(arrival)}")
        handler = mode_servers.ProxyConnectionHandler(ctx.master, reader, writer, ctx.options, mode)
        context = handler.layer.context
        # Without SNI, the certificate is for the address that the client connected to.
        context.client.sockname = (arrival.address, arrival.port)
        if spoken == "h2c":
            context.client.alpn = b"h2"
        handler.layer = self._top_layer(context, arrival, spoken)
        try:
            with self._server.register_connection(context.client.id, handler):
                await handler.handle_client()
        finally:
            writer.close()

    def _top_layer(
        self, context: Context, arrival: RedirectedConnection, spoken: DetectedProtocol
    ) -> layer.Layer:
        if spoken == "connect":
            return modes.HttpUpstreamProxy(context)
        context.server.address = (arrival.host, arrival.port)
        context.server.via = self._via
        if self._via is not None and spoken == "tls":
            # The TLS layer may open the site's connection itself, also through the upstream proxy.
            return HttpUpstreamProxy.make(context, True)[0]
        return modes.TransparentProxy(context)


def _spec(upstream: str) -> server_spec.ServerSpec:
    parts = urlsplit(upstream)
    scheme: Literal["http", "https"] = "https" if parts.scheme == "https" else "http"
    return scheme, (parts.hostname or "", parts.port or 0)


def _authority(arrival: RedirectedConnection) -> str:
    host = f"[{arrival.host}]" if ":" in arrival.host else arrival.host
    return f"{host}:{arrival.port}"
