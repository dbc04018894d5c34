"""A connected TCP socket in the event loop.

It does what asyncio's transport does for ``End``, with fewer calls: it is read and written at once,
from its first moment on, and takes no turn of the event loop to begin.
"""

import asyncio
import os
import socket
import sys
from collections import deque
from contextlib import suppress
from itertools import islice
from typing import Final, Protocol
from weakref import WeakSet

from warex.engine.sockets.buffers import LEAST, Buffers
from warex.linux.sockets import unacknowledged

_MOST_PIECES: Final = os.sysconf("SC_IOV_MAX")
"""Pieces that the kernel takes at once."""
_LINGERING: Final[WeakSet["Transport"]] = WeakSet()
"""Transports that are closed, and whose last bytes have not left."""


class Receiver(Protocol):
    """What a transport serves."""

    def received(self, data: memoryview) -> None:
        """Take what has come, before the next is received into the same place."""

    def eof_received(self) -> None:
        """Note that the peer has ended its side."""

    def connection_lost(self, error: Exception | None) -> None:
        """Note that the connection is gone in both directions."""

    def pause_writing(self) -> None:
        """Note that much waits for the kernel."""

    def resume_writing(self) -> None:
        """Note that little waits for the kernel again."""


class Transport:
    """Reads and writes one socket, and closes it."""

    __slots__ = (
        "__weakref__",
        "_buffer",
        "_buffers",
        "_fd",
        "_has_ended",
        "_is_lost",
        "_is_paused",
        "_is_registered",
        "_is_write_paused",
        "_limit",
        "_loop",
        "_receiver",
        "_waiting",
        "_writes_eof",
        "is_closing",
        "socket",
        "unsent",
    )

    def __init__(
        self,
        connected: socket.socket,
        receiver: Receiver,
        buffer: memoryview,
        limit: int,
        buffers: Buffers,
    ) -> None:
        """``buffer``: where is received; ``limit``: bytes that may wait for the kernel."""
        self._buffers = buffers
        self.socket = connected
        self.is_closing = False
        """Whether this side has closed it, or it is lost."""
        self.unsent = 0
        """Bytes that wait for the kernel."""
        self._receiver: Receiver | None = receiver
        self._buffer, self._limit = buffer, limit
        self._waiting: deque[memoryview] = deque()
        self._is_paused = self._is_write_paused = self._writes_eof = False
        self._is_lost = self._has_ended = False
        self._loop = asyncio.get_running_loop()
        self._fd = connected.fileno()
        connected.setblocking(False)
        try:  # noqa: SIM105 - each connection does this
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:  # It is not a TCP socket.
            pass
        self._is_registered = False
        """Whether the event loop waits for received bytes."""
        self._register()

    # ---- reading

    def _register(self) -> None:
        if not (self._is_registered or self._has_ended):
            self._is_registered = True
            self._loop.add_reader(self._fd, self._readable)

    def _unregister(self) -> None:
        if self._is_registered:
            self._is_registered = False
            self._loop.remove_reader(self._fd)

    def _readable(self) -> None:
        receiver = self._receiver
        if self._is_lost or receiver is None:
            return
        if self._is_paused:
            self._unregister()
            return
        try:
            room = self._buffer if self._buffers.has_room else self._buffer[:LEAST]
            count = self.socket.recv_into(room)
            if count:
                receiver.received(self._buffer[:count])
                return
            self._has_ended = True
            self._unregister()
            receiver.eof_received()
        except (BlockingIOError, InterruptedError):
            pass
        except Exception as error:
            self._lose(error)
            if not isinstance(error, OSError):
                raise

    def pause_reading(self) -> None:
        """Receive nothing for now.

        The event loop learns of it only if data arrive meanwhile: most pauses last for a turn.
        """
        if not self.is_closing:
            self._is_paused = True

    def resume_reading(self) -> None:
        """Receive again."""
        if self._is_paused and not self.is_closing:
            self._is_paused = False
            self._register()

    # ---- writing

    def write(self, data: bytes) -> None:
        """Send bytes; what the kernel does not take waits for it."""
        if self._is_lost or self._writes_eof or not data:
            return
        sent = 0
        if not self._waiting:
            try:
                sent = self.socket.send(data)
            except (BlockingIOError, InterruptedError):
                pass
            except OSError as error:
                self._lose(error)
                return
            if sent == len(data):
                return
            self._loop.add_writer(self._fd, self._writable)
        self._waiting.append(memoryview(data)[sent:])
        self.unsent += len(data) - sent
        self._buffers.add(len(data) - sent)
        self._pause_writers()

    @property
    def is_full(self) -> bool:
        """Whether much waits for the kernel."""
        return self._is_write_paused

    def write_eof(self) -> None:
        """End this side once what waits has left. Raises OSError."""
        if self.is_closing or self._writes_eof:
            return
        self._writes_eof = True
        if not self._waiting:
            self.socket.shutdown(socket.SHUT_WR)

    def set_limit(self, limit: int) -> None:
        """Change how many bytes may wait for the kernel."""
        self._limit = limit
        self._pause_writers()

    def _writable(self) -> None:
        if self._is_lost:
            return
        try:
            sent = self.socket.sendmsg(islice(self._waiting, _MOST_PIECES))
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(error)
            return
        self._forget(sent)
        if not self._waiting:
            self._loop.remove_writer(self._fd)
        if self._is_write_paused and self.unsent <= self._limit // 4 and self._receiver is not None:
            self._is_write_paused = False
            self._receiver.resume_writing()
        if not self._waiting:
            if self.is_closing:
                self._lose(None)
            elif self._writes_eof:
                with suppress(OSError):  # The peer has reset it, which is read later.
                    self.socket.shutdown(socket.SHUT_WR)

    def _forget(self, sent: int) -> None:
        """Drop what has left."""
        waiting = self._waiting
        self.unsent -= sent
        self._buffers.add(-sent)
        while sent:
            size = len(waiting[0])
            if size > sent:
                waiting[0] = waiting[0][sent:]
                return
            waiting.popleft()
            sent -= size

    def _pause_writers(self) -> None:
        limit = min(self._limit, self._buffers.limit)
        if self.unsent > limit and not self._is_write_paused and self._receiver is not None:
            self._is_write_paused = True
            self._receiver.pause_writing()

    # ---- what the kernel knows

    def tcp_state(self) -> int | None:
        """Return the state of the TCP connection (linux/tcp_states.h)."""
        try:
            return self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
        except OSError:
            return None

    def unacknowledged(self) -> int:
        """Return how many bytes the peer's system has not acknowledged; 1 if it is not known."""
        if sys.platform != "linux":
            return 0
        with suppress(OSError):
            return unacknowledged(self.socket)
        return 1

    # ---- the end

    def close(self) -> None:
        """Close it once what waits has left."""
        if self.is_closing:
            return
        self.is_closing = True
        if not self._waiting:
            self._lose(None)
        else:
            self._unregister()

    def abort(self) -> None:
        """Close it at once; what waits is dropped."""
        self._lose(None)

    def abort_after(self, seconds: float) -> None:
        """Close it after a while, if it is not closed by then."""
        _LINGERING.add(self)
        self._loop.call_later(seconds, self.abort)

    def belongs_to(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether it is served by a loop."""
        return self._loop is loop

    def _lose(self, error: Exception | None) -> None:
        """Stop; say so in the next turn of the event loop."""
        if self._is_lost:
            return
        self.is_closing = self._is_lost = True
        self._unregister()
        if self._waiting:
            self._loop.remove_writer(self._fd)
            self._waiting.clear()
            self._buffers.add(-self.unsent)
            self.unsent = 0
        self._loop.call_soon(self._end, error)

    def _end(self, error: Exception | None) -> None:
        receiver, self._receiver = self._receiver, None
        try:
            if receiver is not None:
                receiver.connection_lost(error)
        finally:
            self.socket.close()


async def abort_lingering() -> None:
    """Close the transports that linger in this event loop, at its end."""
    loop = asyncio.get_running_loop()
    for transport in list(_LINGERING):
        if transport.belongs_to(loop):
            transport.abort()
    # They close in the next turn.
    await asyncio.sleep(0)
