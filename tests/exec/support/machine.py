"""python -m tests.exec.support.machine FOLDER: a fake machine on a network, in namespaces.

It has its own addresses, names in its /etc/hosts, a CA that it trusts, sites, and a socket that
captures every packet on its devices. Only this process and those that enter its namespaces
(``enter.py``) see them. A line on standard input asks for a report; its end ends the machine.
"""

import asyncio
import ctypes
import ipaddress
import json
import os
import socket
import ssl
import struct
import sys
import threading
from contextlib import suppress
from pathlib import Path

from websockets.asyncio.server import ServerConnection, serve

from tests.proxy.support.origin import Answer, Origin, server_context
from warex.linux import rtnetlink
from warex.proxy.certificates.ca import CertificateAuthority

FOUR, SIX, DOH = "203.0.113.7", "2001:db8:7::7", "8.8.8.8"
ADDRESSES = tuple(map(ipaddress.ip_address, (FOUR, SIX, DOH)))
"""The machine's addresses; the last is that of a public resolver."""
NAMES = {
    "shop.test": (FOUR,),
    "both.test": (FOUR, SIX),
    "six.test": (SIX,),
    "gone.test": (FOUR,),
}
TLS, WEBSOCKETS, PLAIN, ECHO, GREETS, OWN = 443, 445, 80, 9001, 9002, 7001
"""Ports: HTTP/2 over TLS; WebSockets over TLS; HTTP/1.1; TCP where the client sends first; TCP
where the server does; a service on this machine's loopback."""
BODY = bytes(range(256)) * 64
GREETING = b"220 ready\r\n"

ABSTRACT = "\0warex-test-daemon"

_BIND, _REC, _PRIVATE = 4096, 16384, 1 << 18
_ETH_ALL = 3


class Machine:
    """The records of what reached the machine."""

    def __init__(self) -> None:
        self.heard: set[tuple[str, str, int]] = set()
        """Protocol, source and destination port of every packet; its ethertype if not IP."""
        self.visits: dict[str, int] = {}

    def visited(self, what: str) -> None:
        self.visits[what] = self.visits.get(what, 0) + 1

    def listen_to_packets(self) -> None:
        capture = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_ALL))
        # With a buffer large enough to miss no packet.
        capture.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**24)
        while True:
            packet, about = capture.recvfrom(65536)
            self.heard.add(_seen(about[1], packet))


def _seen(kind: int, packet: bytes) -> tuple[str, str, int]:
    if kind == 0x0800:
        after = packet[4 * (packet[0] & 15) :]
        protocol, source = packet[9], socket.inet_ntoa(packet[12:16])
    elif kind == 0x86DD:
        protocol, source = packet[6], socket.inet_ntop(socket.AF_INET6, packet[8:24])
        after = packet[40:]
    else:
        return f"ethertype {kind:#x}", "", 0
    port = struct.unpack_from(">H", after, 2)[0] if protocol in (6, 17) and len(after) > 3 else 0
    return {6: "tcp", 17: "udp"}.get(protocol, f"protocol {protocol}"), source, port


def main(folder: Path) -> None:
    _unshare_namespaces()
    ca = CertificateAuthority(folder / "site-ca")
    _mount_files(ca, folder)
    _network()
    machine = Machine()
    for work in (machine.listen_to_packets, lambda: _serve_unix_socket(machine)):
        threading.Thread(target=work, daemon=True).start()
    _sites(folder)
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        _serve_tcp(machine, family, address, ECHO, b"")
        _serve_tcp(machine, family, address, GREETS, GREETING)
        _serve_tcp(machine, family, address, 53, b"LEAK")
        for port in (53, 443):
            _serve_udp(machine, family, address, port)
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        _serve_tcp(machine, family, address, OWN, b"LEAK")
    print("ready", flush=True)
    for _ in sys.stdin:
        report = {"heard": sorted(machine.heard), "visits": machine.visits}
        print(json.dumps(report), flush=True)


# ---- namespaces and files


def _unshare_namespaces() -> None:
    kinds = os.CLONE_NEWNET | os.CLONE_NEWNS
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        os.unshare(kinds)
        return
    os.unshare(os.CLONE_NEWUSER)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        Path(f"/proc/self/{name}").write_text(text)
    os.unshare(kinds)


def _mount_files(ca: CertificateAuthority, folder: Path) -> None:
    """Mount files for names and for trust in the sites' CA."""
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(source: Path | None, target: Path, flags: int) -> None:
        from_ = None if source is None else os.fsencode(source)
        if libc.mount(from_, os.fsencode(target), None, ctypes.c_ulong(flags), None):
            raise OSError(ctypes.get_errno(), f"mount {target}")

    mount(None, Path("/"), _REC | _PRIVATE)
    copies = folder / "laid"
    copies.mkdir()
    hosts = ["127.0.0.1 localhost", "::1 localhost"]
    hosts += [f"{address} {name}" for name, own in NAMES.items() for address in own]
    bundle = Path("/etc/ssl/certs/ca-certificates.crt").resolve()
    files = {
        Path("/etc/hosts"): ("\n".join(hosts) + "\n").encode(),
        # No resolver listens there, so a name that is not in the file is unknown at once.
        Path("/etc/resolv.conf"): b"nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
        bundle: bundle.read_bytes() + ca.certificate.read_bytes(),
    }
    for number, (place, content) in enumerate(files.items()):
        copy = copies / str(number)
        copy.write_bytes(content)
        copy.chmod(0o644)
        mount(copy, place.resolve(), _BIND)


def _network() -> None:
    rtnetlink.bring_up("lo")
    rtnetlink.create_device()
    rtnetlink.bring_up_device()
    rtnetlink.add_address(FOUR)
    rtnetlink.add_address(SIX)
    with suppress(FileExistsError):  # Its route exists already.
        rtnetlink.add_address(DOH)


# ---- services


def _sites(folder: Path) -> None:
    """Serve the sites; their certificate is valid for all of their names."""
    files = folder / "site.crt", folder / "site.key"
    page = Answer(headers=[(b"content-type", b"text/html")], body=b"<title>The page</title>")
    routes = {"/page": page, "/body": Answer(headers=[(b"content-type", b"text/plain")], body=BODY)}
    repository = folder / "repo.git"
    for path in repository.rglob("*"):
        if path.is_file():
            name = f"/{path.relative_to(folder)}"
            routes[name] = routes[f"{name}?service=git-upload-pack"] = Answer(
                body=path.read_bytes()
            )
    secure = server_context(*files, ["h2", "http/1.1"])
    for site in (Origin(secure, host=None, port=TLS), Origin(host=None, port=PLAIN)):
        site.routes |= routes
    secure = server_context(*files, ["http/1.1"])
    threading.Thread(target=lambda: asyncio.run(_websockets(secure)), daemon=True).start()


async def _websockets(secure: ssl.SSLContext) -> None:
    async def reply(line: ServerConnection) -> None:
        async for message in line:
            await line.send(message)

    async with serve(reply, None, WEBSOCKETS, ssl=secure):
        await asyncio.get_running_loop().create_future()


def _serve_tcp(
    machine: Machine, family: socket.AddressFamily, address: str, port: int, greeting: bytes
) -> None:
    """Send the greeting, then send everything back in capitals."""
    listener = socket.create_server((address, port), family=family, backlog=64)

    def reply(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.sendall(greeting)
            while data := client.recv(65536):
                client.sendall(data.upper())

    def accept() -> None:
        while True:
            client, _ = listener.accept()
            machine.visited(f"tcp {port}")
            threading.Thread(target=reply, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def _serve_udp(machine: Machine, family: socket.AddressFamily, address: str, port: int) -> None:
    hearer = socket.socket(family, socket.SOCK_DGRAM)
    if family == socket.AF_INET6:
        hearer.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    hearer.bind((address, port))

    def hear() -> None:
        while True:
            _, sender = hearer.recvfrom(65536)
            machine.visited(f"udp {port}")
            hearer.sendto(b"LEAK", sender)

    threading.Thread(target=hear, daemon=True).start()


def _serve_unix_socket(machine: Machine) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(ABSTRACT)
        listener.listen()
        while True:
            listener.accept()[0].close()
            machine.visited("unix")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
