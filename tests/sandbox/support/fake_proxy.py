"""A fake proxy behind a namespace: it answers every connection and records the destination."""

import socket
import ssl
import struct
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from warex.proxy.certificates.ca import CertificateAuthority
from warex.proxy.transparent.passed_sockets import PassedSockets
from warex.sandbox.namespace.launcher import Namespace, NamespaceProcess, open_namespace

HOST = "shop.test"
ADDRESS = "198.18.0.7"
"""The address of every name."""


@dataclass
class FakeNetwork:
    """A namespace whose connections are answered with `hello`, with or without TLS."""

    namespace: Namespace
    ca: CertificateAuthority
    environment: Mapping[str, str]
    reached: list[tuple[str, int]] = field(default_factory=list)
    """The destinations of connections."""

    def start(self, *arguments: str, **more: object) -> NamespaceProcess:
        """Start a command whose output is not read."""
        with open("/dev/null", "r+b") as nothing:
            return self.namespace.start(
                arguments,
                {**self.environment, **{name: str(value) for name, value in more.items()}},
                stdin=nothing,
                stdout=nothing,
                stderr=nothing,
            )

    def run(
        self, *arguments: str, variables: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> tuple[int, str]:
        """Run a command to its end; return its exit code and its output."""
        with tempfile.TemporaryFile() as output, open("/dev/null", "rb") as nothing:
            command = self.namespace.start(
                arguments,
                self.environment if variables is None else variables,
                stdin=nothing,
                stdout=output,
                stderr=output,
                cwd=cwd,
            )
            code = command.wait(30)
            output.seek(0)
            return code, output.read().decode(errors="replace")


@contextmanager
def open_fake_network(
    ca: CertificateAuthority, base: Mapping[str, str], host_ports: Sequence[int] = ()
) -> Iterator[FakeNetwork]:
    """Open a namespace whose connections go to the fake proxy."""
    with (
        tempfile.TemporaryDirectory() as scratch,
        open_namespace(ca, host_ports=host_ports) as made,
    ):
        certificate, key = ca.leaf(HOST, Path(scratch))
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, key)
        network = FakeNetwork(made, ca, made.environment(base).variables)
        with _serving(made.passed, network, tls):
            yield network


@contextmanager
def _serving(passed: PassedSockets, namespace: FakeNetwork, tls: ssl.SSLContext) -> Iterator[None]:
    # Short timeouts let the threads end; blocking calls on closed sockets would not return.
    over = threading.Event()
    loops: list[Callable[[], None]] = []
    for listener in passed.tcp:
        listener.settimeout(0.05)
        loops.append(lambda listener=listener: _accept(listener, namespace, tls))  # type: ignore[misc]
    for resolver in passed.dns_udp:
        resolver.settimeout(0.05)
        loops.append(lambda resolver=resolver: _resolve(resolver))  # type: ignore[misc]

    def forever(loop: Callable[[], None]) -> None:
        while not over.is_set():
            with suppress(TimeoutError):
                loop()

    threads = [threading.Thread(target=forever, args=(loop,)) for loop in loops]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _accept(listener: socket.socket, namespace: FakeNetwork, tls: ssl.SSLContext) -> None:
    client, _ = listener.accept()
    with client, suppress(OSError):
        client.settimeout(5)
        namespace.reached.append(_destination(client))
        if client.recv(1, socket.MSG_PEEK) == b"\x16":
            with tls.wrap_socket(client, server_side=True) as secure:
                _answer(secure)
        else:
            _answer(client)


def _answer(client: socket.socket) -> None:
    client.recv(4096)
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")


def _destination(client: socket.socket) -> tuple[str, int]:
    """Return the connection's destination (linux/netfilter_ipv4.h: SO_ORIGINAL_DST)."""
    if client.family == socket.AF_INET6:
        raw = client.getsockopt(41, 80, 28)
        return socket.inet_ntop(socket.AF_INET6, raw[8:24]), struct.unpack_from(">H", raw, 2)[0]
    raw = client.getsockopt(socket.SOL_IP, 80, 16)
    return socket.inet_ntoa(raw[4:8]), struct.unpack_from(">H", raw, 2)[0]


def _resolve(resolver: socket.socket) -> None:
    query, sender = resolver.recvfrom(4096)
    at = 12
    while query[at]:
        at += query[at] + 1
    answer = b""
    if query[at + 2] == 1:
        answer = b"\xc0\x0c\0\1\0\1" + struct.pack(">IH", 0, 4) + socket.inet_aton(ADDRESS)
    head = query[:2] + struct.pack(">5H", 0x8180, 1, bool(answer), 0, 0)
    resolver.sendto(head + query[12 : at + 5] + answer, sender)
