"""Peers that go on with TLS after its handshake: new keys, another handshake, a certificate."""

import contextlib
import os
import select
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from OpenSSL import SSL

from tests.engine.running import Scripted, running, wait_until
from tests.ports import reserved_port
from tests.proxy.support.client import read_answer, secure, tunnelled
from tests.proxy.support.origin import Origin
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = [pytest.mark.wire, pytest.mark.slow]

BODY = bytes(range(256)) * 4000


@contextmanager
def site(
    leaf: tuple[Path, Path], method: int, serve: Callable[[SSL.Connection], None]
) -> Iterator[int]:
    """A site that serves one connection by OpenSSL itself."""
    context = SSL.Context(method)
    context.use_certificate_file(str(leaf[0]))
    context.use_privatekey_file(str(leaf[1]))
    failures: list[BaseException] = []

    def run() -> None:
        try:
            peer, _ = server.accept()
            peer.settimeout(None)
            with peer:
                connection = SSL.Connection(context, peer)
                connection.set_accept_state()
                connection.do_handshake()
                serve(connection)
                with contextlib.suppress(SSL.Error):
                    connection.shutdown()
        except BaseException as error:  # noqa: BLE001 - told at the end
            failures.append(error)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        thread.join(5)
    assert failures == []


def head(connection: SSL.Connection) -> bytes:
    got = b""
    while b"\r\n\r\n" not in got:
        got += connection.recv(65536)
    return got.partition(b"\r\n\r\n")[2]


def answer(connection: SSL.Connection, body: bytes) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))


def test_a_site_may_shake_hands_again_while_a_request_is_sent(
    ca: CertificateAuthority, leaf: tuple[Path, Path]
) -> None:
    def serve(connection: SSL.Connection) -> None:
        got = head(connection)
        connection.renegotiate()
        connection.do_handshake()  # It says that it wants to.
        while len(got) < len(BODY):
            got += connection.recv(65536)
        assert got == BODY
        assert connection.total_renegotiations() == 1
        answer(connection, b"renewed")

    with (
        site(leaf, SSL.TLSv1_2_METHOD, serve) as port,
        running(Scripted(), ca) as engine,
        secure(engine.port, "localhost", port, ca.certificate) as client,
    ):
        client.settimeout(10)
        client.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(BODY))
        for at in range(0, len(BODY), 32_000):
            client.sendall(BODY[at : at + 32_000])
        assert read_answer(client)[1] == b"renewed"


def test_a_site_that_never_ends_another_handshake_fills_no_memory(
    ca: CertificateAuthority, leaf: tuple[Path, Path]
) -> None:
    over = threading.Event()

    def serve(connection: SSL.Connection) -> None:
        head(connection)
        connection.renegotiate()
        connection.do_handshake()
        over.wait(20)

    with (
        site(leaf, SSL.TLSv1_2_METHOD, serve) as port,
        running(Scripted(), ca) as engine,
        secure(engine.port, "localhost", port, ca.certificate) as client,
    ):
        client.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 999999999\r\n\r\n")
        client.settimeout(1)
        sent = 0
        with contextlib.suppress(TimeoutError):
            while sent < 100_000_000:
                sent += client.send(bytes(16_384))
        over.set()
    assert sent < 20_000_000


def test_a_client_is_not_let_shake_hands_again_and_others_go_on(
    ca: CertificateAuthority, secure_h1: Origin
) -> None:
    context = SSL.Context(SSL.TLSv1_2_METHOD)
    handler = Scripted()
    with running(handler, ca) as engine:
        with tunnelled(engine.port, "localhost", secure_h1.port) as raw:
            raw.settimeout(None)
            client = SSL.Connection(context, raw)
            client.set_tlsext_host_name(b"localhost")
            client.set_connect_state()
            client.do_handshake()
            client.renegotiate()
            with contextlib.suppress(SSL.Error):
                client.do_handshake()
                client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                client.recv(65536)
        with secure(engine.port, "localhost", secure_h1.port, ca.certificate) as other:
            other.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert read_answer(other)[1] == b"hello"
    assert len(handler.exchanges) == 1


def read_until(stream: IO[bytes], text: bytes) -> None:
    got = b""
    while text not in got:
        assert select.select([stream], [], [], 5)[0], got
        piece = os.read(stream.fileno(), 65536)
        assert piece, got
        got += piece


PROGRAM_COMMANDS = {"keys": b"k\n", "keys of both": b"K\n"}


@pytest.mark.parametrize("command", PROGRAM_COMMANDS.values(), ids=PROGRAM_COMMANDS)
def test_a_client_may_change_keys(
    ca: CertificateAuthority, secure_h1: Origin, command: bytes
) -> None:
    with running(Scripted(), ca) as engine:
        client = subprocess.Popen(
            ["openssl", "s_client", "-tls1_3", "-servername", "localhost",
             "-proxy", f"127.0.0.1:{engine.port}", "-connect", f"localhost:{secure_h1.port}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert client.stdin is not None
        assert client.stdout is not None
        with client:
            read_until(client.stdout, b"Verify return code")
            for _ in range(3):
                client.stdin.write(command)
                client.stdin.flush()
                time.sleep(0.1)  # It reads a command only if nothing stands behind it.
                client.stdin.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                client.stdin.flush()
                read_until(client.stdout, b"hello")
            client.stdin.close()


@contextmanager
def program_site(leaf: tuple[Path, Path]) -> Iterator[tuple[int, IO[bytes], IO[bytes]]]:
    """A site that sends what it is told to; yield its port, its input and its output."""
    port = reserved_port()
    command = ["openssl", "s_server", "-tls1_3", "-accept", f"127.0.0.1:{port}"]
    command += ["-cert", str(leaf[0]), "-key", str(leaf[1])]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        try:
            wait_until(lambda: is_open(port))
            yield port, program.stdin, program.stdout
        finally:
            program.kill()


def is_open(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("command", [*PROGRAM_COMMANDS.values(), b"c\n"])
def test_a_site_may_change_keys_or_ask_who_the_client_is(
    ca: CertificateAuthority, leaf: tuple[Path, Path], command: bytes
) -> None:
    with (
        program_site(leaf) as (port, tell, reported),
        running(Scripted(), ca) as engine,
        secure(engine.port, "localhost", port, ca.certificate) as client,
    ):
        for _ in range(3):
            client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            read_until(reported, b"Host: a")
            for piece in (command, b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n"):
                tell.write(piece)
                tell.flush()
                if piece is command:
                    time.sleep(0.1)  # It reads a command only if nothing stands behind it.
            assert read_answer(client)[1] == b"hello\n"
