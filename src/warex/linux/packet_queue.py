"""Packets that wait in the kernel until a process releases them (netfilter's nfnetlink_queue)."""

import socket
import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from warex.linux.netlink import ACKNOWLEDGE, attribute, attributes, exchange, message, messages
from warex.linux.nftables import QUEUE, PacketEnds, ends_of

_QUEUE: Final = 3
_PACKET, _VERDICT, _CONFIG = 0, 1, 2
_BIND, _COPY_PACKET, _ACCEPT = 1, 2, 1
_HEAD_BYTES: Final = 128
"""How much of each packet is read: its addresses and ports."""
_FAIL_OPEN: Final = 1
"""What the queue has no room for passes."""
_NO_ENOBUFS: Final = 5
_SOL_NETLINK: Final = 270


class QueuedPacket(NamedTuple):
    """A packet that waits."""

    number: int
    ends: PacketEnds | None
    """None if it cannot be read."""


def bind(queue: socket.socket) -> None:
    """Receive the packets of ``nftables.QUEUE`` on a socket; raise OSError if the kernel refuses.

    ``queue``: as of ``nftables.open_socket``, in the namespace of the packets.
    """
    # Without an error for packets that the socket has no room for: they pass.
    queue.setsockopt(_SOL_NETLINK, _NO_ENOBUFS, 1)
    command = attribute(1, struct.pack(">BBH", _BIND, 0, 0))
    copy = attribute(2, struct.pack(">IB", _HEAD_BYTES, _COPY_PACKET))
    flags = struct.pack(">I", _FAIL_OPEN)
    body = command + copy + attribute(4, flags) + attribute(5, flags)
    request = message((_QUEUE << 8) | _CONFIG, ACKNOWLEDGE, 1, _head() + body)
    exchange(queue, request, 1, "netfilter's queue of packets")


def read(received: bytes) -> Iterator[QueuedPacket]:
    """Parse a message of a bound socket."""
    for kind, _, body in messages(received):
        if kind != (_QUEUE << 8) | _PACKET:
            continue
        values = dict(attributes(body[4:]))
        (number,) = struct.unpack_from(">I", values[1])
        yield QueuedPacket(number, ends_of(values.get(10, b"")))


def release(queue: socket.socket, number: int) -> None:
    """Let a packet go on; raise OSError if the namespace has gone."""
    verdict = attribute(2, struct.pack(">II", _ACCEPT, number))
    queue.send(message((_QUEUE << 8) | _VERDICT, 0, 0, _head() + verdict))


def _head() -> bytes:
    return struct.pack(">BBH", 0, 0, QUEUE)
