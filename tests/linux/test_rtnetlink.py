"""The device of a namespace, as programs see it."""

import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.support.fake_proxy import FakeNetwork, open_fake_network
from warex.linux.rtnetlink import DEVICE
from warex.proxy.certificates.ca import ensure_ca
from warex.sandbox.namespace import setup as insides

_FROM = """
import json, socket, sys
addresses = []
for family, host in ((socket.AF_INET, "192.0.2.77"), (socket.AF_INET6, "2001:db8::77")):
    with socket.socket(family, socket.SOCK_DGRAM) as client:
        client.connect((host, 9))
        addresses.append(client.getsockname()[0])
print(json.dumps(addresses))
"""


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeNetwork]:
    with open_fake_network(
        ensure_ca(tmp_path_factory.mktemp("authority") / "ca"), os.environ
    ) as network:
        yield network


@pytest.mark.wire
def test_packets_have_the_devices_addresses(inside: FakeNetwork) -> None:
    message = inside.run(sys.executable, "-I", "-c", _FROM)[1]

    assert json.loads(message) == [insides.IPV4_ADDRESS, insides.IPV6_ADDRESS]


@pytest.mark.wire
def test_no_address_appears_later(inside: FakeNetwork) -> None:
    # Chromium would take it for a change of network, and end what it is loading.
    lines = inside.run("cat", "/proc/net/if_inet6")[1].splitlines()

    assert sorted(line.split()[0] for line in lines) == sorted(
        socket.inet_pton(socket.AF_INET6, address).hex()
        for address in ("::1", insides.IPV6_ADDRESS)
    )


@pytest.mark.wire
def test_everything_is_routed_over_the_device(inside: FakeNetwork) -> None:
    lines = inside.run("cat", "/proc/net/route")[1].splitlines()[1:]

    assert [line.split()[:2] for line in lines] == [[DEVICE, "00000000"]]


@pytest.mark.wire
def test_a_program_that_asks_finds_a_network_that_is_up(inside: FakeNetwork) -> None:
    code, message = inside.run(
        *(sys.executable, "-I", "-c"),
        "import socket; print(*sorted(n for _, n in socket.if_nameindex()))",
    )
    assert code == 0
    assert {"lo", DEVICE} <= set(message.split())


@pytest.mark.wire
def test_the_host_gets_no_device(inside: FakeNetwork) -> None:
    assert not Path("/sys/class/net", DEVICE).exists()
