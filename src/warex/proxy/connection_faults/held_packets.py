"""Packets that are held for a while in the kernel's queue, so that those after them overtake them.

Every packet of such a connection comes through the queue; all but the drawn ones are released at
once.
"""

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from typing import Final

from msgspec import Struct

from warex.effects import ReorderPackets
from warex.linux import packet_queue
from warex.linux.nftables import PacketEnds
from warex.linux.packet_queue import QueuedPacket
from warex.seeds import draw

type _End = tuple[str, int]
"""An address and a port."""
_IN_ONE_TURN: Final = 256
"""Messages of the kernel that are read in one turn of the event loop."""


class _Reordering(Struct):
    """What one injection does to a connection."""

    client: _End
    effect: ReorderPackets
    overtaken: Callable[[], None]
    up: int = 0
    """How many packets the client has sent."""
    down: int = 0
    """How many it was sent."""

    def draws(self, ends: PacketEnds) -> bool:
        """Whether the next packet is held."""
        if _sides(ends)[0] == self.client:
            self.up += 1
            place: tuple[str | int, ...] = ("up", self.up)
        else:
            self.down += 1
            place = ("down", self.down)
        return draw(self.effect.seed, *place) < self.effect.share


class _DelayedPacket(Struct, frozen=True):
    """A packet that is held."""

    ends: PacketEnds
    reordering: _Reordering
    timer: asyncio.TimerHandle


class HeldPackets:
    """Releases the packets of a namespace's queue, each at its time."""

    def __init__(self, queue: socket.socket, broke: Callable[[Exception], None]) -> None:
        """``broke`` is called if the kernel refuses."""
        self._queue, self._broke = queue, broke
        self._reorderings: dict[_End, list[_Reordering]] = {}
        self._delayed: dict[int, _DelayedPacket] = {}
        self._is_open = False
        self._loop = asyncio.get_running_loop()

    def open(self) -> None:
        """Start to read the queue, once; raise OSError if the kernel does not have it."""
        if not self._is_open:
            packet_queue.bind(self._queue)
            self._queue.setblocking(False)
            self._loop.add_reader(self._queue, self._read)
            self._is_open = True

    def close(self) -> None:
        """Release all packets and read no more."""
        for client in tuple(self._reorderings):
            self.end(client)
        if self._is_open:
            self._loop.remove_reader(self._queue)

    def begin(self, client: _End, effect: ReorderPackets, overtaken: Callable[[], None]) -> None:
        """Hold packets of a client's connection; ``overtaken`` is called when one is overtaken."""
        reordering = _Reordering(client, effect, overtaken)
        self._reorderings.setdefault(client, []).append(reordering)

    def end(self, client: _End) -> None:
        """Release the packets of a client's connection."""
        if self._reorderings.pop(client, None) is None:
            return
        self._read()
        for number, packet in tuple(self._delayed.items()):
            if client in _sides(packet.ends):
                packet.timer.cancel()
                self._release(number)

    def _read(self) -> None:
        for _ in range(_IN_ONE_TURN):
            try:
                received = self._queue.recv(65536)
            except BlockingIOError:
                return
            except OSError as error:
                self._broke(error)
                return
            for packet in packet_queue.read(received):
                self._arrived(packet)

    def _arrived(self, packet: QueuedPacket) -> None:
        reordering = self._drawn(packet.ends)
        if packet.ends is None or reordering is None:
            for earlier in self._delayed.values():
                if earlier.ends == packet.ends:
                    earlier.reordering.overtaken()
            self._release(packet.number)
            return
        release = partial(self._release, packet.number)
        timer = self._loop.call_later(reordering.effect.seconds, release)
        self._delayed[packet.number] = _DelayedPacket(packet.ends, reordering, timer)

    def _drawn(self, ends: PacketEnds | None) -> _Reordering | None:
        """Return what holds a packet; None if it passes."""
        if ends is None:
            return None
        applying = (it for side in _sides(ends) for it in self._reorderings.get(side, ()))
        return next((it for it in applying if it.draws(ends)), None)

    def _release(self, number: int) -> None:
        self._delayed.pop(number, None)
        try:
            packet_queue.release(self._queue, number)
        except OSError as error:
            self._broke(error)


def _sides(ends: PacketEnds) -> tuple[_End, _End]:
    return (ends.source, ends.source_port), (ends.address, ends.port)
