"""The rules in force, in a network namespace of their own: who is captured, and that nothing stays.

Needs root, iptables, nft, ip, curl and util-linux.
"""

import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.sandbox.network import Network, network
from warex.errors import MachineError
from warex.sandbox.iptables import firewall
from warex.sandbox.iptables.firewall import applied_redirect, apply, choose_backend, revert
from warex.sandbox.iptables.rules import RedirectSpec

pytestmark = [pytest.mark.slow, pytest.mark.wire]

AGENT, SOMEBODY = 65534, 65533
WAREX = (sys.executable, "-m", "warex.cli")
BACKENDS = ("nftables", "iptables")
ANYTHING = RedirectSpec(ports=(80,), proxy_port=8080, user=1)
SITE = """
import socketserver, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("Content-Length", "0"); self.end_headers()
    def log_message(self, *args): pass
class Six(ThreadingHTTPServer): address_family = 10
for server in ThreadingHTTPServer(("127.0.0.1", 7770), Site), Six(("::1", 7770), Site):
    threading.Thread(target=server.serve_forever).start()
print("serves")
"""
ALWAYS = """
name: always
rules: [{name: r, match: {url: "*"}, trigger: {always: true}, fault: {kind: http_error}}]
"""

# Rules of another program, which must be there afterwards as they were.
OTHERS = """\
*filter
:MINE - [0:0]
-A INPUT -p tcp -m tcp --dport 22 -j MINE
-A OUTPUT -p tcp -m tcp --dport 25 -j REJECT
COMMIT
*nat
:DOCKER - [0:0]
-A OUTPUT -p tcp -m tcp --dport 9999 -j DOCKER
-A DOCKER -p tcp -m tcp --dport 9999 -j REDIRECT --to-ports 9998
COMMIT
"""


@pytest.fixture
def net(tmp_path: Path) -> Iterator[Network]:
    with network(WAREX_RUN_DIR=tmp_path / "run", WAREX_CA_DIR=tmp_path / "ca") as made:
        yield made


@pytest.fixture
def always(tmp_path: Path) -> Path:
    """A scenario that hits everything."""
    path = tmp_path / "always.yaml"
    path.write_text(ALWAYS)
    return path


def everything(net: Network) -> str:
    """All the rules there are; the date of the question is not a rule."""
    messages = [net.says(program) for program in ("iptables-save", "ip6tables-save")]
    return re.sub(r"^# .*\n", "", "".join(messages), flags=re.MULTILINE) + net.says(
        "nft", "list", "ruleset"
    )


def warex(net: Network, *arguments: object) -> str:
    """Run `warex iptables …`; return what it said."""
    done = net.run(*WAREX, "iptables", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def serving(net: Network, *command: object, until: str) -> Iterator[None]:
    process = net.start(*command)
    assert process.stdout is not None
    try:
        while until not in (line := process.stdout.readline()):
            assert line, "it ended before it was ready"
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
        process.stdout.close()


def status(net: Network, url: str, user: int) -> str:
    """Fetch a page, as a program that knows no proxy; "000" for no answer."""
    curl = ("curl", "--noproxy", "*", "-sk", "-o", "/dev/null", "-w", "%{http_code}", "-m", 20)
    return net.run(*curl, url, user=user).stdout


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_captured_user_meets_the_fault_and_nobody_else(
    net: Network, tmp_path: Path, always: Path, backend: str
) -> None:
    before = everything(net)
    here, six, tls = "http://127.0.0.1:7770/", "http://[::1]:7770/", "https://127.0.0.1/"
    proxy = (*WAREX, "proxy", "--transparent", "--scenario", always, "--out", tmp_path / "out")

    with serving(net, sys.executable, "-c", SITE, until="serves"):
        warex(net, "apply", "--user", AGENT, "--port", 7770, "--backend", backend)
        # Before the proxy listens, nothing passes by it.
        assert (status(net, here, AGENT), status(net, here, SOMEBODY)) == ("000", "200")
        with serving(net, *proxy, until="trace"):
            assert [status(net, url, AGENT) for url in (here, six, tls)] == ["500"] * 3
            assert [status(net, url, SOMEBODY) for url in (here, six)] == ["200"] * 2
            assert [quic(net, user) for user in (AGENT, SOMEBODY)] == ["refused", "sent"]
        assert warex(net, "revert") == "taken back\n"
        assert status(net, here, AGENT) == "200"

    assert everything(net) == before
    assert list((tmp_path / "run").iterdir()) == []


def quic(net: Network, user: int) -> str:
    done = net.run("bash", "-c", "echo > /dev/udp/127.0.0.1/443", user=user)
    return "refused" if "not permitted" in done.stderr else "sent"


@pytest.mark.parametrize("backend", BACKENDS)
def test_everybody_but_the_proxys_user_is_captured(net: Network, backend: str) -> None:
    with serving(net, sys.executable, "-c", SITE, until="serves"):
        warex(net, "apply", "--all-but", SOMEBODY, "--port", 7770, "--backend", backend)
        users = (AGENT, SOMEBODY, 0)

        assert [status(net, "http://127.0.0.1:7770/", user) for user in users] == [
            "000",
            "200",
            "000",
        ]


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_arrives_by_a_device_is_captured_whoever_sent_it(
    net: Network, always: Path, backend: str
) -> None:
    with network() as container:
        net.says("ip", "link", "add", "br-x", "type", "veth", "peer", "eth", "netns", container.pid)
        for existing, device, end in (net, "br-x", 1), (container, "eth", 2):
            existing.says("ip", "address", "add", f"10.9.0.{end}/24", "dev", device)
            existing.says("ip", "address", "add", f"fd09::{end}/64", "dev", device, "nodad")
            existing.says("ip", "link", "set", device, "up")
        arguments = ("--user", AGENT, "--port", 7770, "--incoming", "br-+", "--backend", backend)
        warex(net, "apply", *arguments)
        proxy = (*WAREX, "proxy", "--transparent", "--host", "0.0.0.0", "--scenario", always)
        with serving(net, *proxy, until="control"):
            urls = "http://10.9.0.1:7770/", "http://[fd09::1]:7770/"
            assert [status(container, url, 0) for url in urls] == ["500", "500"]
            # Who comes straight to the proxy's port is sent away: he was going nowhere.
            assert status(container, "http://10.9.0.1:8080/", 0) == "000"


@pytest.mark.parametrize("backend", BACKENDS)
def test_rules_of_others_stay_as_they_were(net: Network, backend: str) -> None:
    for program in ("iptables-restore", "ip6tables-restore"):
        net.says(program, text=OTHERS)
    before = everything(net)

    arguments = ("--user", AGENT, "--incoming", "br-+", "--incoming", "any", "--backend", backend)
    warex(net, "apply", *arguments)
    assert everything(net) != before
    # Applied twice, it is there once.
    once = everything(net)
    warex(net, "apply", *arguments)
    assert everything(net) == once

    warex(net, "revert")
    assert everything(net) == before
    assert warex(net, "revert") == "nothing of WAREX's was in force\n"


@pytest.mark.parametrize(("first", "then"), [BACKENDS, BACKENDS[::-1]])
def test_the_other_backend_takes_the_first_ones_place(net: Network, first: str, then: str) -> None:
    before = everything(net)
    warex(net, "apply", "--user", AGENT, "--backend", first)
    warex(net, "apply", "--user", SOMEBODY, "--backend", then)

    assert str(AGENT) not in everything(net)
    warex(net, "revert")
    assert everything(net) == before


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_lost_state_file_or_rules_taken_by_hand_are_no_matter(
    net: Network, tmp_path: Path, backend: str
) -> None:
    for program in ("iptables-restore", "ip6tables-restore"):
        net.says(program, text=OTHERS)
    before = everything(net)
    warex(net, "apply", "--user", AGENT, "--backend", backend)
    (state,) = (tmp_path / "run").iterdir()
    state.unlink()
    assert warex(net, "revert") == "taken back\n"
    assert everything(net) == before

    warex(net, "apply", "--user", AGENT, "--backend", backend)
    if backend == "nftables":
        net.says("nft", "delete table inet warex")
    else:
        net.says("iptables", "-t", "nat", "-D", "OUTPUT", "-j", "WAREX_OUTPUT")
    warex(net, "revert")
    assert everything(net) == before


@pytest.mark.parametrize(
    ("program", "means"),
    [("crashed", 'kill -9 "$PPID"'), ("failed", "echo no such module >&2; exit 1")],
)
def test_a_crash_or_a_refusal_in_the_middle_leaves_nothing_for_long(
    net: Network, tmp_path: Path, program: str, means: str
) -> None:
    before = everything(net)
    # IPv4's rules are in force by the time that IPv6's are asked for.
    shim = tmp_path / "bin" / "ip6tables-nft-restore"
    shim.parent.mkdir()
    shim.write_text(f"#!/bin/sh\n{means}\n")
    shim.chmod(0o755)
    path = f"{shim.parent}:{os.environ['PATH']}"
    done = net.run(*WAREX, "iptables", "apply", "--user", AGENT, "--backend", "iptables", PATH=path)

    if program == "crashed":
        assert done.returncode == -signal.SIGKILL
        assert everything(net) != before
        warex(net, "revert")
    else:
        assert done.returncode == 3
        assert "ip6tables-nft-restore refused: no such module" in done.stderr
    assert everything(net) == before


_BROKEN = """#!/bin/sh
count=$(cat {counted} 2>/dev/null || echo 0)
echo $((count + 1)) > {counted}
test "$count" -lt {works} || {{ echo broken >&2; exit 1; }}
exec {program} "$@"
"""


@pytest.mark.parametrize("works", [0, 1, 2])
@pytest.mark.parametrize(
    ("backend", "program"),
    [("nftables", "iptables-legacy-save"), ("nftables", "ip6tables-save"), ("iptables", "nft")],
)
def test_every_failure_undoes_all_firewall_rules(
    net: Network, tmp_path: Path, backend: str, program: str, works: int
) -> None:
    before = everything(net)
    shim = tmp_path / "bin" / program
    shim.parent.mkdir()
    real = shutil.which(program, path="/usr/sbin:/sbin")
    shim.write_text(_BROKEN.format(counted=tmp_path / "count", works=works, program=real))
    shim.chmod(0o755)
    path = f"{shim.parent}:{os.environ['PATH']}"

    done = net.run(*WAREX, "iptables", "apply", "--user", AGENT, "--backend", backend, PATH=path)

    if done.returncode == 0:
        warex(net, "revert")  # It is called less often than that.
    else:
        assert done.returncode == 3
        assert "broken" in done.stderr
    assert everything(net) == before
    assert list((tmp_path / "run").iterdir()) == []


@pytest.mark.parametrize("broken", ["iptables-legacy-save", "ip6tables-legacy-save"])
def test_a_variant_that_cannot_be_read_keeps_no_other_in_force(
    net: Network, tmp_path: Path, broken: str
) -> None:
    before = everything(net)
    for name in (broken, "ip6tables-nft-restore"):
        shim = tmp_path / "bin" / name
        shim.parent.mkdir(exist_ok=True)
        shim.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
        shim.chmod(0o755)
    path = f"{shim.parent}:{os.environ['PATH']}"
    apply = (*WAREX, "iptables", "apply", "--user", AGENT, "--backend", "iptables")

    # IPv4's rules are in force by the time that IPv6's are refused.
    done = net.run(*apply, PATH=path)
    assert (done.returncode, "ip6tables-nft-restore" in done.stderr) == (3, True)
    assert "WAREX" not in everything(net)

    shim.unlink()
    assert net.run(*apply, PATH=path).returncode == 0
    done = net.run(*WAREX, "iptables", "revert", PATH=path)
    assert (done.returncode, f"{broken} refused: broken" in done.stderr) == (3, True)
    assert "WAREX" not in everything(net)
    warex(net, "revert")
    assert everything(net) == before


def test_a_strangers_port_and_the_proxys_own_traffic_are_refused(net: Network) -> None:
    apply_to = (*WAREX, "iptables", "apply", "--proxy-port", 7770)
    with serving(net, sys.executable, "-c", SITE, until="serves"):
        done = net.run(*apply_to, "--user", AGENT)
    assert done.returncode == 2
    assert "port 7770 is in use by" in done.stderr

    proxy = (*WAREX, "proxy", "--transparent")
    with serving(net, *proxy, "--port", 7770, until="control"):
        done = net.run(*apply_to, "--user", os.geteuid())
    assert (done.returncode, "sent back to itself" in done.stderr) == (2, True)

    warex(net, "apply", "--user", os.geteuid(), "--proxy-port", 7771)
    done = net.run(*proxy, "--port", 7771)
    assert (done.returncode, "sent back to itself" in done.stderr) == (2, True)


def test_a_user_without_root_gets_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    with pytest.raises(MachineError, match=r"sudo warex iptables apply.*warex exec"):
        apply(ANYTHING, "auto")
    with pytest.raises(MachineError, match="sudo warex iptables revert"):
        revert()


def test_a_missing_program_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("WAREX_RUN_DIR", str(tmp_path))
    monkeypatch.setattr(firewall, "_find_program", lambda name: None)

    for backend, package in (("nftables", "nftables"), ("iptables", "iptables")):
        with pytest.raises(MachineError, match=f"apt-get install {package}"):
            apply(ANYTHING, backend)  # type: ignore[arg-type]
    assert choose_backend("auto") == "nftables"
    assert applied_redirect() is None


def test_a_folder_that_cannot_be_written_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("WAREX_RUN_DIR", str(tmp_path / "file"))

    with pytest.raises(MachineError, match="set WAREX_RUN_DIR"):
        apply(ANYTHING, "nftables")


def test_a_state_file_of_another_version_is_left_aside(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("WAREX_RUN_DIR", str(tmp_path))
    (tmp_path / f"iptables-{os.stat('/proc/self/ns/net').st_ino}.json").write_text('{"a": 1}')

    assert applied_redirect() is None
