"""Bounds what waits in this process for peers that take nothing.

There is room for much at each place while there is room for all. Once that is used up, there is for
little: a reader goes on in smaller steps, and what is not taken stays with its sender.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

USUAL: Final = 256 * 1024
"""Bytes that may wait at one place while there is room."""
LEAST: Final = 16 * 1024
"""Bytes that may wait at one place when there is no room."""
_SHARES: Final = 16
"""The part of the free room that one place may use."""
_STREAMS: Final = 4
"""How many streams of a connection may hold as much as one of a connection's own, when there is no
room: the others are read no longer."""


class Pausable(Protocol):
    """One end of a connection."""

    def pause(self, by: object) -> None:
        """Read nothing, until all who have paused it resume."""

    def resume(self, by: object) -> None:
        """Read again."""


class Buffers:
    """What waits on all connections of an engine."""

    __slots__ = ("_most", "_paused", "has_room", "limit", "used")

    def __init__(self, most: int = 64 * 1024 * 1024) -> None:
        self._most = most
        self._paused: set[Intake] = set()
        self.used = 0
        """Bytes that wait."""
        self.limit = USUAL
        """Bytes that may wait at one place now."""
        self.has_room = True
        """Whether each place may have its usual number of bytes."""

    def add(self, size: int) -> None:
        """Note that more bytes wait, or fewer."""
        self.used += size
        had_room = self.has_room
        self.limit = max(LEAST, min(USUAL, (self._most - self.used) // _SHARES))
        self.has_room = self.limit == USUAL
        if self.has_room and not had_room:
            for intake in tuple(self._paused):
                intake.look_again()

    @contextmanager
    def holding(self, size: int) -> Iterator[None]:
        """Count bytes for a while."""
        self.add(size)
        try:
            yield
        finally:
            self.add(-size)

    def note(self, intake: "Intake", *, paused: bool) -> None:
        """Note whether an intake waits for room."""
        if paused:
            self._paused.add(intake)
        else:
            self._paused.discard(intake)


class Intake:
    """What has come on one connection and waits for its exchanges; then its peer waits, too."""

    __slots__ = ("_buffers", "_end", "_has_windows", "_is_paused", "_size")

    def __init__(self, end: Pausable, buffers: Buffers, *, has_windows: bool) -> None:
        """``has_windows``: HTTP/2 bounds each stream, so that no stream has to wait for others."""
        self._end, self._buffers, self._has_windows = end, buffers, has_windows
        self._size = 0
        self._is_paused = False

    def add(self, size: int) -> None:
        """Note that bytes wait."""
        self._size += size
        self._buffers.add(size)
        if self._size > LEAST and not self._is_paused and self._is_full:
            self._is_paused = True
            self._buffers.note(self, paused=True)
            self._end.pause(self)

    def remove(self, size: int) -> None:
        """Note that bytes were taken."""
        self._size -= size
        self._buffers.add(-size)
        if self._is_paused:
            self.look_again()

    def look_again(self) -> None:
        """Let the peer go on if there is room."""
        if self._is_paused and not self._is_full:
            self._is_paused = False
            self._buffers.note(self, paused=False)
            self._end.resume(self)

    @property
    def _is_full(self) -> bool:
        if not self._has_windows:
            return self._size > self._buffers.limit
        return not self._buffers.has_room and self._size > _STREAMS * self._buffers.limit
