"""What a lane remembers of exchanges and connections that are over takes little memory."""

import os
import socket
from collections.abc import Callable
from multiprocessing import Process
from pathlib import Path

import httpx
import pytest
import zstandard

from tests.proxy.support.client import H2Client, read_answer, secure
from tests.proxy.support.lanes import Begin, Lane, scenario
from tests.proxy.support.origin import Answer, Origin
from warex.faults.popups.popup import Popup
from warex.faults.server.http_error import HttpError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Trigger
from warex.traces import FaultMissed

pytestmark = [pytest.mark.wire, pytest.mark.slow]

type Ask = Callable[[Lane, int], None]


def allocated(pid: int) -> int:
    """Bytes of memory of a process that are of no file, shared ones among them.

    Pages that are still shared with the forkserver are counted, so copying them on write is no
    growth.
    """
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1]) * 1024
    raise ValueError(pid)


def grown(lane: Lane, ask: Ask, warm_up: int, count: int) -> tuple[float, int]:
    """Bytes for each request, and descriptors in all, that a lane gains once it is warm."""
    pid = lane.proxy.pid
    ask(lane, warm_up)
    memory, descriptors = allocated(pid), len(os.listdir(f"/proc/{pid}/fd"))
    ask(lane, count)
    assert lane.proxy.broken is None
    return (allocated(pid) - memory) / count, len(os.listdir(f"/proc/{pid}/fd")) - descriptors


def test_a_request_of_its_own_address_takes_little(begin: Begin, plain: Origin) -> None:
    """Of which a third meets a fault: what is asked, judged and injected is remembered."""
    asked = iter(range(10**6))

    def ask(lane: Lane, count: int) -> None:
        with socket.create_connection(("127.0.0.1", lane.port), timeout=30) as client:
            for _, number in zip(range(count), asked, strict=False):
                url = f"http://127.0.0.1:{plain.port}/products/{number}"
                client.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                read_answer(client)

    # Pages of other families have random identifiers, for which RE2 keeps states up to its bound.
    fault = HttpError(status=500, page="nginx")
    with begin(scenario=scenario(fault, Trigger(every=3))) as lane:
        each, descriptors = grown(lane, ask, 3000, 5000)
    # The last connections may not be over yet, the client's and the site's.
    assert descriptors <= 2
    assert each < 100


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
    assert each < 1000


def bomb_behind_a_page() -> Answer:
    """An answer of 600 kB that looks like a page, and decodes to 200 MiB more."""
    coder = zstandard.ZstdCompressor(level=1).compressobj()
    page = coder.compress(b"<head><title>a</title>" + os.urandom(300_000).hex().encode())
    zeros = b"".join(coder.compress(bytes(1 << 20)) for _ in range(200)) + coder.flush()
    kinds = [(b"content-type", b"text/html"), (b"content-encoding", b"zstd")]
    return Answer(headers=kinds, body=page + zeros)


BOMBED = scenario(Popup(), match={"url": "*/bomb"})


def read_all(proxy: str, url: str) -> None:
    with (
        httpx.Client(proxy=proxy, timeout=60) as client,
        client.stream("GET", url, headers={"sec-fetch-dest": "document"}) as answer,
    ):
        assert sum(map(len, answer.iter_raw())) > 200 << 20


def test_a_bomb_behind_a_page_takes_little_and_holds_up_nobody(begin: Begin, plain: Origin) -> None:
    plain.routes["/bomb"] = bomb_behind_a_page()
    site = f"http://127.0.0.1:{plain.port}"
    with begin(scenario=BOMBED) as lane, httpx.Client(proxy=lane.url) as client:
        bomb = Process(target=read_all, args=(lane.url, f"{site}/bomb"))
        memory = allocated(lane.proxy.pid)
        bomb.start()
        most, answers = 0, 0
        while bomb.is_alive():
            assert client.get(f"{site}/other").status_code == 200
            most, answers = max(most, allocated(lane.proxy.pid)), answers + 1
        assert bomb.exitcode == 0
        assert lane.proxy.broken is None
    assert [it.reason for it in lane.events(FaultMissed)] == ["decompression_bomb"]
    assert answers > 20
    assert most - memory < 64 << 20


def test_a_bomb_that_its_client_does_not_read_is_not_kept_in_memory(
    begin: Begin, ca: CertificateAuthority, secure_h2: Origin
) -> None:
    secure_h2.routes["/bomb"] = bomb_behind_a_page()
    at, trusted = ("localhost", secure_h2.port), ca.certificate
    document = [("sec-fetch-dest", "document")]
    with (
        begin(scenario=BOMBED) as lane,
        secure(lane.port, *at, trusted, "h2") as stalled,
        secure(lane.port, *at, trusted, "h2") as other,
    ):
        memory = allocated(lane.proxy.pid)
        H2Client(stalled, "localhost", window=2**17).ask("/bomb", headers=document)
        client = H2Client(other, "localhost")
        while not any(it.target == "/bomb" for it in secure_h2.seen):
            client.wait(client.ask("/other"))
        for _ in range(100):
            assert client.wait(client.ask("/other")).status == 200
        assert allocated(lane.proxy.pid) - memory < 64 << 20
        assert lane.proxy.broken is None
