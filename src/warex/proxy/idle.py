"""Ends connections that nobody uses: who keeps one open would not meet what comes next."""

from collections.abc import Callable, Iterable

from mitmproxy.proxy import layers
from mitmproxy.proxy.server import ConnectionHandler


def close_idle(handlers: Iterable[ConnectionHandler], concerns: Callable[[str, int], bool]) -> None:
    """Close the clients' connections without an exchange to hosts and ports that are concerned."""
    for handler in list(handlers):
        client, site = handler.client, handler.layer.context.server
        if site.address is None or not _is_idle(handler):
            continue
        if concerns(client.sni or site.address[0], site.address[1]):
            io = handler.transports.get(client)
            if io is not None and io.handler is not None:
                io.handler.cancel("the rules hit from now on")


def _is_idle(handler: ConnectionHandler) -> bool:
    """Whether no exchange is under way on a connection that is read."""
    stack = handler.layer.context.layers
    if any(isinstance(layer, layers.TCPLayer) for layer in stack):
        return False
    https = [layer for layer in stack if isinstance(layer, layers.HttpLayer)]
    if not https:
        # Opened ahead of need; while TLS is under way, somebody wants it now.
        return handler.client.tls_established
    return not https[-1].streams
