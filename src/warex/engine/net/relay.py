"""Relays the bytes of a connection that is not HTTP, unchanged.

It receives into one shared buffer and sends from it, so that nothing is copied or queued in Python.
If one side cannot send, the other side is not read. A half-close is passed on as a half-close, a
reset as a reset.
"""

import asyncio
import socket
from contextlib import suppress

from warex.engine.net.redirected_connection import close_with_reset
from warex.engine.sockets.buffers import USUAL, Buffers


class _Pipe:
    """One direction, from ``source`` to ``sink``."""

    def __init__(self, source: socket.socket, sink: socket.socket, relay: "Relay") -> None:
        self.source, self.sink, self._relay = source, sink, relay
        self.moved = 0
        self.over = False
        self._loop = asyncio.get_running_loop()
        self._unsent = memoryview(b"")

    def begin(self) -> None:
        self._loop.add_reader(self.source, self._receive)

    def _receive(self) -> None:
        buffer = self._relay.buffer
        try:
            count = self.source.recv_into(buffer[: self._relay.buffers.limit])
            if count == 0:
                self._finish()
                return
            sent = self._send(buffer[:count])
        except BlockingIOError:
            return
        except OSError:
            self._relay.connection_reset()
            return
        if sent < count:
            # The buffer is shared: keep the rest as a copy, and stop reading until it is sent.
            self._unsent = memoryview(bytes(buffer[sent:count]))
            self._relay.buffers.add(count - sent)
            self._loop.remove_reader(self.source)
            self._loop.add_writer(self.sink, self._flush)

    def _flush(self) -> None:
        try:
            sent = self._send(self._unsent)
            self._unsent = self._unsent[sent:]
            self._relay.buffers.add(-sent)
        except OSError:
            self._relay.connection_reset()
            return
        if not self._unsent:
            self._loop.remove_writer(self.sink)
            self.begin()

    def _send(self, data: memoryview) -> int:
        try:
            sent = self.sink.send(data)
        except BlockingIOError:
            return 0
        self.moved += sent
        return sent

    def _finish(self) -> None:
        self._loop.remove_reader(self.source)
        self.over = True
        with suppress(OSError):  # The sink may be closed already.
            self.sink.shutdown(socket.SHUT_WR)
        self._relay.direction_ended()

    def stop(self) -> None:
        self._relay.buffers.add(-len(self._unsent))
        self._unsent = memoryview(b"")
        self._loop.remove_reader(self.source)
        self._loop.remove_writer(self.sink)


class Relay:
    """A client's connection and the site's, joined."""

    buffer = memoryview(bytearray(USUAL))
    """Shared by all relays: each piece is sent or copied before the next one is received."""

    def __init__(self, client: socket.socket, site: socket.socket, buffers: Buffers) -> None:
        """``buffers``: what waits in the engine."""
        self.buffers = buffers
        self._client, self._site = client, site
        self._out = _Pipe(client, site, self)
        self._back = _Pipe(site, client, self)
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._broken = False

    @property
    def sent(self) -> int:
        """Bytes sent by the client."""
        return self._out.moved

    @property
    def received(self) -> int:
        """Bytes sent by the site."""
        return self._back.moved

    async def run(self) -> None:
        """Relay until both sides have ended or one is reset."""
        for end in (self._client, self._site):
            with suppress(OSError):  # It is not a TCP socket.
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._out.begin()
        self._back.begin()
        try:
            await self._ended
        except asyncio.CancelledError:
            self._broken = True
            raise
        finally:
            self._out.stop()
            self._back.stop()
            for end in (self._client, self._site):
                if self._broken:
                    close_with_reset(end)
                else:
                    end.close()

    def connection_reset(self) -> None:
        """Reset both sides."""
        self._broken = True
        self._end()

    def direction_ended(self) -> None:
        """End the relay if both directions have ended."""
        if self._out.over and self._back.over:
            self._end()

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)
