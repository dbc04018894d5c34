"""The options of sockets, as the other side sees them."""

import socket

import pytest

from warex.linux.sockets import reset_on_close


@pytest.mark.wire
def test_a_connection_ends_with_a_reset() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname(), 5)
        accepted, _ = server.accept()
    with client:
        reset_on_close(accepted)
        accepted.close()

        with pytest.raises(ConnectionResetError):
            client.recv(1)
