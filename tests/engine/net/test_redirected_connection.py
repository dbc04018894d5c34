"""Where a connection was going is asked of the kernel; who came straight here, was going here."""

import socket

import pytest

from warex.engine.net.redirected_connection import close_with_reset, original_destination

pytestmark = pytest.mark.wire


@pytest.mark.parametrize(
    ("host", "family", "to"),
    [
        ("127.0.0.1", socket.AF_INET, "127.0.0.1"),
        ("::1", socket.AF_INET6, "::1"),
        # An IPv4 connection to an IPv6 socket.
        ("::", socket.AF_INET6, "127.0.0.1"),
    ],
)
def test_a_connection_that_nobody_redirected_has_no_destination(
    host: str, family: socket.AddressFamily, to: str
) -> None:
    dual = host == "::"
    with socket.create_server((host, 0), family=family, dualstack_ipv6=dual) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection((to, port)) as client:
            accepted, _ = listener.accept()
            assert original_destination(accepted) is None
            close_with_reset(accepted)
            with pytest.raises(ConnectionResetError):
                client.recv(1)
