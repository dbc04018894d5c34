"""A redirected connection and its original destination."""

import socket
import struct
from typing import Final

from msgspec import Struct

from warex.linux.sockets import reset_on_close

_SO_ORIGINAL_DST: Final = 80
"""linux/netfilter_ipv4.h; the same number for IPv6."""


class RedirectedConnection(Struct, frozen=True):
    """A client's connection and its destination."""

    client: socket.socket
    host: str
    """The name that has the address, if it is known; else the address."""
    address: str
    """The address that the client connected to."""
    port: int


def original_destination(client: socket.socket) -> tuple[str, int] | None:
    """Return the original destination of a connection; None if it was not redirected.

    Linux keeps the destination in the namespace where the socket was made.
    """
    own = client.getsockname()
    # An IPv6 socket may have an IPv4 connection, which needs the IPv4 option.
    mapped = own[0].startswith("::ffff:") and "." in own[0]
    try:
        if client.family == socket.AF_INET or mapped:
            raw = client.getsockopt(socket.SOL_IP, _SO_ORIGINAL_DST, 16)
            port, packed = struct.unpack_from("!2xH4s", raw)
            address = socket.inet_ntop(socket.AF_INET, packed)
        else:
            raw = client.getsockopt(socket.IPPROTO_IPV6, _SO_ORIGINAL_DST, 28)
            port, packed = struct.unpack_from("!2xH4x16s", raw)
            address = socket.inet_ntop(socket.AF_INET6, packed)
    except OSError:
        return None
    if (address, port) == (own[0].removeprefix("::ffff:"), own[1]):
        return None
    return address, port


def close_with_reset(client: socket.socket) -> None:
    """Close a connection by a TCP reset."""
    try:
        reset_on_close(client)
    finally:
        client.close()
