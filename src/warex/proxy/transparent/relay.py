"""Moves the bytes of a connection that is no HTTP, outside mitmproxy, unread and unharmed.

Straight on the sockets: received into one buffer and sent from it, so that nothing is copied or
queued in Python. A side that cannot take more stops the other one; a side that has said its last
byte is told to the other one alone; a reset is passed on as a reset.
"""

import asyncio
import socket
from base64 import b64encode
from contextlib import suppress
from typing import Final
from urllib.parse import unquote, urlsplit

from warex.proxy.transparent.redirected_connection import close_with_reset

_BUFFER: Final = 256 * 1024
_HEAD: Final = 64 * 1024
"""Bytes of an upstream proxy's answer to CONNECT at most."""


class _Pipe:
    """One direction: what arrives at ``source`` leaves at ``sink``."""

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
            count = self.source.recv_into(buffer)
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
            # The buffer is everybody's; what is left waits in a copy, and nothing more comes in.
            self._unsent = memoryview(bytes(buffer[sent:count]))
            self._loop.remove_reader(self.source)
            self._loop.add_writer(self.sink, self._flush)

    def _flush(self) -> None:
        try:
            self._unsent = self._unsent[self._send(self._unsent) :]
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
        # It may have gone already.
        with suppress(OSError):
            self.sink.shutdown(socket.SHUT_WR)
        self._relay.direction_ended()

    def stop(self) -> None:
        self._loop.remove_reader(self.source)
        self._loop.remove_writer(self.sink)


class Relay:
    """A client's connection and the site's, joined."""

    buffer = memoryview(bytearray(_BUFFER))
    """One for all: each piece leaves it before the next one comes in."""

    def __init__(self, client: socket.socket, site: socket.socket) -> None:
        self._client, self._site = client, site
        self._out = _Pipe(client, site, self)
        self._back = _Pipe(site, client, self)
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._broken = False

    @property
    def sent(self) -> int:
        """Bytes from the client."""
        return self._out.moved

    @property
    def received(self) -> int:
        """Bytes from the site."""
        return self._back.moved

    async def run(self) -> None:
        """Move bytes until both sides have ended, or one has broken off."""
        for end in (self._client, self._site):
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
        """Note that a side was reset."""
        self._broken = True
        self._end()

    def direction_ended(self) -> None:
        """Note that a side has said its last byte."""
        if self._out.over and self._back.over:
            self._end()

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)


class Connector:
    """How sites are reached: straight, or through another proxy."""

    def __init__(self, upstream: str | None = None) -> None:
        self.upstream = upstream

    async def connect(self, host: str, port: int) -> socket.socket:
        """Connect to a site; raise OSError where that fails."""
        if self.upstream is None:
            return await _connect(host, port)
        parts = urlsplit(self.upstream)
        opened = await _connect(parts.hostname or "", parts.port or 0)
        try:
            await _open_tunnel(opened, host, port, self._credentials(parts.username))
        except BaseException:
            opened.close()
            raise
        return opened

    def _credentials(self, user: str | None) -> str:
        if user is None:
            return ""
        password = unquote(urlsplit(self.upstream or "").password or "")
        pair = f"{unquote(user)}:{password}".encode()
        return f"Proxy-Authorization: Basic {b64encode(pair).decode()}\r\n"


async def _connect(host: str, port: int) -> socket.socket:
    loop = asyncio.get_running_loop()
    failure: OSError = OSError(f"{host} has no address")
    for family, kind, protocol, _, address in await loop.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        opened = socket.socket(family, kind, protocol)
        opened.setblocking(False)
        try:
            await loop.sock_connect(opened, address)
        except OSError as error:
            failure = error
            opened.close()
        except BaseException:
            opened.close()
            raise
        else:
            return opened
    raise failure


async def _open_tunnel(opened: socket.socket, host: str, port: int, credentials: str) -> None:
    """Ask an HTTP proxy for a tunnel (RFC 9110 §9.3.6)."""
    loop = asyncio.get_running_loop()
    target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    asked = f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{credentials}\r\n"
    await loop.sock_sendall(opened, asked.encode("latin-1"))
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        # By the byte: what follows the head is the site's already.
        more = await loop.sock_recv(opened, 1)
        if not more or len(head) > _HEAD:
            raise OSError("the upstream proxy broke off")
        head += more
    status = head.split(b" ", 2)[1:2]
    if not status or not status[0].startswith(b"2"):
        raise OSError(f"the upstream proxy refused: {head.splitlines()[0].decode('latin-1')}")
