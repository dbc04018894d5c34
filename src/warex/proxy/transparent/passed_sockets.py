"""Sockets that are made inside a namespace and passed to the proxy outside.

A socket belongs to the network namespace in which it was made. So the proxy, in the host's network,
can accept the connections that a command makes inside another one.
"""

import socket
from collections.abc import Sequence
from itertools import batched
from typing import Self

from msgspec import Struct

_MAX_SOCKETS = 16
"""Sockets in one message at most; a namespace passes six of TCP and DNS and four of netlink."""


class PassedSockets(Struct, frozen=True):
    """The sockets of a namespace."""

    tcp: tuple[socket.socket, ...]
    """Listening on 127.0.0.1 and ::1, where the namespace's rules redirect every connection."""
    dns_udp: tuple[socket.socket, ...]
    """Bound on 127.0.0.1 and ::1, where the namespace's rules redirect port 53."""
    dns_tcp: tuple[socket.socket, ...]
    """The same, listening."""
    route: socket.socket
    """NETLINK_ROUTE: sets the namespace's devices from outside."""
    netfilter: socket.socket
    """NETLINK_NETFILTER: sets the namespace's rules from outside."""
    queue: socket.socket
    """NETLINK_NETFILTER: for the packets that wait in ``nftables.QUEUE``."""
    log: socket.socket
    """NETLINK_NETFILTER, bound to ``nftables.LOG_GROUP``."""

    @property
    def sockets(self) -> tuple[socket.socket, ...]:
        """All of them, in the order in which they are sent."""
        netlink = (self.route, self.netfilter, self.queue, self.log)
        return (*self.tcp, *self.dns_udp, *self.dns_tcp, *netlink)

    def close(self) -> None:
        """Close this process's copies."""
        for sock in self.sockets:
            sock.close()

    @classmethod
    def of(cls, sockets: Sequence[socket.socket]) -> Self:
        """Assign sockets in the order of the property ``sockets``, with as many of each kind."""
        *serving, route, netfilter, queue, log = sockets
        tcp, udp, dns_tcp = batched(serving, len(serving) // 3)
        return cls(tcp, udp, dns_tcp, route, netfilter, queue, log)


def send(channel: socket.socket, first: socket.socket, passed: PassedSockets | None) -> None:
    """Send one socket and a namespace's over a Unix socket, in one message."""
    handles = [sock.fileno() for sock in (first, *(passed.sockets if passed else ()))]
    socket.send_fds(channel, [bytes([len(handles)])], handles)


def receive(channel: socket.socket) -> tuple[socket.socket | None, PassedSockets | None]:
    """Receive from ``send``; None when the channel has closed."""
    count, handles, _, _ = socket.recv_fds(channel, 1, _MAX_SOCKETS)
    sockets = [socket.socket(fileno=handle) for handle in handles]
    if not count or count[0] != len(sockets):
        for sock in sockets:
            sock.close()
        return None, None
    return sockets[0], PassedSockets.of(sockets[1:]) if sockets[1:] else None
