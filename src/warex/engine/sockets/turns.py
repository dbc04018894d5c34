"""Shares the turns of the event loop, so that no peer waits long for one that floods.

Peers are served for a few milliseconds in each turn. What the others have sent waits for a turn to
come, in order, and they are not read meanwhile; those that have used little come first. So a turn
lasts no longer with a hundred floods than with one.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol
from weakref import ref

from warex.engine.sockets.buffers import Pausable

SLICE_S: Final = 0.001
"""Seconds for which one peer is served before others come between."""
_TURN_S: Final = 0.005
"""Seconds of a turn for all of them."""
_ENDING_S: Final = 0.00015
"""Seconds that the end of an exchange takes about, in the turn after."""
_BURST_S: Final = 0.002
_RATE: Final = 0.05
"""What a peer uses little of: seconds at once, and per second in the long run."""


class Turns:
    """The event loop's turns; one object for all peers of an engine."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._light: deque[Callable[[], None]] = deque()
        self._heavy: deque[Callable[[], None]] = deque()
        """Waiting work of peers that have used little, and of those that have used much."""
        self._spent = 0.0
        self.is_over = False
        """Whether the time of this turn is used up."""

    def spend(self, seconds: float) -> None:
        """Note that a peer was served."""
        self._spent += seconds
        if self._spent >= _TURN_S:
            self._end()

    def later(self, work: Callable[[], None], *, is_heavy: bool) -> None:
        """Do work in a turn to come."""
        (self._heavy if is_heavy else self._light).append(work)
        self._end()

    async def turn(self, seconds: float = 0.0) -> None:
        """Wait for a turn that has time, and use some of it."""
        if self.is_over:
            waiting = asyncio.Event()
            self.later(waiting.set, is_heavy=False)
            await waiting.wait()
        self.spend(seconds)

    def _end(self) -> None:
        if not self.is_over:
            self.is_over = True
            self._loop.call_soon(self._next)

    def _next(self) -> None:
        self._spent, self.is_over = 0.0, False
        light, heavy = self._light, self._heavy
        for _ in range(len(light)):
            if self._spent >= _TURN_S:
                break
            light.popleft()()
        for served in range(len(heavy)):
            # One is served in each turn, so that it goes on at all.
            if served and self._spent >= _TURN_S:
                break
            heavy.popleft()()
        if light or heavy:
            self._end()


class Served(Protocol):
    """A side of a connection, which takes turns."""

    def go_on(self) -> None:
        """Serve the work that was left."""


class Peer:
    """One peer's use of the turns."""

    __slots__ = ("_at", "_end", "_side", "_turns", "_used", "is_waiting")

    def __init__(self, turns: Turns, end: Pausable, side: Served) -> None:
        """``side`` goes on in the peer's next turn.

        It is held weakly: it has this peer, and a cycle would keep both, with their TLS, until the
        garbage collector comes.
        """
        self._turns, self._end, self._side = turns, end, ref(side)
        self._used = self._at = 0.0
        self.is_waiting = False
        """Whether something is left for a turn to come."""

    @property
    def must_wait(self) -> bool:
        """Whether others come first."""
        return self.is_waiting or self._turns.is_over

    def served(self, began: float, now: float) -> None:
        """Note that the peer was served."""
        seconds = now - began
        self._used = max(0.0, self._used - (began - self._at) * _RATE) + seconds
        self._at = now
        self._turns.spend(seconds)

    def charge(self, endings: int) -> None:
        """Note that exchanges were asked to end."""
        self._used += endings * _ENDING_S
        self._turns.spend(endings * _ENDING_S)

    async def turn(self) -> None:
        """Wait for a turn that has time."""
        await self._turns.turn()

    def wait(self) -> None:
        """Serve what was left in a turn to come; until then it is not read."""
        if not self.is_waiting:
            self.is_waiting = True
            self._end.pause(self)
            self._turns.later(self._go_on, is_heavy=self._used > _BURST_S)

    def _go_on(self) -> None:
        self.is_waiting = False
        if (side := self._side()) is not None:
            side.go_on()
        if not self.is_waiting:
            self._end.resume(self)
