"""What makes a namespace: what it sees of the host, what it may, what it loads."""

import json
import marshal
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.support.users import CALLER, folder_of, python_as
from warex.sandbox.namespace.launcher import _START

_LIMITED = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
for capability in (12, 21):  # CAP_NET_ADMIN, CAP_SYS_ADMIN, as in a container
    libc.prctl(24, capability, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-c", sys.argv[1]])
"""
_SEE = """
import json, os
from tests.fetch import FETCH
from tests.sandbox.support.fake_proxy import open_fake_network
from warex.proxy.certificates.ca import ensure_ca
def mask(text): return next(line.split()[1] for line in text.splitlines() if "CapEff" in line)
with open_fake_network(ensure_ca(), os.environ) as inside:
    visible = mask(inside.run("cat", "/proc/self/status")[1])
    flush = inside.run(FETCH[0], "-c", "import os; os.unshare(os.CLONE_NEWNET)")[0]
    fetched = inside.run(*FETCH, "http://192.0.2.77/")
print(json.dumps([mask(open("/proc/self/status").read()), visible, flush, fetched]))
"""


@pytest.mark.wire
def test_root_who_may_not_unshare_gets_no_more_inside_than_outside() -> None:
    code = f"import sys; sys.argv[1:] = [{_SEE!r}]\n{_LIMITED}"
    with folder_of(CALLER) as folder:
        ran = python_as(CALLER, code, folder)

    assert ran.returncode == 0, ran.stderr
    here, document, unshared, fetched = json.loads(ran.stdout)
    assert int(document, 16) & ~int(here, 16) == 0
    assert unshared != 0
    assert fetched == [0, "hello"]


@pytest.mark.wire
def test_the_inside_loads_nothing_that_takes_long() -> None:
    code = (
        "import sys; sys.path.append(sys.argv[1]);"
        " import warex.sandbox.namespace.setup; print(*sys.modules)"
    )
    source = Path(__file__).parents[3] / "src"
    loaded = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(source)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()

    ours = {name for name in loaded if name.startswith("warex")}
    assert ours == {
        "warex",
        "warex.linux",
        "warex.linux.netlink",
        "warex.linux.nftables",
        "warex.linux.proc_net",
        "warex.linux.seccomp",
        "warex.linux.syscalls",
        "warex.sandbox",
        "warex.sandbox.namespace",
        "warex.sandbox.namespace.init_process",
        "warex.sandbox.namespace.setup",
        "warex.sandbox.namespace.bind_mounts",
        "warex.linux.rtnetlink",
    }
    assert not {"asyncio", "dataclasses", "subprocess", "json", "logging", "site"} & set(loaded)


@pytest.mark.wire
def test_the_setup_ends_without_its_owner() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    plan = os.memfd_create("plan")
    empty: dict[str, object] = {
        "host_ports": [],
        "files": [],
        "layers": [],
        "hidden": [],
        "mount_point": None,
    }
    os.write(plan, marshal.dumps({**empty, "data": None}))
    os.lseek(plan, 0, os.SEEK_SET)
    source = str(Path(__file__).parents[3] / "src")
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _START, source, str(theirs.fileno()), str(plan)],
        pass_fds=(theirs.fileno(), plan),
        stderr=subprocess.PIPE,
        text=True,
    ) as maker:
        theirs.close()
        ours.close()
        os.close(plan)
        assert maker.stderr is not None
        assert maker.stderr.read() == ""
        assert maker.wait(20) == 0
