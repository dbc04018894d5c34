"""One end of a connection: bytes in, bytes out, TLS between, and what has left of them.

TLS runs in memory, above the transport, so that a layer can be put on another (TLS to a site
through TLS to an upstream proxy) and the ClientHello can be read before it is answered.
"""

import asyncio
import os
import socket
import ssl
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from warex.engine.sockets.buffers import USUAL, Buffers
from warex.engine.sockets.transport import Transport
from warex.engine.tls.layer import TlsLayer, ssl_reason
from warex.linux.sockets import reset_on_close

CLIENT_READ: Final = 16 * 1024
"""Bytes that are read from a client in one turn of the event loop: others wait for it."""
SITE_READ: Final = 64 * 1024
_LINGER_S: Final = 10.0
"""Seconds that a closed end has to take its last bytes."""
_ACKNOWLEDGED_WITHIN_S: Final = 1.0
_ESTABLISHED, _CLOSE_WAIT = 1, 8
"""States of linux/tcp_states.h: open both ways; the peer has closed its end."""


class End:
    """One end of a connection, plain or TLS.

    It is read by one task (``read``), or by a callback (``start``).
    """

    _room = memoryview(bytearray(SITE_READ))
    """Shared by all ends: received bytes are processed before the next ones are received."""

    def __init__(
        self,
        connected: socket.socket,
        read_size: int = CLIENT_READ,
        buffers: Buffers | None = None,
    ) -> None:
        """``read_size``: bytes that are received in one turn; ``buffers``: shared by an engine."""
        self.buffers = Buffers() if buffers is None else buffers
        self._loop = asyncio.get_running_loop()
        self._layers: list[TlsLayer] = []
        self._handshaking = False
        self._chunks: list[bytes] = []
        self._waiting_bytes = 0
        self._paused_by: set[object] = set()
        self._on_data: Callable[[bytes], None] | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._drained: asyncio.Future[None] | None = None
        self._drops = False
        """Whether received bytes are dropped, until the peer ends."""
        self.has_ended = False
        """Whether the peer sends no more: it has closed its end, or the connection is lost."""
        self.is_lost = False
        """Whether the connection is gone in both directions."""
        self.is_closed = False
        """Whether this side has closed or reset it."""
        self.was_reset = False
        """Whether this side has reset it: what was unsent is lost."""
        self.is_truncated = False
        """Whether TLS ended without its closing alert (RFC 8446 §6.1)."""
        self.error: str | None = None
        """Why the connection was lost, if it was not closed."""
        self.on_end: Callable[[], None] | None = None
        """Called when the peer sends no more."""
        self.on_lost: Callable[[], None] | None = None
        self._transport = Transport(connected, self, self._room[:read_size], USUAL, self.buffers)

    # ---- the transport's callbacks

    def received(self, data: memoryview) -> None:
        """Take bytes of the wire."""
        if not self._layers:
            self._store(bytes(data))
            return
        self._layers[0].incoming.write(data)
        if len(self._layers) > 1:
            self._decrypt()
        elif self._handshaking:
            self._wake()
        else:
            self._read_layer(self._layers[0])

    def eof_received(self) -> None:
        """Note that the peer sends no more; keep what is still to be sent to it."""
        if self._layers and not self.has_ended:
            self.is_truncated = True
        self._end()

    def connection_lost(self, error: Exception | None) -> None:
        """Note that the connection is gone."""
        self.is_lost = True
        if error is not None and self.error is None:
            self.error = _reason(error)
        if self._layers and not self.has_ended:
            self.is_truncated = True
        self._end()
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        if self.on_lost is not None:
            self.on_lost()
        # Nothing comes any more; without the cycle both are freed at once, with their TLS.
        self.on_end = self.on_lost = None
        if not self._chunks:
            self._on_data = None

    def pause_writing(self) -> None:
        """Make writers wait."""
        if self._drained is None or self._drained.done():
            self._drained = self._loop.create_future()

    def resume_writing(self) -> None:
        """Let writers go on."""
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    # ---- reading

    async def read(self) -> bytes:
        """Return what has come, at least one byte; nothing at the peer's end."""
        while not self._chunks:
            if self.has_ended:
                return b""
            await self._wait()
        return self._take()

    async def peek(self, count: int = 1, within: float | None = None) -> bytes:
        """Return what has come without taking it.

        Wait for ``count`` bytes, the peer's end, or until ``within`` seconds are over.
        """
        is_late = False

        def expire() -> None:
            nonlocal is_late
            is_late = True
            self._wake()

        timer = None if within is None else self._loop.call_later(within, expire)
        try:
            while self._waiting_bytes < count and not self.has_ended:
                if is_late or self in self._paused_by:
                    break
                await self._wait()
        finally:
            if timer is not None:
                timer.cancel()
        if len(self._chunks) > 1:
            self._chunks = [b"".join(self._chunks)]
        return self._chunks[0] if self._chunks else b""

    def unread(self, data: bytes) -> None:
        """Put bytes back, to be read next."""
        if data:
            self._chunks.insert(0, data)
            self._waiting_bytes += len(data)

    @property
    def has_unread(self) -> bool:
        """Whether bytes wait to be read."""
        return bool(self._chunks)

    def start(self, on_data: Callable[[bytes], None]) -> None:
        """Give received bytes to a callback from now on; ``on_end`` is called at the peer's end."""
        self._on_data = on_data
        if self._chunks:
            on_data(self._take())

    def stop(self) -> None:
        """Keep received bytes for ``read`` again."""
        self._on_data = None

    def pause(self, by: object) -> None:
        """Make the peer wait, until all who have paused it resume."""
        if not self._paused_by:
            self._transport.pause_reading()
        self._paused_by.add(by)

    def resume(self, by: object) -> None:
        """Let the peer go on."""
        if by not in self._paused_by:
            return
        self._paused_by.discard(by)
        if not self._paused_by:
            self._transport.resume_reading()

    def _take(self) -> bytes:
        data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        self._waiting_bytes = 0
        self.resume(self)
        return data

    def _store(self, data: bytes) -> None:
        if self._drops:
            return
        if self._on_data is not None:
            self._on_data(data)
            return
        self._chunks.append(data)
        self._waiting_bytes += len(data)
        if self._waiting_bytes > self.buffers.limit:
            self.pause(self)
        self._wake()

    async def _wait(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _end(self) -> None:
        if self.has_ended:
            return
        self.has_ended = True
        if self._drops:
            self._transport.close()
        self._wake()
        if self.on_end is not None:
            self.on_end()

    # ---- TLS

    async def start_tls(self, layer: TlsLayer) -> None:
        """Shake hands above the existing layers; raise SSLError or ConnectionError on failure."""
        if self._chunks:
            layer.incoming.write(self._take())
        self._layers.append(layer)
        self._handshaking = True
        try:
            while not self._shake(layer):
                if self.has_ended:
                    raise ConnectionResetError(self.error or "the connection was closed")
                await self._wait()
        except BaseException:
            self._chunks.clear()
            raise
        finally:
            self._handshaking = False
        if layer.incoming.pending:
            self._read_layer(layer)

    def _shake(self, layer: TlsLayer) -> bool:
        try:
            is_done = layer.shake_hands()
        except ssl.SSLError:
            self._send_outgoing(layer)
            raise
        if is_done and layer.is_ahead:
            # Its session tickets leave with what is written first.
            layer.deferred_bytes = layer.outgoing.pending
        else:
            self._send_outgoing(layer)
        return is_done

    def _decrypt(self) -> None:
        """Process the bytes that came through every layer; the last one may be shaking hands."""
        last = len(self._layers) - 1
        for number, layer in enumerate(self._layers):
            if number == last:
                if self._handshaking:
                    self._wake()
                else:
                    self._read_layer(layer)
                return
            self._layers[number + 1].incoming.write(self._read_through(layer))
            if layer.has_ended:
                self._end()

    def _read_layer(self, layer: TlsLayer) -> None:
        data = self._read_through(layer)
        if data:
            self._store(data)
        if layer.has_ended:
            self._end()

    def _read_through(self, layer: TlsLayer) -> bytes:
        """Return what has come through a layer."""
        had_to_wait = bool(layer.unwritten)
        data = layer.read()
        if had_to_wait and not (layer.unwritten or self._transport.is_full):
            self.resume_writing()
        if layer.error is not None:
            self.error, self.is_truncated = layer.error, True
        if layer.outgoing.pending > layer.deferred_bytes:
            self._send_outgoing(layer)
        return data

    def _send_outgoing(self, layer: TlsLayer) -> None:
        data = layer.outgoing.read()
        layer.deferred_bytes = 0
        if not data:
            return
        below = self._layers.index(layer)
        while below:
            below -= 1
            lower = self._layers[below]
            lower.write(data)
            data = lower.outgoing.read()
        self._transport.write(data)

    @property
    def tls(self) -> ssl.SSLObject | None:
        """The topmost TLS layer."""
        return self._layers[-1].session if self._layers else None

    # ---- writing

    def write(self, data: bytes) -> None:
        """Send bytes; ``drain`` says when there may be more."""
        if self.is_closed or self._transport.is_closing:
            return
        if not self._layers:
            self._transport.write(data)
            return
        if not data:
            return
        layer = self._layers[-1]
        try:
            layer.write(data)
        except ssl.SSLError as error:
            self.error = self.error or _reason(error)
            return
        if layer.unwritten:
            self.pause_writing()
        if len(self._layers) == 1:
            layer.deferred_bytes = 0
            self._transport.write(layer.outgoing.read())
        else:
            self._send_outgoing(layer)

    @property
    def is_full(self) -> bool:
        """Whether much waits for the kernel."""
        return self._drained is not None and not self._drained.done()

    async def drain(self) -> None:
        """Wait until little waits for the kernel, or the connection is lost."""
        while self._drained is not None and not self._drained.done():
            await asyncio.shield(self._drained)

    async def flush(self) -> None:
        """Wait until everything has gone to the kernel, or the connection is lost."""
        if not self._transport.unsent:
            return
        self._transport.set_limit(0)
        try:
            await self.drain()
        finally:
            self._transport.set_limit(USUAL)

    async def acknowledged(self) -> None:
        """Wait until the peer's system has everything, for a while: a reset would drop it."""
        wait, waited = 0.001, 0.0
        while (
            waited < _ACKNOWLEDGED_WITHIN_S
            and not self.is_lost
            and self._transport.unacknowledged()
        ):
            await asyncio.sleep(wait)
            waited, wait = waited + wait, min(wait * 2, 0.05)

    @property
    def unsent(self) -> int:
        """Bytes that wait for the kernel."""
        return self._transport.unsent

    def end_writing(self) -> None:
        """Close this side's end only: the peer may still send."""
        self._close_tls()
        with suppress(OSError):  # The peer has reset it; the reset is reported later.
            self._transport.write_eof()

    def close(self) -> None:
        """Close the connection, once what is written has left."""
        if self.is_closed:
            return
        self._close_tls()
        self.is_closed = True
        if self._transport.unsent:
            self._transport.abort_after(_LINGER_S)
        self._transport.close()

    def linger(self, seconds: float) -> None:
        """Close this side's end, and drop what the peer still sends for a while.

        A reset, as the answer to unread bytes, would take from the peer what it was sent last
        (RFC 9112 §9.6).
        """
        if self.is_closed or self.has_ended:
            self.close()
            return
        self.end_writing()
        self.is_closed = self._drops = True
        self._chunks.clear()
        self._waiting_bytes = 0
        for by in list(self._paused_by):
            self.resume(by)
        self._transport.abort_after(seconds)

    def abort(self) -> None:
        """Close the connection at once; what has not left is dropped."""
        self.is_closed = True
        self._transport.abort()

    def reset(self) -> None:
        """Reset the TCP connection; what has not left is dropped."""
        if self.is_closed and self.is_lost:
            return
        self.is_closed = self.was_reset = True
        with suppress(OSError):
            reset_on_close(self.raw)
        self._transport.abort()

    def _close_tls(self) -> None:
        for layer in reversed(self._layers):
            layer.close()
            try:  # noqa: SIM105 - each connection does this
                self._send_outgoing(layer)
            except ssl.SSLError:  # Of the layer below.
                pass

    # ---- the socket below

    @property
    def peer(self) -> tuple[str, int] | None:
        """Host and port of the peer."""
        try:
            name = self.raw.getpeername()
        except OSError:
            return None
        return (name[0], name[1]) if isinstance(name, tuple) else None

    @property
    def raw(self) -> socket.socket:
        """The socket of the transport; not to be read or written."""
        return self._transport.socket

    def detach(self) -> tuple[socket.socket, bytes]:
        """Return a socket of the same connection, and what has come; this end is closed.

        Nothing may be waiting to be sent.
        """
        self._transport.pause_reading()
        below = socket.socket(fileno=os.dup(self.raw.fileno()))
        below.setblocking(False)
        unread = self._take() if self._chunks else b""
        self.is_closed = True
        self._transport.abort()
        return below, unread

    def is_established(self) -> bool:
        """Whether the peer is there and has not begun to close, as the kernel knows first."""
        return self._state() == _ESTABLISHED

    def has_arrived(self, *, was_connected: bool = False) -> bool:
        """Whether the peer's system has all that was written, or the peer is there to take it.

        A reset says that it has not read it all, unless it ``was_connected`` at the last write.
        """
        if self.was_reset or self._transport.is_closing or self.unsent:
            return False
        state = self._state()
        may_have_it = was_connected or state == _CLOSE_WAIT
        return state == _ESTABLISHED or (may_have_it and not self._transport.unacknowledged())

    def _state(self) -> int | None:
        """Return the state of the TCP connection; None if it is closed here."""
        if self.is_lost or self.is_closed:
            return None
        if sys.platform != "linux":
            return _CLOSE_WAIT if self.has_ended else _ESTABLISHED
        return self._transport.tcp_state()


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return ssl_reason(error)
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
