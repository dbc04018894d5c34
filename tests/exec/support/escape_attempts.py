"""python escape_attempts.py: try every known way out of a namespace; print the result of each.

It uses the standard library only and ignores proxy variables.
"""

import json
import os
import socket
import ssl
import struct
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

FOUR, SIX, RESOLVER, RESOLVER_SIX = "203.0.113.7", "2001:db8:7::7", "8.8.8.8", "2001:4860::8888"
ECHO, OWN = 9001, 7001
DEVICE = "warex0"
SECONDS = 10.0

type Attempt = Callable[[], str]
ATTEMPTS: dict[str, Attempt] = {}


def attempt(work: Attempt) -> Attempt:
    ATTEMPTS[work.__name__] = work
    return work


def send_line(client: socket.socket, line: bytes = b"through\n") -> str:
    client.settimeout(SECONDS)
    client.sendall(line)
    return client.recv(64).decode(errors="replace").strip()


def fetch_head(client: socket.socket, host: str) -> str:
    """Read a site's whole answer; return its first bytes."""
    client.settimeout(SECONDS)
    client.sendall(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    data = b""
    while more := client.recv(65536):
        data += more
    return data[:12].decode()


def connected(address: str, port: int) -> str:
    with socket.create_connection((address, port), timeout=SECONDS) as client:
        return send_line(client)


def of_family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


# ---- to an address


@attempt
def tcp_four() -> str:
    return connected(FOUR, ECHO)


@attempt
def tcp_six() -> str:
    return connected(SIX, ECHO)


@attempt
def tcp_four_in_six() -> str:
    with socket.socket(socket.AF_INET6) as client:
        client.settimeout(SECONDS)
        client.connect((f"::ffff:{FOUR}", ECHO))
        return send_line(client)


@attempt
def tcp_multipath() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as client:
        client.settimeout(SECONDS)
        client.connect((FOUR, ECHO))
        return send_line(client)


@attempt
def tcp_fast_open() -> str:
    with socket.socket() as client:
        client.settimeout(SECONDS)
        client.setblocking(True)  # With a timeout, it would not wait for the connection.
        client.sendto(b"through\n", 0x20000000, (FOUR, ECHO))
        return client.recv(64).decode().strip()


@attempt
def tcp_bound_to_the_device() -> str:
    with socket.socket() as client:
        client.settimeout(SECONDS)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, DEVICE.encode())
        client.connect((FOUR, ECHO))
        return send_line(client)


@attempt
def tcp_marked_and_source_routed() -> str:
    with socket.socket() as client:
        client.settimeout(SECONDS)
        client.setsockopt(socket.SOL_SOCKET, 36, 0x1)  # SO_MARK
        client.connect((FOUR, ECHO))
        return send_line(client)


@attempt
def tcp_transparent_source() -> str:
    with socket.socket() as client:
        client.settimeout(SECONDS)
        client.setsockopt(socket.SOL_IP, 19, 1)  # IP_TRANSPARENT
        client.bind((FOUR, 0))
        client.connect((FOUR, ECHO))
        return send_line(client)


@attempt
def http_to_an_address() -> str:
    with socket.create_connection((FOUR, 80), timeout=SECONDS) as client:
        return fetch_head(client, "shop.test")


@attempt
def https_to_a_resolver() -> str:
    trusting = ssl._create_unverified_context()
    with (
        socket.create_connection((RESOLVER, 443), timeout=SECONDS) as client,
        trusting.wrap_socket(client) as secure,
    ):
        return fetch_head(secure, RESOLVER)


# ---- another resolver

QUESTION = struct.pack(">6H", 7, 0x100, 1, 0, 0, 0) + b"\4shop\4test\0" + struct.pack(">2H", 1, 1)


def resolved(answer: bytes) -> str:
    if len(answer) < 12 or answer[:2] != QUESTION[:2]:
        return repr(answer)
    # WAREX gives names addresses of the benchmarking network (RFC 2544).
    mine = answer[-4:-2] in (b"\xc6\x12", b"\xc6\x13")
    return "an address of WAREX's" if mine else socket.inet_ntoa(answer[-4:])


def by_udp(server: str) -> str:
    with socket.socket(of_family(server), socket.SOCK_DGRAM) as asker:
        asker.settimeout(SECONDS)
        asker.sendto(QUESTION, (server, 53))
        answer = asker.recv(512)
    # A truncated answer, of a busy server too, sends the asker to TCP (RFC 1035 §4.2.1).
    return by_tcp(server) if answer[2] & 0x02 else resolved(answer)


def by_tcp(server: str) -> str:
    with socket.create_connection((server, 53), timeout=SECONDS) as asker:
        asker.sendall(len(QUESTION).to_bytes(2) + QUESTION)
        return resolved(asker.recv(512)[2:])


@attempt
def another_resolver_by_udp() -> str:
    return by_udp(RESOLVER)


@attempt
def another_resolver_by_udp_six() -> str:
    return by_udp(RESOLVER_SIX)


@attempt
def another_resolver_by_tcp() -> str:
    return by_tcp(RESOLVER)


# ---- other protocols than TCP


def sent(address: str, port: int, kind: int = socket.SOCK_DGRAM, protocol: int = 0) -> str:
    with socket.socket(of_family(address), kind, protocol) as sender:
        sender.settimeout(1)
        if address.endswith("255"):
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        sender.sendto(b"\x08\0\0\0through", (address, port))
        return repr(sender.recv(64))


for name, port in (("quic", 443), ("wireguard", 51820), ("mdns_port", 5353)):
    for family, address in (("four", FOUR), ("six", SIX)):
        ATTEMPTS[f"{name}_{family}"] = lambda address=address, port=port: sent(address, port)  # type: ignore[misc]
ATTEMPTS["broadcast"] = lambda: sent("255.255.255.255", 9)
ATTEMPTS["multicast"] = lambda: sent("224.0.0.251", 5353)
ATTEMPTS["multicast_six"] = lambda: sent("ff02::fb", 5353)
for name, kind, protocol in (
    ("ping", socket.SOCK_DGRAM, socket.IPPROTO_ICMP),
    ("icmp", socket.SOCK_RAW, socket.IPPROTO_ICMP),
    ("gre", socket.SOCK_RAW, 47),
    ("udp_lite", socket.SOCK_DGRAM, 136),
    ("sctp", socket.SOCK_STREAM, 132),
):
    ATTEMPTS[name] = lambda kind=kind, protocol=protocol: sent(FOUR, 0, kind, protocol)  # type: ignore[misc]


@attempt
def raw_udp() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as sender:
        datagram = struct.pack(">4H", 4000, 443, 8 + 7, 0) + b"through"
        sender.sendto(_packet(17, datagram), (FOUR, 0))
    return "sent"


@attempt
def raw_tcp() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as sender:
        sender.sendto(_packet(6, _syn()), (FOUR, 0))
    return "sent"


@attempt
def frames() -> str:
    sent = []
    for _, device in socket.if_nameindex():
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as sender:
            sender.bind((device, 0))
            for kind, content in (
                (0x88B5, b"through" * 8),
                (0x0800, _packet(17, struct.pack(">4H", 4000, 443, 15, 0) + b"through")),
                (0x0800, _packet(6, _syn())),
            ):
                sender.send(b"\xff" * 6 + b"\x02\0\0\0\0\1" + struct.pack(">H", kind) + content)
            sent.append("sent")
    return sent[0]


def _syn() -> bytes:
    return struct.pack(">2H2I4H", 4000, ECHO, 1, 0, 0x5002, 1024, 0, 0)


def _packet(protocol: int, content: bytes) -> bytes:
    ends = socket.inet_aton("192.0.2.2") + socket.inet_aton(FOUR)
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(content), 1, 0, 64, protocol, 0)
    return head + ends + content


# ---- the host's loopback and sockets


@attempt
def loopback_four() -> str:
    return connected("127.0.0.1", OWN)


@attempt
def loopback_another() -> str:
    return connected("127.9.9.9", OWN)


@attempt
def loopback_zero() -> str:
    return connected("0.0.0.0", OWN)


@attempt
def loopback_six() -> str:
    return connected("::1", OWN)


@attempt
def loopback_four_in_six() -> str:
    with socket.socket(socket.AF_INET6) as client:
        client.connect(("::ffff:127.0.0.1", OWN))
        return send_line(client)


@attempt
def the_proxys_own_door() -> str:
    return connected("127.0.0.1", 1011)


@attempt
def abstract_socket() -> str:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0warex-test-daemon")
        return "connected"


# ---- another namespace


def afterwards(prepare: str) -> str:
    """Run ``prepare`` and then connect, in a new process."""
    connect = f"print(escape_attempts.connected({FOUR!r}, {ECHO}))"
    code = f"import os, escape_attempts; {prepare}; {connect}"
    where = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=where,
        env={**os.environ, "PYTHONPATH": where},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


@attempt
def a_network_of_its_own() -> str:
    return afterwards("os.unshare(os.CLONE_NEWUSER | os.CLONE_NEWNET)")


@attempt
def the_network_of_process_1() -> str:
    return afterwards("os.setns(os.open('/proc/1/ns/net', os.O_RDONLY), os.CLONE_NEWNET)")


def without_the_rules() -> str:
    return afterwards("escape_attempts.delete_rules()")


def delete_rules() -> None:
    """Send `delete table inet warex` to netfilter; raise OSError if it is refused."""
    begin, delete, end = 16, 10 << 8 | 2, 17
    name = struct.pack("=HH", 10, 1) + b"warex\0\0\0"
    batch = [(begin, 1, b"\0\0\0\x0a"), (delete, 5, b"\1\0\0\0" + name), (end, 1, b"\0\0\0\x0a")]
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 12) as netfilter:
        netfilter.send(
            b"".join(
                struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body
                for kind, flags, body in batch
            )
        )
        (error,) = struct.unpack_from("=i", netfilter.recv(4096), 16)
    if error:
        raise OSError(-error, os.strerror(-error))


def main() -> None:
    with ThreadPoolExecutor(len(ATTEMPTS)) as threads:
        results = dict(zip(ATTEMPTS, threads.map(run_attempt, ATTEMPTS.values()), strict=True))
    results["without_the_rules"] = run_attempt(without_the_rules)
    print(json.dumps(results))


def run_attempt(work: Attempt) -> str:
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - every error is a result
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main()
