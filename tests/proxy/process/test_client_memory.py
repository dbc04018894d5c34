"""What a lane remembers of exchanges and connections that are over takes little memory."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.proxy.support.client import H2Client, read_answer, secure
from tests.proxy.support.lanes import Begin, Lane, scenario
from tests.proxy.support.origin import Origin
from warex.faults import HttpError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Trigger

pytestmark = [pytest.mark.wire, pytest.mark.slow]

type Ask = Callable[[Lane, int], None]


def private(pid: int) -> int:
    """Bytes of memory that are a process's own."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Private_Dirty:"):
            return int(line.split()[1]) * 1024
    raise ValueError(pid)


def grown(lane: Lane, ask: Ask, warm_up: int, count: int) -> tuple[float, int]:
    """Bytes for each request, and descriptors in all, that a lane gains once it is warm."""
    pid = lane.proxy.pid
    ask(lane, warm_up)
    memory, descriptors = private(pid), len(os.listdir(f"/proc/{pid}/fd"))
    ask(lane, count)
    assert lane.proxy.broken is None
    return (private(pid) - memory) / count, len(os.listdir(f"/proc/{pid}/fd")) - descriptors


def test_a_request_of_its_own_address_takes_little(begin: Begin, plain: Origin) -> None:
    """Of which a third meets a fault: what is asked, judged and injected is remembered."""
    asked = iter(range(10**6))

    def ask(lane: Lane, count: int) -> None:
        with socket.create_connection(("127.0.0.1", lane.port), timeout=30) as client:
            for _, number in zip(range(count), asked, strict=False):
                url = f"http://127.0.0.1:{plain.port}/products/{number}"
                client.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                read_answer(client)

    with begin(scenario=scenario(HttpError(status=500), Trigger(every=3))) as lane:
        each, descriptors = grown(lane, ask, 3000, 5000)
    # The last connections may not be over yet, the client's and the site's.
    assert descriptors <= 2
    assert each < 250


def test_a_connection_that_is_over_takes_little(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin
) -> None:
    def ask(lane: Lane, count: int) -> None:
        for _ in range(count):
            port = secure_h2.port
            with secure(lane.port, "localhost", port, ca.certificate, "h2") as connection:
                client = H2Client(connection, f"localhost:{port}")
                assert client.wait(client.ask("/")).body == b"hello"

    with begin() as lane:
        each, descriptors = grown(lane, ask, 400, 400)
    # The last one may not be over yet.
    assert descriptors <= 2
    assert each < 6000
