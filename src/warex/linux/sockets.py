"""Options of sockets that Linux has in one form and Python in none."""

import fcntl
import socket
import struct
import termios
from collections.abc import Iterable
from typing import Final

_SO_TIMESTAMPNS: Final = 35
"""asm-generic/socket.h: its number as an option and as the type of the control message."""
_TIMESTAMP: Final = struct.Struct("@ll")
"""A timespec: seconds and nanoseconds of CLOCK_REALTIME."""
TIMESTAMP_SPACE: Final = socket.CMSG_SPACE(_TIMESTAMP.size)
"""Bytes that ``recvmsg`` needs beside a datagram for ``arrived_at``."""
_TCP_INFO: Final = struct.Struct("@B51xII")
"""The state, and milliseconds since the last data and the last acknowledgement (linux/tcp.h)."""
_CLOSE, _CLOSE_WAIT = 7, 8
"""States of linux/tcp_states.h: the peer has reset the connection, or has closed its end."""


def reset_on_close(connection: socket.socket) -> None:
    """Let a TCP connection end with a reset when it is closed; unsent bytes are dropped."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def unacknowledged(connection: socket.socket) -> int:
    """Return how many bytes the peer's system has not acknowledged (SIOCOUTQ)."""
    raw = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4))
    return int(struct.unpack("i", raw)[0])


def stamp_arrivals(receiver: socket.socket) -> None:
    """Let the kernel note when each datagram arrives, for ``arrived_at``."""
    receiver.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)


def arrived_at(beside: Iterable[tuple[int, int, bytes]]) -> float | None:
    """Return when a datagram arrived, in Unix time, from its control messages."""
    for level, kind, content in beside:
        if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPNS):
            seconds, nanoseconds = _TIMESTAMP.unpack_from(content)
            return float(seconds + nanoseconds / 1e9)
    return None


def waited_before_leaving(connection: socket.socket) -> float | None:
    """Return how many seconds the peer waited after its last bytes before it left.

    None if it is still there. After a reset it is the longest that it may have waited.
    """
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
    state, since_data, since_ack = (int(value) for value in _TCP_INFO.unpack(info))
    if state == _CLOSE_WAIT:
        # Its FIN was the last that was acknowledged to us.
        return max(0, since_data - since_ack) / 1000
    return since_data / 1000 if state == _CLOSE else None
