"""A connection is passed to mitmproxy with its destination and its way there.

What comes of it is seen from inside a namespace, in ``test_capture``.
"""

import asyncio
import socket
from typing import Any

import pytest
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.proxy import mode_servers, mode_specs
from mitmproxy.proxy.layers import modes
from mitmproxy.proxy.layers.http._upstream_proxy import HttpUpstreamProxy
from mitmproxy.test import taddons

from warex.engine.net.protocol_detection import DetectedProtocol
from warex.engine.net.redirected_connection import RedirectedConnection
from warex.proxy.transparent.bridge import MitmproxyBridge

pytestmark = pytest.mark.wire


class _Handlers:
    """mitmproxy's handlers, each looked at and ended at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[Any] = []

        async def look(handler: Any) -> None:
            self.seen.append(handler)

        monkeypatch.setattr(mode_servers.ProxyConnectionHandler, "handle_client", look)


async def _enter(
    spoken: DetectedProtocol, upstream: str | None, host: str = "shop.test"
) -> socket.socket:
    """Let a client in; return its end."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        ours, _ = listener.accept()
    ours.setblocking(False)
    server = Proxyserver()
    with taddons.context(server):
        await MitmproxyBridge(server, upstream).serve(
            RedirectedConnection(ours, host, "198.18.0.1", 443), spoken
        )
    assert server.connections == {}
    await asyncio.sleep(0)
    return client


async def test_mitmproxy_gets_the_name_and_the_address_that_the_client_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    handlers = _Handlers(monkeypatch)
    with await _enter("tls", None) as client:
        context = handlers.seen[0].layer.context
        assert context.server.address == ("shop.test", 443)
        assert context.client.sockname == ("198.18.0.1", 443)
        assert isinstance(handlers.seen[0].layer, modes.TransparentProxy)
        # However it ended, the client is let go.
        assert client.recv(1) == b""


async def test_http_2_without_tls_is_known_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    handlers = _Handlers(monkeypatch)
    (await _enter("h2c", None)).close()
    assert handlers.seen[0].layer.context.client.alpn == b"h2"


async def test_the_way_leads_through_the_upstream_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    handlers = _Handlers(monkeypatch)
    for spoken, top in (("http", modes.TransparentProxy), ("tls", HttpUpstreamProxy)):
        (await _enter(spoken, "http://user:pass@proxy.test:3128")).close()  # type: ignore[arg-type]
        handler = handlers.seen[-1]
        assert handler.layer.context.server.via == ("http", ("proxy.test", 3128))
        assert isinstance(handler.layer, top)


@pytest.mark.parametrize("host", ["proxy.test", "2001:db8::3"])
async def test_a_clients_own_proxy_is_the_next_one(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    handlers = _Handlers(monkeypatch)
    (await _enter("connect", None, host)).close()
    handler = handlers.seen[0]
    mode = handler.layer.context.client.proxy_mode
    assert isinstance(mode, mode_specs.UpstreamMode)
    assert mode.address == (host, 443)
    assert isinstance(handler.layer, modes.HttpUpstreamProxy)
