"""Sockets arrive as what they were, in their places."""

import socket

from warex.proxy.transparent.passed_sockets import PassedSockets, receive, send


def _sockets() -> PassedSockets:
    def listening() -> socket.socket:
        return socket.create_server(("127.0.0.1", 0))

    def bound() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.bind(("127.0.0.1", 0))
        return made

    def netlink() -> socket.socket:
        return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12)

    return PassedSockets(
        (listening(), listening()),
        (bound(), bound()),
        (listening(), listening()),
        netlink(),
        netlink(),
        netlink(),
        netlink(),
    )


def test_sockets_arrive_in_their_places() -> None:
    ours, theirs = socket.socketpair()
    passed = _sockets()
    with ours, theirs:
        send(ours, theirs, passed)
        send(ours, theirs, passed)
        for _ in range(2):
            first, arrived = receive(theirs)
            assert first is not None
            assert arrived is not None
            assert first.getsockname() == theirs.getsockname()
            sent = [pending.getsockname() for pending in passed.sockets]
            assert [pending.getsockname() for pending in arrived.sockets] == sent
            assert [pending.type for pending in arrived.dns_udp] == [socket.SOCK_DGRAM] * 2
            assert arrived.log.family == socket.AF_NETLINK
            first.close()
            arrived.close()
            assert all(pending.fileno() == -1 for pending in arrived.sockets)
    passed.close()


def test_one_socket_may_come_alone() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send(ours, theirs, None)
        first, arrived = receive(theirs)
        assert first is not None
        assert arrived is None
        first.close()


def test_at_the_channels_end_there_is_nothing() -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        assert receive(theirs) == (None, None)
