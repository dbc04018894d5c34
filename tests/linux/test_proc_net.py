"""The listener on a port is found, by IPv4 and IPv6, with its program."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.ports import reserved_port
from warex.linux.proc_net import find_listener, listening, listening_on_ipv6, loopback_of

pytestmark = pytest.mark.wire


@contextmanager
def alone(host: str) -> Iterator[int]:
    """Listen on a port of which the other family's loopback address is reserved."""
    families = (socket.AF_INET6, socket.AF_INET)
    family, other = families if ":" in host else reversed(families)
    while True:
        with (
            socket.create_server((host, 0), family=family) as server,
            socket.socket(other) as reserved,
        ):
            port = server.getsockname()[1]
            if host not in ("::", "0.0.0.0"):
                try:
                    reserved.bind(("127.0.0.1" if ":" in host else "::1", port))
                except OSError:
                    continue
            yield port
            return


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_a_listener_is_found(family: socket.AddressFamily, address: str) -> None:
    with socket.create_server((address, 0), family=family) as server:
        port = server.getsockname()[1]
        listener = find_listener(port)

    assert listener is not None
    assert (listener.user, listener.pid) == (os.geteuid(), os.getpid())
    assert listener.command.startswith(sys.argv[0]) or "python" in listener.command
    assert find_listener(reserved_port()) is None


def test_a_connection_is_not_a_listener() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        assert find_listener(client.getsockname()[1]) is None


def test_listening_ports_are_read() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        assert port in listening()
    assert port not in listening()


@pytest.mark.parametrize(
    ("host", "spelled"),
    [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::1", "[::1]"), ("::", "127.0.0.1")],
)
def test_the_loopback_address_of_a_listening_port_is_read(host: str, spelled: str) -> None:
    with alone(host) as port:
        assert loopback_of(port) == spelled


def test_a_machine_without_proc_net_has_no_listening_ports() -> None:
    assert listening([Path("/no/such/table")]) == set()


@pytest.mark.parametrize(("host", "existing"), [("::1", True), ("::", True), ("127.0.0.1", False)])
def test_the_hosts_ports_of_ipv6_are_known(host: str, existing: bool) -> None:
    with alone(host) as port:
        assert (port in listening_on_ipv6()) is existing
