"""The frames of one side of a WebSocket, on their way past a handler."""

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Iterable
from math import isinf
from typing import Final, assert_never

from warex.engine.ends import End
from warex.engine.handler import (
    AwaitRate,
    EndSocket,
    Exchange,
    FrameStep,
    FrameUse,
    Handler,
    Happened,
    HoldMessages,
)
from warex.engine.http.byte_rate import CATCH_UP_S
from warex.engine.http.websocket import CLOSE, Frame, FrameParser, serialise
from warex.engine.services import eager_task

MOST_HELD: Final = 256 * 1024
"""Bytes of held messages from which on a side is not read."""


class FrameRelay:
    """Sends the frames of one side to the other, as a handler says.

    Frames that are read pass as their bytes come, frames that may change once they are complete.
    While messages are held, pings and pongs pass them, and a Close frame waits for its turn. At a
    limited rate all of them keep their order, as on a slow line.
    """

    def __init__(
        self,
        handler: Handler,
        exchange: Exchange,
        use: FrameUse,
        *,
        from_client: bool,
        write: Callable[[bytes], None],
        end: Callable[[EndSocket], None],
        receiver: End,
        now: Callable[[], float],
    ) -> None:
        """``write`` sends bytes to ``receiver``; ``end`` ends the WebSocket.

        ``now``: the second of the clock.
        """
        self._handler = handler
        self._exchange = exchange
        self._use = use
        self._from_client = from_client
        self._write, self._end, self._receiver = write, end, receiver
        self._now = now
        self._parser = FrameParser(from_client=from_client)
        self._steps: deque[FrameStep] = deque()
        """Waiting for the end of a hold."""
        self._waiting_bytes = 0
        self._out = bytearray()
        """Bytes to send at the end of the current step."""
        self._hold: asyncio.TimerHandle | None = None
        self._is_stalled = False
        self._has_rate = False
        """Whether it waits for rates: perhaps within a long frame, where no other may come."""
        self._room: asyncio.Future[None] | None = None
        self._notifications: set[asyncio.Task[None]] = set()
        self._close: Frame | None = None
        """The Close frame that ends the WebSocket in the site's or the client's place."""
        self._is_closed = False
        """Whether it is sent."""
        self.is_answered = False
        """Whether the side has sent a Close frame after that."""

    # ---- received frames

    def receive(self, data: bytes) -> None:
        """Send what follows from the next bytes, as far as nothing is held."""
        frames = self._parser.receive(data)
        if self._use == "read":
            # A list: each is read, also after one that stops the bytes.
            if all([bool([*self._asked(frame)]) for frame in frames]):
                self._write(data)
            return
        for frame in frames:
            if self._close is not None:
                self._receive_after_close(frame)
                continue
            self._queue(self._asked(frame))
            self._advance()
        self._flush()

    def _receive_after_close(self, frame: Frame) -> None:
        """Complete a frame that is being sent; drop all else."""
        if not self._is_closed:
            self._write(frame.raw)
            self._send_close()
        self.is_answered = self.is_answered or frame.opcode == CLOSE

    def add(self, steps: Iterable[FrameStep]) -> None:
        """Do further steps."""
        if self._close is None:
            self._queue(steps)
            self._advance()
            self._flush()

    @property
    def is_holding(self) -> bool:
        """Whether messages wait for the end of a hold."""
        return bool(self._steps) or self._is_stalled

    async def has_room(self) -> None:
        """Wait while much is held."""
        while self._waiting_bytes > MOST_HELD:
            self._room = asyncio.get_running_loop().create_future()
            await self._room

    async def ended(self) -> None:
        """Send what is left when the side has ended: what was held, and an incomplete frame."""
        if self._use == "read":
            return
        self.add(self._handler.frames_end(self._exchange, from_client=self._from_client))
        while self._steps and not self._is_stalled:
            self._room = asyncio.get_running_loop().create_future()
            await self._room
        if not self._is_stalled and self._close is None:
            self._write(self._parser.rest())

    def stop(self) -> None:
        """Do nothing more."""
        self._steps.clear()
        if self._hold is not None:
            self._hold.cancel()

    def close(self, frame: Frame) -> None:
        """Send a Close frame, and nothing after it."""
        self.stop()
        self._close = frame
        self._send_close()
        self._wake()

    def _send_close(self) -> None:
        if self._close is not None and not self._parser.is_within_frame:
            self._is_closed = True
            self._write(self._bytes(self._close))

    def _asked(self, frame: Frame) -> Iterable[FrameStep]:
        return self._handler.frame(self._exchange, frame, from_client=self._from_client)

    # ---- sent frames

    def _queue(self, steps: Iterable[FrameStep]) -> None:
        for step in steps:
            self._has_rate = self._has_rate or isinstance(step, AwaitRate)
            if isinstance(step, Frame):
                is_first = step.opcode > CLOSE and self._steps and not self._has_rate
                if is_first or (step.opcode == CLOSE and self._is_stalled):
                    self._out += self._bytes(step)
                    continue
                self._waiting_bytes += len(step.raw or step.payload)
            self._steps.append(step)

    def _advance(self) -> None:
        """Do the steps that wait for nothing."""
        while self._steps and self._hold is None and not self._is_stalled:
            match step := self._steps.popleft():
                case Frame():
                    self._waiting_bytes -= len(step.raw or step.payload)
                    self._out += self._bytes(step)
                case HoldMessages(seconds):
                    self._begin_hold(seconds)
                case AwaitRate(limits, size, since):
                    now = self._now()
                    since = max(since, now - CATCH_UP_S)
                    self._begin_hold(max([it.reserve(size, now, since) for it in limits]))
                case Happened(note):
                    self._flush()
                    self._notify(note)
                case EndSocket():
                    self._flush()
                    self._steps.clear()
                    self._end(step)
                case _:
                    assert_never(step)
        if self._waiting_bytes <= MOST_HELD:
            self._wake()

    def _flush(self) -> None:
        if self._out:
            out, self._out = bytes(self._out), bytearray()
            self._write(out)

    def _begin_hold(self, seconds: float) -> None:
        if isinf(seconds):
            self._is_stalled = True
        elif seconds > 0:
            self._hold = asyncio.get_running_loop().call_later(seconds, self._go_on)

    def _go_on(self) -> None:
        self._hold = None
        self._advance()
        self._flush()

    def _wake(self) -> None:
        if self._room is not None and not self._room.done():
            self._room.set_result(None)

    def _notify(self, note: object) -> None:
        """Tell the handler, once the kernel has taken what was sent."""
        if not self._receiver.unsent:
            self._notify_now(note)
            return
        task = eager_task(self._notify_later(note))
        self._notifications.add(task)
        task.add_done_callback(self._notifications.discard)

    async def _notify_later(self, note: object) -> None:
        await self._receiver.flush()
        self._notify_now(note)

    def _notify_now(self, note: object) -> None:
        arrived = self._receiver.is_established()
        self._handler.steps_done(self._exchange, note, arrived=arrived)

    def _bytes(self, frame: Frame) -> bytes:
        # A client masks each frame with a new key (RFC 6455 §5.3).
        masks = self._from_client and not frame.raw
        return serialise(frame, secrets.token_bytes(4) if masks else b"")
