"""A response on its way: each part leaves as it comes, and no sooner than it is decided on."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.engine.running import Running, Scripted, running, wait_until
from tests.proxy.support.client import tunnelled
from tests.proxy.support.raw_sockets import read_to_end
from warex.engine.handler import Exchange, Plan, Relay
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire

REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@contextmanager
def exchange(engine: Running) -> Iterator[tuple[socket.socket, socket.socket]]:
    """A client and its site, which has read the request."""
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        tunnelled(engine.port, "127.0.0.1", server.getsockname()[1]) as client,
    ):
        client.sendall(REQUEST)
        site, _ = server.accept()
        with site:
            for end in (client, site):
                end.settimeout(5)
            got = b""
            while not got.endswith(b"\r\n\r\n"):
                got += site.recv(65536)
            yield client, site


def read(client: socket.socket, size: int) -> bytes:
    got = b""
    while len(got) < size and (more := client.recv(size - len(got))):
        got += more
    return got


def test_a_head_is_there_before_its_body(ca: CertificateAuthority) -> None:
    with running(Scripted(), ca) as engine, exchange(engine) as (client, site):
        site.sendall(HEAD)
        assert read(client, len(HEAD)) == HEAD


@pytest.mark.parametrize("relay", [Relay(), Relay(tap=True), Relay(tap=True, changes_length=True)])
def test_each_part_leaves_as_it_comes(ca: CertificateAuthority, relay: Relay) -> None:
    handler = Scripted(response_plan=lambda exchange: Plan(relay))
    with running(handler, ca) as engine, exchange(engine) as (client, site):
        site.sendall(HEAD)
        read(client, len(HEAD))
        for number in range(20):
            part = b"5\r\nab%03d\r\n" % number
            site.sendall(part)
            assert read(client, len(part)) == part
        site.sendall(b"0\r\n\r\n")
        assert read(client, 5) == b"0\r\n\r\n"
        outcome = handler.outcome()
    assert (outcome.end, outcome.response_bytes, outcome.arrived) == ("complete", 100, True)


def test_a_site_that_breaks_off_ends_what_it_began(ca: CertificateAuthority) -> None:
    handler = Scripted()
    with running(handler, ca) as engine, exchange(engine) as (client, site):
        site.sendall(HEAD + b"3\r\nabc\r\n")
        read(client, len(HEAD) + 8)
        site.sendall(b"3\r\nde")
        site.close()
        assert read_to_end(client) == b"3\r\nde"
        outcome = handler.outcome()
    assert (outcome.end, outcome.response_bytes) == ("site_failed", 5)


def test_a_client_that_leaves_within_a_body_ends_the_exchange(ca: CertificateAuthority) -> None:
    handler = Scripted()
    with running(handler, ca) as engine, exchange(engine) as (client, site):
        site.sendall(HEAD + b"3\r\nabc\r\n")
        read(client, len(HEAD) + 8)
        client.close()
        outcome = handler.outcome()
        assert site.recv(1) == b""
    assert outcome.end == "client_left"


def test_a_large_body_waits_for_its_client_and_arrives_whole(ca: CertificateAuthority) -> None:
    size = 8 * 1024 * 1024
    handler = Scripted()
    with running(handler, ca) as engine, exchange(engine) as (client, site):
        head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size
        site.sendall(head)
        site.setblocking(False)
        body, sent = bytes(range(256)) * (size // 256), 0
        got = bytearray(read(client, len(head)))
        while len(got) < len(head) + size:
            with suppress(BlockingIOError):
                sent += site.send(body[sent : sent + 1_000_000]) if sent < size else 0
            got += client.recv(100_000)
        assert got[len(head) :] == body
        assert handler.outcome().response_bytes == size


def test_a_part_of_which_much_is_made_waits_for_its_client(ca: CertificateAuthority) -> None:
    size, made = 64 * 1024, list[int]()

    def inflate(piece: bytes, last: bool) -> Iterator[bytes]:
        for number in range(0 if last else 1024):
            made.append(number)
            yield bytes(size)

    relay = Relay(tap=True, changes_length=True)
    handler = Scripted(response_plan=lambda exchange: Plan(relay), piece=inflate)
    with running(handler, ca) as engine, exchange(engine) as (client, site):
        site.sendall(HEAD + b"1\r\na\r\n0\r\n\r\n")
        read(client, len(HEAD))
        wait_until(lambda: made)
        # The turn is over in which the part was taken.
        assert engine.call(lambda: len(made)) != 1024
        body = read(client, 1024 * (size + len(b"10000\r\n\r\n")) + len(b"0\r\n\r\n"))
        assert body.endswith(b"\r\n0\r\n\r\n")
        assert handler.outcome().response_bytes == 1024 * size


def test_others_are_answered_while_a_handler_reads_on_in_what_passed(
    ca: CertificateAuthority,
) -> None:
    """The client has all but the end of its answer, which waits for the handler."""
    asked = 0

    def reads_on(of: Exchange) -> bool:
        nonlocal asked
        asked += 1
        return not other_is_over.is_set()

    other_is_over = threading.Event()
    plan = Plan(Relay(tap=True, reads_on=True))
    handler = Scripted(response_plan=lambda exchange: plan, reads_on=reads_on)
    with running(handler, ca) as engine, exchange(engine) as (client, site):
        site.sendall(HEAD + b"3\r\nabc\r\n0\r\n\r\n")
        assert read(client, len(HEAD) + 8) == HEAD + b"3\r\nabc\r\n"
        assert not handler.outcomes
        handler.response_plan = None
        with exchange(engine) as (other, other_site):
            other_site.sendall(HEAD + b"0\r\n\r\n")
            assert read(other, len(HEAD) + 5) == HEAD + b"0\r\n\r\n"
        assert handler.outcome().response_bytes == 0
        other_is_over.set()
        assert read(client, 5) == b"0\r\n\r\n"
        assert handler.outcome(2).response_bytes == 3
    assert asked > 1
