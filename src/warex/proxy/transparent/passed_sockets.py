"""Sockets that are made inside a namespace and passed to the proxy outside.

A socket belongs to the network namespace in which it was made. So the proxy, in the host's network,
can accept the connections that a command makes inside another one.
"""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

_MAX_SOCKETS = 16
"""Sockets in one message at most; a namespace passes six of TCP and DNS and two of netlink."""


@dataclass(frozen=True, slots=True)
class PassedSockets:
    """The sockets of a namespace."""

    tcp: tuple[socket.socket, ...]
    """Listening on 127.0.0.1 and ::1, where the namespace's rules redirect every connection."""
    dns_udp: tuple[socket.socket, ...]
    """Bound on 127.0.0.1 and ::1, where the namespace's rules redirect port 53."""
    dns_tcp: tuple[socket.socket, ...]
    """The same, listening."""
    netfilter: socket.socket
    """NETLINK_NETFILTER: sets the namespace's rules from outside."""
    log: socket.socket
    """NETLINK_NETFILTER, bound to ``nftables.LOG_GROUP``."""

    @property
    def sockets(self) -> tuple[socket.socket, ...]:
        """All of them, in the order in which they are sent."""
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
        """Assign sockets in the order of the property ``sockets``, by the number of each kind."""
        netfilter, log = sockets[tcp + udp + dns_tcp :]
        return cls(
            tcp=tuple(sockets[:tcp]),
            dns_udp=tuple(sockets[tcp : tcp + udp]),
            dns_tcp=tuple(sockets[tcp + udp : tcp + udp + dns_tcp]),
            netfilter=netfilter,
            log=log,
        )


def send_socket(channel: socket.socket, first: socket.socket) -> None:
    """Send one socket without a namespace's sockets."""
    socket.send_fds(channel, [bytes((1, 0, 0, 0, 0))], [first.fileno()])


def receive(channel: socket.socket) -> tuple[list[socket.socket], PassedSockets | None]:
    """Receive from ``PassedSockets.send`` or ``send_socket``; empty when the channel has closed."""
    counts, handles, _, _ = socket.recv_fds(channel, 5, _MAX_SOCKETS)
    sockets = [socket.socket(fileno=handle) for handle in handles]
    if len(counts) < 5 or sum(counts) != len(sockets):
        for held in sockets:
            held.close()
        return [], None
    first, tcp, udp, dns_tcp, netlink = counts
    if not netlink:
        return sockets, None
    return sockets[:first], PassedSockets.of(sockets[first:], tcp, udp, dns_tcp)
