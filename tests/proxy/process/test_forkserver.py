"""The forkserver: warm, quick, alone, and gone when its owner is."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.proxy.support.lanes import wait_until
from warex.errors import MachineError, ProcessDied
from warex.lane.config import ProxyConfig
from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.process.client import start_proxy
from warex.proxy.process.forkserver import Forkserver, server_environment

pytestmark = pytest.mark.wire

OWNER = """
import sys, time
from pathlib import Path
from warex.lane.config import ProxyConfig
from warex.proxy.process.forkserver import Forkserver, server_environment
from warex.proxy.process.client import start_proxy

print("main", flush=True)
server = Forkserver()
with start_proxy(server, ProxyConfig(ca=Path(sys.argv[1]))) as proxy:
    print(server._process.pid, proxy.pid, flush=True)
    if len(sys.argv) > 2:
        sys.stdin.read()
server.close()
print("end", flush=True)
"""


def owner(ca: CertificateAuthority, tmp_path: Path, *more: str) -> subprocess.Popen[str]:
    program = tmp_path / "program.py"
    program.write_text(OWNER)
    return subprocess.Popen(
        [sys.executable, str(program), str(ca.folder), *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.slow
def test_a_program_without_a_main_guard_runs_once(ca: CertificateAuthority, tmp_path: Path) -> None:
    out, _ = owner(ca, tmp_path).communicate(timeout=60)
    assert [line.split()[0] for line in out.splitlines()][::2] == ["main", "end"]


@pytest.mark.parametrize(
    "how", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_nothing_outlives_an_owner_that_is_killed(
    ca: CertificateAuthority, tmp_path: Path, how: signal.Signals
) -> None:
    with owner(ca, tmp_path, "wait") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "main\n"
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
        os.killpg(process.pid, how)
        process.wait(20)
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


COPY = """
import os, sys
from pathlib import Path
from warex.lane.config import ProxyConfig
from warex.proxy.process.forkserver import Forkserver
from warex.proxy.process.client import start_proxy

config = ProxyConfig(ca=Path(sys.argv[1]))
handle = os.open("/dev/zero", os.O_RDONLY)
server = Forkserver()
server.fork()
copy = server.pid
with start_proxy(server, config) as first:
    assert first.pid == copy
    assert os.getsid(copy) == copy
    assert os.path.realpath(f"/proc/{copy}/fd/0") == "/dev/null"
    targets = {os.path.realpath(each) for each in Path(f"/proc/{copy}/fd").iterdir()}
    assert "/dev/zero" not in targets, targets
    with start_proxy(server, config) as second:
        assert len({copy, server.pid, second.pid}) == 3
        print(copy, server.pid, second.pid, flush=True)
        sys.stdin.read()
assert first.broken is second.broken is None
server.close()
print("end", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, True])
def test_a_copy_of_its_owner_is_the_first_proxy_and_has_only_its_own_files(
    ca: CertificateAuthority, killed: bool
) -> None:
    command = [sys.executable, "-c", COPY, str(ca.folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert len(pids) == 3
        if killed:
            process.kill()
            process.wait(20)
        else:
            out, _ = process.communicate(timeout=30)
            assert out == "end\n"
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


@pytest.mark.slow
def test_a_copy_that_nobody_needed_is_not_waited_for() -> None:
    program = (
        "from warex.proxy.process.forkserver import Forkserver\n"
        "server = Forkserver()\n"
        "server.fork()\n"
        "copy = server._process\n"
        "server.close()\n"
        "print(copy.returncode)\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    # Not by its own end, which comes after it has loaded.
    assert done.stdout == f"{-signal.SIGTERM}\n"


def test_a_forkserver_that_died_is_started_again(ca: CertificateAuthority) -> None:
    server = Forkserver()
    try:
        with start_proxy(server, ProxyConfig(ca=ca.folder)):
            pass
        assert server._process is not None
        first = server._process
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        with start_proxy(server, ProxyConfig(ca=ca.folder)):
            pass
        assert server._process.pid != first.pid
    finally:
        server.close()


def test_a_forkserver_that_cannot_run_is_a_sentence(
    ca: CertificateAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    server = Forkserver()
    try:
        with pytest.raises(MachineError), start_proxy(server, ProxyConfig(ca=ca.folder)):
            pass
    finally:
        server.close()


def test_a_server_that_nobody_needed_is_not_waited_for() -> None:
    server = Forkserver()
    server.ensure_started()
    loading = server._process
    assert loading is not None
    server.close()
    # Not by its own end, which comes after it has loaded.
    assert loading.returncode == -signal.SIGTERM


def test_a_closed_server_is_not_started_again(ca: CertificateAuthority) -> None:
    server = Forkserver()
    server.close()
    with (
        pytest.raises(MachineError, match="was closed before"),
        start_proxy(server, ProxyConfig(ca=ca.folder)),
    ):
        pass
    assert server.pid is None


def test_proxies_of_a_closed_server_still_end_in_good_order(ca: CertificateAuthority) -> None:
    server = Forkserver()
    with start_proxy(server, ProxyConfig(ca=ca.folder)) as proxy:
        server.close()
        assert proxy.call("GET", "/status")["armed"] is True
    assert proxy.broken is None


def test_a_forkserver_killed_during_a_start_is_named_and_restarted(
    ca: CertificateAuthority,
) -> None:
    server = Forkserver()
    try:
        server.ensure_started()
        assert server.pid is not None
        os.kill(server.pid, signal.SIGSTOP)
        threading.Timer(0.2, os.kill, (server.pid, signal.SIGKILL)).start()
        with (
            pytest.raises(ProcessDied, match="forkserver was ended by SIGKILL"),
            start_proxy(server, ProxyConfig(ca=ca.folder)),
        ):
            pass
        with start_proxy(server, ProxyConfig(ca=ca.folder)) as proxy:
            assert proxy.call("GET", "/status")["armed"] is True
    finally:
        server.close()


def test_the_thread_cache_of_malloc_is_off_unless_the_user_sets_it() -> None:
    default = "glibc.malloc.tcache_count=0"

    assert server_environment({"A": "b"}) == {"A": "b", "GLIBC_TUNABLES": default}
    own = "glibc.malloc.tcache_count=7"
    assert server_environment({"GLIBC_TUNABLES": own}) == {"GLIBC_TUNABLES": f"{default}:{own}"}
    assert server_environment({"GLIBC_TUNABLES": ""})["GLIBC_TUNABLES"] == default
