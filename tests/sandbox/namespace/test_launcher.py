"""A command in a namespace: who it is, what it may, how it ends, and that nothing is left."""

import json
import os
import select
import shlex
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.fetch import FETCH
from tests.sandbox.support.fake_proxy import FakeNetwork, open_fake_network
from tests.sandbox.support.users import (
    LAST,
    USERS,
    User,
    command_as,
    environment_of,
    folder_of,
    python_as,
)
from warex.errors import MachineError
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca
from warex.sandbox.namespace import launcher as namespace_module
from warex.sandbox.namespace.launcher import CommandNotStarted, open_namespace

pytestmark = pytest.mark.wire


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return ensure_ca(tmp_path_factory.mktemp("authority") / "ca")


@pytest.fixture(scope="module")
def inside(ca: CertificateAuthority) -> Iterator[FakeNetwork]:
    with open_fake_network(ca, os.environ) as network:
        yield network


# ---- whoever starts it

_LOOK = """
import json, os
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
print(json.dumps({
    "user": os.getuid(), "home": os.environ.get("HOME"), "folder": os.getcwd(),
    "may": status["CapEff"],
    "handles": sorted(map(int, os.listdir("/proc/self/fd")))[:-1],
    "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdecimal()),
    "network": os.readlink("/proc/self/ns/net"), "session": os.getsid(0) == os.getpid(),
}))
"""
_SEE = f"""
import json, os, sys
from tests.fetch import FETCH
from tests.sandbox.support.fake_proxy import open_fake_network
from warex.proxy.certificates.ca import ensure_ca
with open_fake_network(ensure_ca(), os.environ) as inside:
    code, output = inside.run(sys.executable, "-I", "-S", "-c", {_LOOK!r})
    hosts = ("93.184.216.34", "[2001:db8::7]", "shop.test")
    answers = [inside.run(*FETCH, f"http://{{host}}/") for host in hosts]
    signals = inside.run("grep", "Sig[BI]", "/proc/self/status")[1].split()[1::2]
    print(json.dumps([{{**json.loads(output), "signals": signals}}, answers, inside.reached]))
here = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
print(json.dumps({{
    "may": here["CapEff"], "user": os.getuid(), "folder": os.getcwd(),
    "network": os.readlink("/proc/self/ns/net"), "ignored": here["SigIgn"],
}}))
"""


@pytest.fixture(scope="module", params=LAST, ids=str)
def seen(request: pytest.FixtureRequest) -> list[object]:
    """What a user sees inside; what comes back and where it went; and the same user outside."""
    who: User = request.param
    with folder_of(who) as folder:
        ran = python_as(who, _SEE, folder)
    assert ran.returncode == 0, ran.stderr
    first, second = ran.stdout.splitlines()
    return [*json.loads(first), json.loads(second)]


def test_all_that_a_command_sends_arrives_outside(seen: list[object]) -> None:
    _, answers, reached, _ = seen

    assert answers == [[0, "hello"]] * 3
    assert reached == [["93.184.216.34", 80], ["2001:db8::7", 80], ["198.18.0.7", 80]]


def test_a_command_is_who_started_it_and_where(seen: list[dict[str, object]]) -> None:
    existing, _, _, here = seen

    assert existing["user"] == here["user"]
    assert existing["folder"] == here["folder"]
    assert existing["network"] != here["network"]


def test_a_command_may_no_more_than_outside(seen: list[dict[str, str]]) -> None:
    existing, _, _, here = seen

    assert int(existing["may"], 16) & ~int(here["may"], 16) == 0


def _bits(*signals: int) -> int:
    return sum(1 << number - 1 for number in signals)


def test_a_command_starts_with_its_streams_its_signals_and_nothing_else(
    seen: list[dict[str, Any]],
) -> None:
    existing, *_, here = seen

    assert existing["handles"] == [0, 1, 2]
    blocked, ignored = (int(word, 16) for word in existing["signals"])
    assert blocked == 0
    # What Python ignores is not inherited; what the caller ignores, is. Signals 32 and 33
    # are the C library's own, which no program can set.
    pythons, libcs = _bits(signal.SIGPIPE, signal.SIGXFSZ), _bits(32, 33)
    assert ignored & ~libcs == int(here["ignored"], 16) & ~(libcs | pythons)
    assert existing["session"] is True


def test_a_command_sees_the_processes_of_its_namespace_only(
    seen: list[dict[str, list[int]]],
) -> None:
    assert seen[0]["processes"][0] == 1
    assert len(seen[0]["processes"]) == 2


def test_below_its_processes_are_not_the_hosts(inside: FakeNetwork) -> None:
    # Root could enter the host's network by them (nsenter); others may not take /proc off at all.
    looking = "umount /proc; nsenter --net=/proc/$0/ns/net true && echo out; ls /proc"

    message = inside.run("sh", "-c", looking, str(os.getpid()))[1]

    assert "out" not in message.split()
    assert str(os.getpid()) not in message.split()


# ---- how it starts and ends


def test_the_process_id_is_the_outer_one(inside: FakeNetwork) -> None:
    command = inside.start("sleep", "100")

    assert Path(f"/proc/{command.pid}/cmdline").read_bytes() == b"sleep\x00100\x00"
    command.signal(signal.SIGTERM)
    assert command.wait(10) == -signal.SIGTERM


def test_a_command_may_keep_the_callers_session(ca: CertificateAuthority) -> None:
    with open_namespace(ca, own_session=False) as made:
        command = made.start(["sleep", "100"], dict(os.environ), stdin=0, stdout=1, stderr=2)
        assert os.getsid(command.pid) == os.getsid(0)
        assert os.getpgid(command.pid) == os.getpgid(0)
        command.signal(signal.SIGKILL)
        command.wait(10)


def test_a_namespace_made_in_a_thread_outlives_the_thread(ca: CertificateAuthority) -> None:
    made = open_namespace(ca)
    inputs = []
    thread = threading.Thread(target=lambda: inputs.append(made.__enter__()))
    thread.start()
    thread.join()
    try:
        command = inputs[0].start(["true"], dict(os.environ), stdin=0, stdout=1, stderr=2)
        assert command.wait(10) == 0
    finally:
        made.__exit__(None, None, None)


# ---- its end, and that nothing is left


def alive(process: int) -> bool:
    try:
        return b") Z" not in Path(f"/proc/{process}/stat").read_bytes()
    except OSError:
        return False


def wait_until_gone(*processes: int) -> None:
    for process in processes:
        try:
            handle = os.pidfd_open(process)
        except ProcessLookupError:
            continue
        with open(handle, closefd=True):
            assert select.select([handle], [], [], 10)[0], f"{process} is still there"


def test_what_is_left_behind_is_asked_to_end_then_ended(ca: CertificateAuthority) -> None:
    with open_fake_network(ca, os.environ) as network:
        polite = network.start("sh", "-c", "trap 'exit 5' TERM; while :; do sleep 0.01; done")
        out, into = os.pipe()
        with open(out, "rb") as stream:
            network.namespace.start(
                ["sh", "-c", "setsid sleep 100 & echo $!"],
                network.environment,
                stdin=0,
                stdout=into,
                stderr=2,
            ).wait(10)
            os.close(into)
            assert stream.readline()
    assert polite.wait(10) in (5, -signal.SIGTERM)
    assert not alive(polite.pid)


_HOLD = """
import os, sys
from warex.proxy.certificates.ca import ensure_ca
from warex.sandbox.namespace.launcher import open_namespace
with open_namespace(ensure_ca()) as made:
    script = "setsid sleep 1000 & trap '' TERM INT HUP; while :; do sleep 1000; done"
    variables = made.environment(os.environ).variables
    command = made.start(["sh", "-c", script], variables, stdin=0, stdout=2, stderr=2)
    print(os.getpid(), command.pid, os.readlink(f"/proc/{command.pid}/ns/net"), flush=True)
    code = command.wait()
    print("ended", code, flush=True)
print("over", flush=True)
"""


def children(process: int) -> list[int]:
    return [
        int(child)
        for task in Path(f"/proc/{process}/task").iterdir()
        for child in (task / "children").read_text().split()
    ]


def holders(network: str) -> list[int]:
    """Return the processes that are in a network namespace."""
    results = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                if os.readlink(process / "ns/net") == network:
                    results.append(int(process.name))
            except OSError:
                continue
    return results


VICTIMS = ("owner", "maker", "first", "command")
QUICK = {("owner", USERS[0]), ("first", USERS[-1])}
"""The quick tier kills from outside and from inside."""


@pytest.mark.parametrize(
    ("victim", "who"),
    [
        pytest.param(
            *pair, id=f"{pair[0]}-{pair[1]}", marks=() if pair in QUICK else pytest.mark.slow
        )
        for pair in product(VICTIMS, USERS)
    ],
)
def test_killing_any_process_leaves_nothing_behind(who: User, victim: str) -> None:
    with folder_of(who) as folder, ExitStack() as pending:
        with subprocess.Popen(
            command_as(who, ["-c", _HOLD]),
            env=environment_of(who, folder),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        ) as owner:
            try:
                assert owner.stdout is not None
                numbers = owner.stdout.readline().split()
                command, network = int(numbers[1]), numbers[2]
                # Held open, or its number might be that of the next namespace that anybody makes.
                pending.enter_context(Path(f"/proc/{command}/ns/net").open("rb"))
                (maker,) = (child for child in children(owner.pid) if children(child))
                (first,) = children(maker)
                inside = holders(network)
                assert {maker, first, command} <= set(inside)
                victims = {"owner": owner.pid, "maker": maker, "first": first, "command": command}
                os.kill(victims[victim], signal.SIGKILL)
                if victim != "owner":
                    output, _ = owner.communicate(timeout=30)
                    assert output.splitlines() == ["ended -9", "over"]
                wait_until_gone(*inside, owner.pid)
                owner.wait(10)
            finally:
                owner.kill()
        assert holders(network) == []
        left = {str(path.relative_to(folder)) for path in folder.rglob("*")}
        assert not [name for name in left if not name.startswith(("ca", "home"))]
        assert not [name for name in left if name.startswith("home/")]


@pytest.mark.slow
def test_concurrent_namespaces_do_not_interfere(
    ca: CertificateAuthority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    all_there = threading.Barrier(16, timeout=60)

    def one(number: int) -> tuple[int, str]:
        with open_fake_network(ca, os.environ) as network:
            all_there.wait()
            fetch = shlex.join((*FETCH, f"http://192.0.2.{number + 10}/"))
            return network.run("sh", "-c", f"{fetch}; ls ~/.pki/nssdb")

    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(one, range(16)))

    assert {code for code, _ in answers} == {0}
    assert all(message.startswith("hello") and "cert9.db" in message for _, message in answers)
    assert list(tmp_path.iterdir()) == []


def test_a_command_whose_namespace_is_killed_as_it_begins_has_begun(
    ca: CertificateAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have spoken before the namespace's first process said that it was started."""
    heard = namespace_module._receive

    def killed_before_it_reported(line: socket.socket) -> tuple[Any, int]:
        message, sender = heard(line)
        if message == ("process",):
            status = Path(f"/proc/{sender}/status").read_text()
            starter.append(int(status.partition("PPid:")[2].split()[0]))
        if message == ("started",):
            os.kill(starter[0], signal.SIGKILL)
            return heard(line)
        return message, sender

    starter: list[int] = []
    with open_fake_network(ca, os.environ) as network:
        monkeypatch.setattr(namespace_module, "_receive", killed_before_it_reported)
        command = network.start("sleep", "600")
        monkeypatch.undo()

        assert command.wait(30) == -signal.SIGKILL
        assert "has gone" in str(network.namespace.died())


def test_no_handle_is_left_open(ca: CertificateAuthority) -> None:
    def handles() -> int:
        return len(os.listdir("/proc/self/fd"))

    with open_fake_network(ca, os.environ) as network:
        network.run("true")
    before = handles()
    for _ in range(3):
        with open_fake_network(ca, os.environ) as network:
            network.run("true")
            with pytest.raises(CommandNotStarted):
                network.start("no-such-program")

    assert handles() == before


# ---- where it is refused


def test_a_machine_that_allows_no_user_namespaces_says_what_helps() -> None:
    who = USERS[-1]
    refuse = (
        "import os, sys\n"
        "user, group = os.getuid(), os.getgid()\n"
        "os.unshare(os.CLONE_NEWUSER)\n"
        "for name, text in (('setgroups', 'deny'), ('uid_map', f'{user} {user} 1'),"
        " ('gid_map', f'{group} {group} 1')):\n"
        "    open(f'/proc/self/{name}', 'w').write(text)\n"
        "open('/proc/sys/user/max_user_namespaces', 'w').write('0')\n"
        "os.execv(sys.executable, [sys.executable, '-c', sys.argv[1]])\n"
    )
    make = (
        "from warex.errors import MachineError\n"
        "from warex.proxy.certificates.ca import ensure_ca\n"
        "from warex.sandbox.namespace.launcher import open_namespace\n"
        "try:\n"
        "    with open_namespace(ensure_ca()): print('made')\n"
        "except MachineError as error: print(error)\n"
    )
    with folder_of(who) as folder:
        ran = python_as(who, refuse.replace("sys.argv[1]", repr(make)), folder)

    assert "user.max_user_namespaces is 0" in ran.stdout, ran
    assert "sysctl -w user.max_user_namespaces=15000" in ran.stdout


_MASKED = """
import ctypes, os
from warex.errors import MachineError
from warex.proxy.certificates.ca import ensure_ca
from warex.sandbox.namespace.launcher import open_namespace
libc = ctypes.CDLL(None)
user, group = os.getuid(), os.getgid()
os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNS)
for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"),
                   ("gid_map", f"{group} {group} 1")):
    open(f"/proc/self/{name}", "w").write(text)
assert libc.mount(b"mask", b"/proc/fs", b"tmpfs", ctypes.c_ulong(0), None) == 0
try:
    with open_namespace(ensure_ca()):
        print("made")
except MachineError as error:
    print(error)
print("pki" if os.path.exists(os.path.expanduser("~/.pki")) else "clean")
"""


def test_a_hidden_proc_is_reported_with_a_remedy() -> None:
    with folder_of(USERS[-1]) as folder:
        ran = python_as(USERS[-1], _MASKED, folder)

    assert "/proc could not be mounted" in ran.stdout, ran
    assert "--security-opt systempaths=unconfined" in ran.stdout
    assert ran.stdout.endswith("clean\n")


def test_where_python_cannot_be_started_it_is_named(
    ca: CertificateAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    with pytest.raises(MachineError, match="/nowhere/python"), open_namespace(ca):
        pass


def test_other_systems_are_refused_with_a_reason(
    ca: CertificateAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")

    with pytest.raises(MachineError, match="needs Linux, and this is darwin"), open_namespace(ca):
        pass
