"""Standard streams and pipes without a limit of kind: files, terminals and sockets are read, too.

Each has a thread that blocks; the event loop has all else.
"""

import asyncio
import os
import queue
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Final

_MOST: Final = 64 * 1024
"""Bytes that are read at once."""


def read_pipe(fd: int, take: Callable[[bytes], Awaitable[bool]]) -> "asyncio.Future[None]":
    """Read a file descriptor to its end, and close it.

    ``take`` gets each piece, and an empty one at the end; the next piece is read when it is done,
    and none if it returns False. The future is done after the last, or has ``take``'s exception.
    """
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    async def taken(piece: bytes) -> bool:
        try:
            goes_on = await take(piece)
        except Exception as error:  # noqa: BLE001 - a waiter for the end gets it
            if not over.done():
                over.set_exception(error)
            return False
        if not (piece and goes_on) and not over.done():
            over.set_result(None)
        return not over.done()

    def read() -> None:
        # The loop may have ended.
        with suppress(RuntimeError, CancelledError):
            while True:
                try:
                    piece = os.read(fd, _MOST)
                except OSError:
                    piece = b""
                if not asyncio.run_coroutine_threadsafe(taken(piece), loop).result():
                    break
        os.close(fd)

    threading.Thread(target=read, name=f"reads {fd}", daemon=True).start()
    return over


class PipeWriter:
    """Writes to a file descriptor; ``write`` returns once the pipe has taken it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[tuple[bytes, asyncio.Future[bool]] | None]
        self._queue = queue.SimpleQueue()
        self._is_closed = False
        self._is_broken = False
        threading.Thread(target=self._run, name=f"writes {fd}", daemon=True).start()

    @property
    def is_broken(self) -> bool:
        """Whether the reader has gone."""
        return self._is_broken

    async def write(self, data: bytes) -> bool:
        """Write all of it; return whether the pipe has taken it."""
        if self._is_closed or self._is_broken:
            return False
        done: asyncio.Future[bool] = self._loop.create_future()
        self._queue.put((data, done))
        return await done

    def close(self) -> None:
        """Close it after what is being written."""
        if not self._is_closed:
            self._is_closed = True
            self._queue.put(None)

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            data, done = item
            view = memoryview(data)
            try:
                while view:
                    view = view[os.write(self._fd, view) :]
            except OSError:
                self._is_broken = True
            with suppress(RuntimeError):  # The loop has ended.
                self._loop.call_soon_threadsafe(_set, done, not self._is_broken)
        with suppress(OSError):
            os.close(self._fd)


def _set(done: "asyncio.Future[bool]", taken: bool) -> None:
    if not done.done():
        done.set_result(taken)
