"""Ports that stay a test's own until its process ends."""

import socket


def reserved_port() -> int:
    """Return a port of 127.0.0.1 that refuses connections and is given to no other program.

    A socket of this process stays bound to it, so the kernel never chooses it. A server that sets
    SO_REUSEADDR, as most do, can still be told to listen on it.
    """
    reservation = socket.socket()
    reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reservation.bind(("127.0.0.1", 0))
    port = int(reservation.getsockname()[1])
    reservation.detach()
    return port
