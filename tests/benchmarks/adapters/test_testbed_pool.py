"""A testbed may serve many trials, and none of them meets another's traces."""

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from warex.benchmarks.adapters.testbed_pool import TestbedPool, own_testbed
from warex.proxy.certificates.ca import ensure_ca
from warex_testbed.sites import HOSTS

pytestmark = pytest.mark.wire

HOST = "calendar.warex.test"


@pytest.fixture
def pool() -> Iterator[TestbedPool]:
    with TestbedPool() as made:
        yield made


def asked(port: int, method: str, path: str, host: str = "127.0.0.1") -> Any:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    request.add_header("Host", host)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=30).close()
    except ConnectionRefusedError:
        return False
    return True


def test_the_next_trial_gets_the_same_testbed_without_a_trace_of_the_last(
    pool: TestbedPool,
) -> None:
    with pool.acquire(None) as first:
        before = asked(first["admin_port"], "GET", "/state")
        asked(first["port"], "DELETE", "/api/events/1", HOST)
        visitor = socket.create_connection(("127.0.0.1", first["port"]), timeout=30)
        visitor.sendall(f"HEAD / HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
        assert visitor.recv(65536)
        assert asked(first["admin_port"], "GET", "/state") != before
    with pool.acquire(None) as second, visitor:
        assert second == first
        assert asked(second["admin_port"], "GET", "/state") == before
        assert asked(second["admin_port"], "GET", "/health")["requests"] == 0
        assert visitor.recv(1) == b""


def test_trials_at_the_same_time_have_testbeds_of_their_own(pool: TestbedPool) -> None:
    with ThreadPoolExecutor(2) as lanes, pool.acquire(None) as one:

        def other() -> int:
            with pool.acquire(None) as answer:
                return int(answer["port"])

        ports = {*lanes.map(lambda _: other(), range(1)), one["port"]}
    assert len(ports) == 2


def test_a_testbed_that_died_is_replaced(pool: TestbedPool, tmp_path: Path) -> None:
    with pool.acquire(None) as first:
        children = Path("/proc/self/task").glob("*/children")
        for pid in (pid for listed in children for pid in listed.read_text().split()):
            if b"warex_testbed" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(int(pid), signal.SIGKILL)
    with pool.acquire(None) as second:
        assert second["port"] != first["port"]
        assert asked(second["admin_port"], "GET", "/health") == {"ok": True, "requests": 0}


def test_every_testbed_ends_with_the_pool_even_after_an_error() -> None:
    ports = []

    def broken() -> None:
        with TestbedPool() as pool, pool.acquire(None) as one, pool.acquire(None) as other:
            ports.extend([one["port"], other["port"]])
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        broken()
    assert len(set(ports)) == 2
    assert not any(map(listens, ports))


def test_every_testbed_ends_with_a_killed_process() -> None:
    code = (
        "import sys, warex.benchmarks.adapters.testbed_pool as p\n"
        "pool = p.TestbedPool()\n"
        "with pool.acquire(None) as said:\n"
        "    print(said['port'], flush=True)\n"
        "    sys.stdin.read()\n"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        with socket.create_connection(("127.0.0.1", port), timeout=10) as pending:
            process.kill()
            # The testbed's end, by which the connection that it holds ends.
            with suppress(ConnectionResetError):
                assert pending.recv(1) == b""
    assert not listens(port)


@pytest.mark.slow
def test_one_certificate_is_good_for_every_site(tmp_path: Path) -> None:
    ca = ensure_ca(tmp_path)
    trust = ssl.create_default_context(cafile=ca.certificate)
    with own_testbed(ca) as answer:
        for host in HOSTS:
            plain = socket.create_connection(("127.0.0.1", answer["port"]), timeout=30)
            with trust.wrap_socket(plain, server_hostname=host) as secured:
                connection = http.client.HTTPConnection(host)
                connection.sock = secured
                connection.request("GET", "/")
                assert connection.getresponse().status == 200


def test_a_tls_testbed_is_not_reused_behind_the_proxy(pool: TestbedPool, tmp_path: Path) -> None:
    ca = ensure_ca(tmp_path)
    with pool.acquire(ca) as direct:
        pass
    with pool.acquire(None) as plain:
        assert plain["port"] != direct["port"]
    with pool.acquire(ca) as again:
        assert again == direct
