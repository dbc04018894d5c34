"""The options of sockets, as the other side sees them."""

import socket

import pytest

from warex.clock import Clock
from warex.linux.sockets import (
    TIMESTAMP_SPACE,
    arrived_at,
    reset_on_close,
    stamp_arrivals,
    unacknowledged,
    waited_before_leaving,
)

pytestmark = pytest.mark.wire


def test_bytes_that_no_system_has_are_unacknowledged() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client = socket.create_connection(server.getsockname(), 5)
        accepted, _ = server.accept()
    with client, accepted:
        assert unacknowledged(client) == 0
        client.setblocking(False)
        sent = client.send(bytes(1_000_000))
        assert 0 < unacknowledged(client) <= sent


def test_a_connection_ends_with_a_reset() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname(), 5)
        accepted, _ = server.accept()
    with client:
        reset_on_close(accepted)
        accepted.close()

        with pytest.raises(ConnectionResetError):
            client.recv(1)


def test_a_datagram_says_when_it_arrived() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        stamp_arrivals(receiver)
        before = Clock().wall()
        receiver.sendto(b"x", receiver.getsockname())
        _, beside, _, _ = receiver.recvmsg(1, TIMESTAMP_SPACE)

    arrived = arrived_at(beside)
    assert arrived is not None
    assert abs(arrived - before) < 5
    assert arrived_at(()) is None


@pytest.mark.parametrize("sent", [b"", b"hello"])
def test_a_peer_that_waited_differs_from_one_that_left_at_once(
    sent: bytes,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        stays, hurries, waits = (socket.create_connection(server.getsockname()) for _ in range(3))
        for each in (stays, hurries, waits):
            each.sendall(sent)
        hurries.close()
        waits.settimeout(0.4)
        with pytest.raises(TimeoutError):
            waits.recv(1)
        waits.close()
        accepted = [server.accept()[0] for _ in range(3)]

        still_there, at_once, later = map(waited_before_leaving, accepted)

        assert still_there is None
        assert at_once is not None
        assert at_once < 0.2
        assert later is not None
        assert 0.3 < later < 5
        for each in (stays, *accepted):
            each.close()


def test_a_peer_that_reset_the_connection_has_left() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        reset_on_close(client)
        client.close()
        accepted, _ = server.accept()
        with accepted:
            assert waited_before_leaving(accepted) is not None
