"""Sends a copy of a request to its site, in addition to the client's own."""

import asyncio
import logging
import time
from collections.abc import Iterable
from typing import Final, override

from mitmproxy import connection, ctx, http
from mitmproxy.proxy import commands, context, events, layer, server
from mitmproxy.proxy.layers import http as http_layer
from mitmproxy.proxy.layers.http._base import HttpConnection, HttpEvent, ReceiveHttp
from mitmproxy.proxy.layers.http._events import RequestData, RequestEndOfMessage, RequestHeaders
from mitmproxy.proxy.layers.http._hooks import HttpErrorHook, HttpResponseHook
from mitmproxy.proxy.mode_specs import UpstreamMode

_TIMEOUT: Final = 10.0
"""Seconds for the site to answer the copy."""
_ENDS: Final = (HttpResponseHook, HttpErrorHook)


async def send_duplicate(flow: http.HTTPFlow) -> bool:
    """Send a copy of a request to its site; return whether it was answered."""
    copy = flow.copy()
    copy.is_replay, copy.response, copy.error = "request", None, None
    if copy.request.is_http2:
        # The separate connection uses HTTP/1.1, which needs a Host header.
        copy.request.headers["host"] = copy.request.authority or copy.request.pretty_host
        copy.request.http_version = "HTTP/1.1"
    handler = _DuplicateHandler(copy)
    try:
        async with asyncio.timeout(_TIMEOUT):
            await handler.server_event(events.Start())
            await handler.over.wait()
    except TimeoutError:
        return False
    finally:
        handler.close()
    return copy.response is not None


class _ReplayedConnection(HttpConnection):
    """Takes the place of a client's connection, and sends one request.

    mitmproxy has the same in ``addons.clientplayback``, which loads its filter language.
    """

    def __init__(self, flow: http.HTTPFlow, beside: context.Context) -> None:
        super().__init__(beside, beside.client)
        self._flow = flow

    @override
    def _handle_event(self, event: events.Event) -> layer.CommandGenerator[None]:
        if not isinstance(event, events.Start):
            return
        for sent in self._sent():
            yield ReceiveHttp(sent)

    def _sent(self) -> Iterable[HttpEvent]:
        request = self._flow.request
        content = request.raw_content or b""
        request.timestamp_start = request.timestamp_end = time.time()  # noqa: TID251
        yield RequestHeaders(1, request, not content, replay_flow=self._flow)
        if content:
            yield RequestData(1, content)
        yield RequestEndOfMessage(1)


class _DuplicateHandler(server.ConnectionHandler):
    """Sends one request over a separate connection to the site."""

    def __init__(self, flow: http.HTTPFlow) -> None:
        client = flow.client_conn.copy()
        client.state = connection.ConnectionState.OPEN
        around = context.Context(client, ctx.options)
        request = flow.request
        around.server = connection.Server(address=(request.host, request.port))
        around.server.via = flow.server_conn.via
        if request.scheme == "https":
            around.server.tls, around.server.sni = True, request.pretty_host
        super().__init__(around)
        self.over = asyncio.Event()
        # An upstream proxy takes plain HTTP requests itself, and a tunnel for HTTPS.
        through = isinstance(client.proxy_mode, UpstreamMode) and around.server.via is not None
        through = through and request.scheme == "http" and bool(request.authority)
        modes = http_layer.HTTPMode
        asked = http_layer.HttpLayer(around, modes.upstream if through else modes.transparent)
        asked.connections[client] = _ReplayedConnection(flow, around.fork())
        self.layer = asked

    @override
    async def handle_hook(self, hook: commands.StartHook) -> None:
        await ctx.master.addons.handle_lifecycle(hook)
        if isinstance(hook, _ENDS):
            self.over.set()

    @override
    def log(self, message: str, level: int = logging.INFO, exc_info: object = None) -> None:
        # Without the exception, whose log entry would void the trial.
        logging.getLogger(__name__).log(level, message)

    def close(self) -> None:
        """Close the connection."""
        for transport in self.transports.values():
            if transport.handler is not None:
                transport.handler.cancel()
