"""Sends a request to its site once more, in addition to the client's own."""

import asyncio
from typing import Final

from mitmproxy import ctx, http
from mitmproxy.addons.clientplayback import ReplayHandler

_TIMEOUT_S: Final = 10.0
"""Seconds for the site to answer the copy."""


async def send_copy(flow: http.HTTPFlow) -> bool:
    """Send a copy of a request over a connection of its own; return whether it was answered."""
    copy = flow.copy()
    copy.is_replay, copy.response, copy.error = "request", None, None
    if copy.request.is_http2:
        # The connection uses HTTP/1.1, which needs a Host header.
        copy.request.headers["host"] = copy.request.authority or copy.request.pretty_host
        copy.request.http_version = "HTTP/1.1"
    copy.request.authority = ""
    handler = ReplayHandler(copy, ctx.options)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            await handler.replay()
    except TimeoutError:
        for transport in handler.transports.values():
            if transport.handler is not None:
                transport.handler.cancel()
    return copy.response is not None
