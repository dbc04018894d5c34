"""The client's end of mitmproxy's connections: whether it is there, and what has reached it."""

import asyncio
import fcntl
import socket
import struct
import sys
import termios
from collections.abc import Iterator
from typing import Final

from mitmproxy import connection, ctx, http
from mitmproxy.proxy import layer
from mitmproxy.proxy.layers.http import HttpLayer
from mitmproxy.proxy.layers.http._http2 import Http2Server

from warex.linux.sockets import reset_on_close

_ESTABLISHED: Final = 1
_CLOSE_WAIT: Final = 8
"""States of linux/tcp_states.h."""


class ClientEnd:
    """A client's connection, below mitmproxy's layers."""

    def __init__(self, client: connection.Client) -> None:
        self._client = client
        proxyserver = ctx.master.addons.get("proxyserver")
        handler = None if proxyserver is None else proxyserver.connections.get(client.id)
        self._top: layer.Layer | None = None
        self._writer: asyncio.StreamWriter | None = None
        if handler is not None and client in handler.transports:
            self._top = handler.layer
            writer = handler.transports[client].writer
            # Other transports, such as WireGuard's, have no socket of their own.
            self._writer = writer if isinstance(writer, asyncio.StreamWriter) else None
        self._was_reset = False

    def is_connected(self) -> bool:
        """Whether the client has not begun to close, as the kernel knows first."""
        return not self._was_reset and self._client.connected and self._state() == _ESTABLISHED

    def has_arrived(self) -> bool:
        """Whether the client's system has all that was sent, or the client is there to take it."""
        if self._was_reset or self.unsent:
            return False
        state = self._state()
        if state is None:  # mitmproxy has closed it, once it was sent.
            return self._client.error is None
        # A client that leaves parts of a response unread resets the connection.
        return state == _ESTABLISHED or not self._unacknowledged()

    @property
    def unsent(self) -> int:
        """Bytes that wait for the kernel."""
        return 0 if self._writer is None else self._writer.transport.get_write_buffer_size()

    def close(self) -> None:
        """Close the connection in order."""
        if self._writer is not None:
            self._writer.close()

    def reset(self) -> None:
        """Reset the TCP connection; what has not left is dropped."""
        self._was_reset = True
        if self._writer is not None and not self._writer.transport.is_closing():
            reset_on_close(self._writer.get_extra_info("socket"))
            self._writer.transport.abort()

    def stream_of(self, flow: http.HTTPFlow) -> "Http2Stream | None":
        """Return the HTTP/2 stream of a flow; None if it has none."""
        for each in () if self._top is None else _all_of(self._top):
            if not isinstance(each, HttpLayer):
                continue
            server = each.connections.get(self._client)
            for number, stream in each.streams.items():
                if isinstance(server, Http2Server) and vars(stream).get("flow") is flow:
                    return Http2Stream(server, number)
        return None

    def _state(self) -> int | None:
        """Return the state of the TCP connection; None if this side has closed it."""
        if self._writer is None:
            return _ESTABLISHED if self._client.connected else None
        if self._writer.transport.is_closing():
            return None
        if sys.platform != "linux":
            return _ESTABLISHED if self._client.connected else _CLOSE_WAIT
        try:
            below = self._writer.get_extra_info("socket")
            state: int = below.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
        except OSError:
            return None
        return state

    def _unacknowledged(self) -> int:
        if self._writer is None or sys.platform != "linux":
            return 0
        below = self._writer.get_extra_info("socket")
        try:
            raw = fcntl.ioctl(below.fileno(), termios.TIOCOUTQ, b"\0\0\0\0")
        except OSError:
            return 1
        return int(struct.unpack("i", raw)[0])


class Http2Stream:
    """A stream of a client's HTTP/2 connection."""

    def __init__(self, server: Http2Server, number: int) -> None:
        self._server, self._number = server, number

    def is_open(self) -> bool:
        """Whether the response can still be sent."""
        return self._server.is_open_for_us(self._number)

    def has_queued(self) -> bool:
        """Whether part of the response waits for flow control (RFC 9113 §5.2)."""
        return bool(self._server.h2_conn.stream_buffers.get(self._number))

    def was_reset(self) -> bool:
        """Whether the client has given the stream up, though its response was queued."""
        return self._number not in self._server.streams


def _all_of(top: layer.Layer) -> Iterator[layer.Layer]:
    """Yield the layers of a connection; the first ones are not below the top, but beside it."""
    for each in list(top.context.layers):
        yield from _layers_below(each)


def _layers_below(top: layer.Layer) -> Iterator[layer.Layer]:
    yield top
    children = [getattr(top, "layer", None), getattr(top, "child_layer", None)]
    for child in (*children, *list(getattr(top, "streams", {}).values())):
        if isinstance(child, layer.Layer):
            yield from _layers_below(child)
