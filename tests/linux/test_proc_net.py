"""Who listens on a port is told, by IPv4 and IPv6, down to the program."""

import os
import socket
import sys

import pytest

from warex.linux.proc_net import Holder, holder_of

pytestmark = pytest.mark.wire


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_who_listens_is_told(family: socket.AddressFamily, address: str) -> None:
    with socket.create_server((address, 0), family=family) as server:
        port = server.getsockname()[1]
        holder = holder_of(port)

    assert holder is not None
    assert (holder.user, holder.pid) == (os.geteuid(), os.getpid())
    assert holder.command.startswith(sys.argv[0]) or "python" in holder.command
    assert not holder.is_warex
    assert holder_of(port) is None


def test_a_connection_is_no_listener() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        assert holder_of(client.getsockname()[1]) is None


def test_a_proxy_of_ours_is_known() -> None:
    assert Holder(0, 7, "python -O -m warex.proxy.process.forkserver 5").is_warex
    assert not Holder(0, None).is_warex
