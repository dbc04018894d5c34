"""What goes wrong on a namespace's loopback is said, with what helps; what goes well is not."""

import errno
import os
import socket
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.process import finished
from tests.fetch import FETCH
from warex.sandbox.namespace.loopback import LoopbackMonitor

pytestmark = pytest.mark.wire


class FailingLog:
    """A log of refusals whose every read fails."""

    def __init__(self, number: int) -> None:
        self.number, self.reads = number, 0

    def setblocking(self, flag: bool) -> None: ...

    def recv(self, size: int) -> bytes:
        self.reads += 1
        raise OSError(self.number, "it fails")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("number", "most"),
    [(errno.EBADF, 1), (errno.ENODEV, 1), (errno.EAGAIN, 1), (errno.ENOBUFS, 1000)],
)
def test_a_log_that_fails_for_good_holds_nobody_up(number: int, most: int) -> None:
    log: Any = FailingLog(number)
    monitor = LoopbackMonitor(log, os.getpid(), ())

    assert list(monitor.poll()) == []
    assert log.reads == most


# The port is put together, so that it is not let through for being named in the command line.
ASK = """
import socket, sys
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()
    print("answered")
except ConnectionRefusedError:
    print("refused")
"""
SERVE = """
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    import time
    asking = socket.create_connection(server.getsockname())
    server.accept()[0].close()
    asking.close()
    time.sleep(2)
"""


@pytest.fixture(autouse=True)
def authority(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAREX_CA_DIR", str(tmp_path_factory.getbasetemp() / "loopback-ca"))


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def ran(code: str, port: int, *options: str) -> tuple[str, str]:
    """Return what the command printed and what WAREX said."""
    line = (*options, "--isolate", "namespace", "--", sys.executable, "-c", code, port)
    done = finished("exec", *line)
    return done.stdout.strip(), done.stderr


def test_a_refused_host_port_is_reported_and_auto_allows_it(
    listener: socket.socket,
) -> None:
    port = listener.getsockname()[1]

    printed, text = ran(ASK, port)
    assert printed == "refused"
    assert text.count(f"localhost:{port} was asked for and refused") == 1
    assert f"add --host-ports {port} (or --host-ports auto" in text
    # The last line stands below whatever the command has printed.
    assert text.splitlines()[-1].endswith(f"run it again with --host-ports {port}")

    printed, text = ran(ASK, port, "--host-ports", "auto")
    assert (printed, text) == ("answered", "")


@pytest.mark.slow
def test_the_other_address_of_a_port_that_is_let_through_is_not_said(
    listener: socket.socket,
) -> None:
    port = listener.getsockname()[1]
    by_name = """
import socket, sys, time
try:
    socket.create_connection(("::1", int(sys.argv[1])))
except OSError:
    print(bool(socket.create_connection(("127.0.0.1", int(sys.argv[1])))))
time.sleep(1.5)
"""

    assert ran(by_name, port, "--host-ports", str(port)) == ("True", "")


@pytest.mark.slow
def test_a_refused_port_that_nobody_has_is_not_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    assert ran(ASK, port) == ("refused", "")


@pytest.mark.slow
def test_a_site_that_the_command_starts_itself_is_said_to_be_missed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    message = ran(SERVE, port)[1]
    assert f"services of its own: localhost:{port} (python" in message
    assert f"add --host-ports {port}, or, for what browsers ask for, use --isolate env" in message


@pytest.mark.slow
def test_a_command_that_listens_on_a_host_port_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    code = "import socket, sys, time; s = socket.create_server(('', int(sys.argv[1])));"

    message = ran(f"{code} time.sleep(1)", port, "--host-port", str(port))[1]
    assert f"port {port} is let through to this machine, so the server" in message


@pytest.mark.slow
def test_a_service_that_is_asked_for_before_it_listens_is_nobodys_mistake(
    listener: socket.socket,
) -> None:
    port = listener.getsockname()[1]

    message = ran(f"{ASK}\n{SERVE}", port)[1]
    assert "was asked for and refused" not in message


@pytest.mark.slow
def test_what_drives_a_browser_is_not_a_site() -> None:
    chromedriver = "import subprocess, time, urllib.request as r; p = subprocess.Popen("
    chromedriver += "['chromedriver', '--port=9519']); time.sleep(2);"
    chromedriver += "r.urlopen('http://127.0.0.1:' + '9519/status').read(); p.terminate()"

    assert "services of its own" not in ran(chromedriver, 1)[1]


def test_the_listed_ports_are_let_through(listener: socket.socket) -> None:
    port = listener.getsockname()[1]

    assert ran(ASK, port, "--host-ports", f"{port},1")[0] == "answered"
    done = finished("exec", "--host-ports", "8000,x", "--", *FETCH)
    assert done.returncode == 2
    assert "'8000,x' names no ports: give numbers from 1 to 65535" in done.stderr
