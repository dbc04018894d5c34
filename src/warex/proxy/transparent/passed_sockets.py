"""Sockets made inside a namespace and served by a proxy outside of it, and how they travel.

A socket belongs to the network namespace in which it was made, whoever holds it: so the proxy,
which stays in the host's network, accepts the connections that a command makes inside another one.
"""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

_MAX_SOCKETS = 16
"""Sockets in one message at most; there are six of TCP and DNS, and two of netlink."""


@dataclass(frozen=True, slots=True)
class PassedSockets:
    """What a namespace's inside gives to the proxy outside."""

    tcp: tuple[socket.socket, ...]
    """Listening on 127.0.0.1 and ::1, where the rules inside redirect every connection."""
    dns_udp: tuple[socket.socket, ...]
    """Bound on 127.0.0.1 and ::1, where the rules inside redirect port 53."""
    dns_tcp: tuple[socket.socket, ...]
    """The same, listening."""
    netfilter: socket.socket
    """NETLINK_NETFILTER, opened inside: sets the rules of the inside from outside."""
    log: socket.socket
    """NETLINK_NETFILTER, bound to the group in which each refused connection is told."""

    @property
    def sockets(self) -> tuple[socket.socket, ...]:
        """All of them, in the order in which they travel."""
        return (*self.tcp, *self.dns_udp, *self.dns_tcp, self.netfilter, self.log)

    def close(self) -> None:
        """Close this process's copies."""
        for held in self.sockets:
            held.close()

    def send(self, channel: socket.socket, *first: socket.socket) -> None:
        """Send ``first`` and the sockets over a Unix socket, in one message."""
        counts = bytes((len(first), len(self.tcp), len(self.dns_udp), len(self.dns_tcp), 2))
        handles = [held.fileno() for held in (*first, *self.sockets)]
        socket.send_fds(channel, [counts], handles)

    @classmethod
    def of(cls, sockets: Sequence[socket.socket], tcp: int, udp: int, dns_tcp: int) -> Self:
        """Sort sockets that came in the order of ``sockets`` by how many there are of each."""
        netfilter, log = sockets[tcp + udp + dns_tcp :]
        return cls(
            tcp=tuple(sockets[:tcp]),
            dns_udp=tuple(sockets[tcp : tcp + udp]),
            dns_tcp=tuple(sockets[tcp + udp : tcp + udp + dns_tcp]),
            netfilter=netfilter,
            log=log,
        )


def send_socket(channel: socket.socket, first: socket.socket) -> None:
    """Send one socket where no namespace's come with it."""
    socket.send_fds(channel, [bytes((1, 0, 0, 0, 0))], [first.fileno()])


def receive(channel: socket.socket) -> tuple[list[socket.socket], PassedSockets | None]:
    """Receive what was sent by ``Handed.send`` or ``send_socket``; nothing at the channel's end."""
    counts, handles, _, _ = socket.recv_fds(channel, 5, _MAX_SOCKETS)
    # A socket object finds out by itself of which kind it is.
    sockets = [socket.socket(fileno=handle) for handle in handles]
    if len(counts) < 5 or sum(counts) != len(sockets):
        for held in sockets:
            held.close()
        return [], None
    first, tcp, udp, dns_tcp, netlink = counts
    if not netlink:
        return sockets, None
    return sockets[:first], PassedSockets.of(sockets[first:], tcp, udp, dns_tcp)
