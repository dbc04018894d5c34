"""A late proxy is not a fault of the site: what was asked before is answered, or the trial void."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import Warex
from tests.cli.process import finished
from warex.traces import Unscored, Void, read_outcome

pytestmark = pytest.mark.wire

_LATE = """
import os, sys, time

def sleep():
    time.sleep(float(os.environ.get("FORKSERVER_SLEEPS", 0)))
    while not os.path.exists(os.environ.get("FORKSERVER_AWAITS", "/")):
        time.sleep(0.01)

if any("forkserver" in argument for argument in sys.orig_argv):
    sleep()
elif "exec" in sys.orig_argv:
    # The proxy is a copy of the command's own process.
    os.register_at_fork(after_in_child=sleep)
"""
_ASK = """
import http.client, json, os, socket, ssl, sys
from concurrent.futures import ThreadPoolExecutor

NAME, TYPES = "site.warex.test", {"A": 1, "TXT": 16, "AAAA": 28, "SRV": 33, "HTTPS": 65}

def question(kind):
    labels = b"".join(bytes([len(it)]) + it.encode() for it in NAME.split("."))
    return b"\\0\\7\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0" + labels + b"\\0" + kind.to_bytes(2) + b"\\0\\1"

def by_tcp(kind):
    with socket.create_connection(("192.0.2.53", 53)) as resolver:
        asked = question(kind)
        resolver.sendall(len(asked).to_bytes(2) + asked)
        size = int.from_bytes(resolver.recv(2, socket.MSG_WAITALL))
        return resolver.recv(size, socket.MSG_WAITALL)[3] & 15

def by_udp(kind):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as resolver:
        resolver.settimeout(3)
        resolver.sendto(question(kind), ("192.0.2.53", 53))
        answer = resolver.recv(512)
        return by_tcp(kind) if answer[2] & 2 else answer[3] & 15

def system():
    return len(socket.getaddrinfo(NAME, 443, type=socket.SOCK_STREAM)) > 0

def page(connection):
    connection.request("GET", "/")
    return connection.getresponse().status

def http_page():
    return page(http.client.HTTPConnection(NAME))

def https_page():
    return page(http.client.HTTPSConnection(NAME, context=ssl.create_default_context()))

def loopback():
    return page(http.client.HTTPConnection("127.0.0.1", int(sys.argv[1])))

def tunnel():
    with socket.create_connection(("203.0.113.9", 3128)) as proxy:
        proxy.sendall(f"CONNECT {NAME}:443 HTTP/1.1\\r\\nHost: {NAME}:443\\r\\n\\r\\n".encode())
        return int(proxy.recv(100).split()[1])

with ThreadPoolExecutor(20) as pool:
    work = {f"{how.__name__} {name}": pool.submit(how, kind)
            for how in (by_udp, by_tcp) for name, kind in TYPES.items()}
    work |= {it.__name__: pool.submit(it)
             for it in (system, http_page, https_page, loopback, tunnel)}
    print(json.dumps({name: future.result() for name, future in work.items()}))
"""
_RIGHT = {
    **{f"{way} {kind}": 0 for way in ("by_udp", "by_tcp") for kind in ("A", "TXT", "AAAA")},
    **{f"{way} {kind}": 0 for way in ("by_udp", "by_tcp") for kind in ("SRV", "HTTPS")},
    "system": True,
    **dict.fromkeys(("http_page", "https_page", "loopback", "tunnel"), 200),
}


@pytest.fixture
def late(tmp_path: Path) -> dict[str, str]:
    """An environment in which the proxy's process sleeps, or awaits a file, before it loads."""
    folder = tmp_path / "late"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_LATE)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": path, "WAREX_CA_DIR": str(tmp_path / "ca")}


@contextmanager
def _site() -> Iterator[int]:
    """A site that answers every connection with an empty page."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client:
                    client.recv(65536)
                    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("seconds", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_requests_before_the_proxy_serves_are_answered_later(
    seconds: int, late: dict[str, str], tmp_path: Path
) -> None:
    with _site() as port:
        to = f"http://127.0.0.1:{port}"
        done = finished(
            *("exec", "--out", tmp_path / "out", "--host-ports", port),
            *("--map", f"https://site.warex.test={to}", "--map", f"http://site.warex.test={to}"),
            *("--", sys.executable, "-c", _ASK, port),
            environment={**late, "FORKSERVER_SLEEPS": str(seconds)},
        )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == _RIGHT
    assert isinstance(read_outcome(tmp_path / "out"), Unscored)


_AT_ONCE = "import socket; print(socket.gethostbyname('site.warex.test'))"


@pytest.mark.slow
def test_an_early_lookup_is_answered_on_a_busy_machine(
    late: dict[str, str],
) -> None:
    busy = [sys.executable, "-c", "while True: pass"]
    with ExitStack() as stack:
        for _ in range(2 * (os.cpu_count() or 1)):
            stack.callback(stack.enter_context(subprocess.Popen(busy)).kill)
        for _ in range(4):
            done = finished(
                *("exec", "--map", "http://site.warex.test=http://127.0.0.1:9"),
                *("--", sys.executable, "-S", "-E", "-c", _AT_ONCE),
                environment={**late, "FORKSERVER_SLEEPS": "0"},
            )
            assert (done.returncode, done.stdout.count(".")) == (0, 3), done.stderr


_IMPATIENT = """
import pathlib, socket, sys
with socket.create_connection(("203.0.113.9", 443), timeout=1) as site:
    site.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
    try:
        print(site.recv(4))
    except TimeoutError:
        pass
pathlib.Path(sys.argv[1]).touch()
"""


@pytest.mark.slow
@pytest.mark.parametrize("out", [True, False])
def test_a_client_that_gave_up_meanwhile_voids_the_trial(
    out: bool,
    late: dict[str, str],
    tmp_path: Path,
    warex: Warex,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "gone"
    for name, value in {**late, "FORKSERVER_AWAITS": str(path)}.items():
        monkeypatch.setenv(name, value)
    # However slow this machine is, the command does not wait for the proxy.
    monkeypatch.setattr("warex.cli.intercept.exec._READY_SECONDS", 300)

    done = warex(
        *("exec", *(("--out", tmp_path / "out") if out else ())),
        *("--", sys.executable, "-c", _IMPATIENT, path),
    )

    assert done.code == 1, done.err
    assert re.search(r"the proxy was late: a client waited [1-9]\d*\.\d s for ", done.err)
    if out:
        assert isinstance(read_outcome(tmp_path / "out"), Void)
