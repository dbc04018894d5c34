"""Options of sockets that Linux has in one form and Python in none."""

import socket
import struct


def reset_on_close(connection: socket.socket) -> None:
    """Let a TCP connection end with a reset when it is closed; unsent bytes are dropped."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
