"""The rules of a namespace, set from outside, met by real connections from inside."""

import os
import socket
import struct
import sys
from collections.abc import Iterator

import pytest

from tests.proxy.support.lanes import wait_until
from tests.sandbox.network import Network, network
from tests.sandbox.support.fake_proxy import FakeNetwork, open_fake_network
from warex.linux import nftables
from warex.linux.netlink import text
from warex.linux.nftables import BlocklistEntry, PacketEnds
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca

_CONNECT = """
import socket, sys
host, port = sys.argv[1], int(sys.argv[2])
with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as client:
    client.settimeout(float(sys.argv[3]))
    try:
        client.connect((host, port))
        print("connected")
    except OSError as error:
        print(type(error).__name__)
"""


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeNetwork]:
    ca = ensure_ca(tmp_path_factory.mktemp("authority") / "ca")
    with open_fake_network(ca, os.environ) as network:
        yield network


@pytest.fixture(autouse=True)
def _open_again(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "inside" in request.fixturenames:
        set_entries(request.getfixturevalue("inside"))


def set_entries(inside: FakeNetwork, *entries: BlocklistEntry) -> None:
    nftables.set_blocklist(inside.namespace.passed.netfilter, entries)


def connect(inside: FakeNetwork, host: str, port: int, timeout: float = 5) -> str:
    code, message = inside.run(sys.executable, "-I", "-c", _CONNECT, host, str(port), str(timeout))
    assert code == 0, message
    return message.strip()


def logged(inside: FakeNetwork) -> PacketEnds:
    log = inside.namespace.passed.log
    log.settimeout(5)
    (blocked,) = nftables.read_log(log.recv(65536))
    return blocked


def nothing_logged(inside: FakeNetwork) -> bool:
    inside.namespace.passed.log.setblocking(False)
    try:
        inside.namespace.passed.log.recv(65536)
    except BlockingIOError:
        return True
    return False


@pytest.mark.wire
@pytest.mark.parametrize("address", ["192.0.2.77", "2001:db8::77"])
def test_a_refusing_entry_refuses_and_logs(inside: FakeNetwork, address: str) -> None:
    set_entries(inside, BlocklistEntry(address, 443, "refuse"))

    assert connect(inside, address, 443) == "ConnectionRefusedError"
    blocked = logged(inside)
    assert (blocked.address, blocked.port) == (address, 443)
    assert blocked.source_port > 0


@pytest.mark.wire
def test_a_dropping_entry_leaves_the_client_waiting_and_logs_it(inside: FakeNetwork) -> None:
    set_entries(inside, BlocklistEntry("192.0.2.77", None, "drop"))

    assert connect(inside, "192.0.2.77", 8443, timeout=0.2) == "TimeoutError"
    assert logged(inside).port == 8443


@pytest.mark.wire
def test_an_entry_is_for_its_address_and_its_port_only(inside: FakeNetwork) -> None:
    set_entries(inside, BlocklistEntry("192.0.2.77", 443, "refuse"))

    assert connect(inside, "192.0.2.77", 80) == "connected"
    assert connect(inside, "192.0.2.78", 443) == "connected"
    assert nothing_logged(inside)


@pytest.mark.wire
def test_new_entries_replace_the_old_ones(inside: FakeNetwork) -> None:
    set_entries(inside, BlocklistEntry("192.0.2.77", None, "refuse"))
    set_entries(inside, BlocklistEntry("192.0.2.78", None, "refuse"))

    assert connect(inside, "192.0.2.77", 80) == "connected"
    assert connect(inside, "192.0.2.78", 80) == "ConnectionRefusedError"
    logged(inside)


@pytest.mark.wire
def test_a_connection_that_is_open_goes_on_when_it_is_blocked(inside: FakeNetwork) -> None:
    fetch = (
        "import socket, sys\n"
        "client = socket.create_connection(('192.0.2.77', 80), 5)\n"
        "print('open', flush=True)\n"
        "sys.stdin.readline()\n"
        "client.sendall(b'GET / HTTP/1.0\\r\\n\\r\\n')\n"
        "print(client.recv(4096).endswith(b'hello'), flush=True)\n"
    )
    to, heard = os.pipe(), os.pipe()
    with (
        open(to[0], "rb") as stdin,
        open(to[1], "wb", buffering=0) as pipe,
        open(heard[0], "rb") as listen,
        open(heard[1], "wb") as stdout,
    ):
        command = inside.namespace.start(
            [sys.executable, "-I", "-c", fetch],
            inside.environment,
            stdin=stdin,
            stdout=stdout,
            stderr=2,
        )
        stdout.close()
        assert listen.readline() == b"open\n"
        set_entries(inside, BlocklistEntry("192.0.2.77", None, "refuse"))
        pipe.write(b"go\n")

        assert listen.readline() == b"True\n"
        assert command.wait(10) == 0
    assert nothing_logged(inside)


@pytest.mark.wire
def test_a_refused_batch_leaves_the_blocklist_as_it_was(inside: FakeNetwork) -> None:
    passed = inside.namespace.passed.netfilter
    set_entries(inside, BlocklistEntry("192.0.2.77", None, "refuse"))

    flush = nftables._request(nftables._DELETE_RULE, 0, text(1, b"warex") + text(2, b"blocklist"))
    with pytest.raises(OSError, match="netfilter, message 2"):
        nftables._send(passed, [flush, nftables._rule(b"no such chain", b"")])

    assert connect(inside, "192.0.2.77", 80) == "ConnectionRefusedError"
    logged(inside)


@pytest.mark.wire
@pytest.mark.parametrize("address", ["192.0.2.77", "2001:db8::77"])
def test_every_connection_is_redirected_and_keeps_its_destination(
    inside: FakeNetwork, address: str
) -> None:
    assert connect(inside, address, 7) == "connected"
    # The client may know before the listener does.
    wait_until(lambda: (address, 7) in inside.reached)


@pytest.mark.wire
def test_only_tcp_and_names_leave(inside: FakeNetwork) -> None:
    send = (
        "import socket\n"
        "for kind, protocol in ((2, 17), (2, 136), (5, 132)):\n"
        "    try:\n"
        "        client = socket.socket(socket.AF_INET, kind, protocol)\n"
        "        client.settimeout(1)\n"
        "        client.connect(('192.0.2.77', 443))\n"
        "        client.send(b'x')\n"
        "        client.recv(1)\n"
        "        print('sent')\n"
        "    except OSError as error:\n"
        "        print('refused' if error.errno in (1, 13, 93, 94, 111, 113) else error)\n"
    )

    assert inside.run(sys.executable, "-I", "-c", send)[1].split() == ["refused"] * 3


@pytest.mark.wire
@pytest.mark.parametrize("server", ["192.0.2.53", "8.8.8.8", "127.0.0.53"])
def test_every_nameserver_is_ours(inside: FakeNetwork, server: str) -> None:
    ask = (
        "import socket, sys\n"
        "client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "client.settimeout(5)\n"
        "query = bytes.fromhex('123401000001000000000000') + b'\\4shop\\4test\\0\\0\\1\\0\\1'\n"
        "client.sendto(query, (sys.argv[1], 53))\n"
        "answer, sender = client.recvfrom(512)\n"
        "print(sender[0], socket.inet_ntoa(answer[-4:]))\n"
    )

    assert inside.run(sys.executable, "-I", "-c", ask, server)[1].split() == [server, "198.18.0.7"]


@pytest.mark.wire
def test_loopback_is_the_commands_own(inside: FakeNetwork) -> None:
    assert connect(inside, "127.0.0.1", 7770) == "ConnectionRefusedError"
    assert connect(inside, "::1", 7770) == "ConnectionRefusedError"
    assert not [port for _, port in inside.reached if port == 7770]


@pytest.mark.wire
def test_ports_of_the_host_are_let_through_on_the_addresses_it_listens_on(
    tmp_path_factory: pytest.TempPathFactory, ca: CertificateAuthority
) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as four,
        socket.create_server(("::1", 0), family=socket.AF_INET6) as six,
    ):
        ports = [four.getsockname()[1], six.getsockname()[1]]
        with open_fake_network(ca, os.environ, ports) as inside:
            assert connect(inside, "127.0.0.1", ports[0]) == "connected"
            wait_until(lambda: inside.reached == [("127.0.0.1", ports[0])])
            assert connect(inside, "::1", ports[0]) == "ConnectionRefusedError"
            assert connect(inside, "::1", ports[1]) == "connected"


def _packet(version: int) -> bytes:
    if version == 4:
        head = bytes([0x45]) + bytes(11)
        ends = socket.inet_aton("192.0.2.2") + socket.inet_aton("192.0.2.7")
    else:
        head = bytes([0x60]) + bytes(7)
        ends = b"".join(socket.inet_pton(socket.AF_INET6, end) for end in ("::2", "::7"))
    return head + ends + struct.pack(">HH", 40000, 443) + bytes(16)


def _logged(packet: bytes) -> bytes:
    payload = struct.pack("HH", 4 + len(packet), 9) + packet
    payload += bytes(-len(payload) % 4)
    return struct.pack("IHHII", 20 + len(payload), 4 << 8, 0, 0, 0) + bytes(4) + payload


@pytest.mark.parametrize(
    ("version", "ends"), [(4, ("192.0.2.2", "192.0.2.7")), (6, ("::2", "::7"))]
)
def test_a_try_is_read_from_the_logged_packet(version: int, ends: tuple[str, str]) -> None:
    (blocked,) = nftables.read_log(_logged(_packet(version)))

    assert blocked == PacketEnds(ends[0], 40000, ends[1], 443)


def test_several_attempts_may_come_in_one_message() -> None:
    assert len(list(nftables.read_log(_logged(_packet(4)) + _logged(_packet(6))))) == 2


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_log_that_is_cut_short_is_neither_an_attempt_nor_an_error(cut: int) -> None:
    full = _logged(_packet(4))

    assert list(nftables.read_log(full[:cut])) == []
    assert list(nftables.read_log(_logged(_packet(4)[:cut])))[1:] == []


_ASK = "import sys; from warex.linux.nftables import *; print(eval(sys.argv[1]))"


@pytest.fixture
def net() -> Iterator[Network]:
    with network() as made:
        yield made


def ask(net: Network, call: str) -> str:
    return net.says(sys.executable, "-c", _ASK, call).strip()


@pytest.mark.slow
@pytest.mark.wire
def test_only_empty_tables_are_deleted(net: Network) -> None:
    assert ask(net, "exists('ip', 'nat')") == "False"
    net.says("iptables", "-t", "nat", "-A", "OUTPUT", "-p", "tcp", "-j", "ACCEPT")
    assert ask(net, "[exists('ip', 'nat', c) for c in ('OUTPUT', 'INPUT')]") == "[True, False]"
    assert ask(net, "exists('ip6', 'nat')") == "False"

    full = net.says("nft", "list", "ruleset")
    ask(net, "[delete_if_empty('ip', 'nat', c) for c in ('OUTPUT', 'INPUT', '')]")
    assert net.says("nft", "list", "ruleset") == full

    net.says("iptables", "-t", "nat", "-F")
    ask(net, "[delete_if_empty('ip', 'nat', c) for c in ('OUTPUT', 'INPUT', '')]")
    assert net.says("nft", "list", "ruleset") == ""
