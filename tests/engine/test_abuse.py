"""Peers that flood, and messages that are hardly any: others go on, nothing passes half-read."""

import resource
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress

import pytest
from bench.fuzz.mutants_http import answers, requests
from hyperframe.frame import ContinuationFrame, HeadersFrame

from tests.engine.running import Running, Scripted, running, wait_until
from tests.proxy.support.client import H2Client, read_answer, secure, tunnelled
from tests.proxy.support.endless import EndlessSite
from tests.proxy.support.origin import Answer, Origin
from tests.proxy.support.raw_sockets import RawSite, read_to_end
from warex.engine.handler import Exchange, Intercept, Plan, RequestPlan, Respond
from warex.engine.http.heads import Headers
from warex.engine.sockets.buffers import LEAST
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire

IDLE = min(2000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2 - 100)
"""Connections; both of their ends are in this process."""


def reset_at_once(client: H2Client) -> None:
    client.conn.reset_stream(client.ask("/flood", flush=False))


def ping(client: H2Client) -> None:
    client.conn.ping(b"12345678")


def change_settings(client: H2Client) -> None:
    client.conn.update_settings({4: 65_535})
    client.conn.local_settings.acknowledge()


@pytest.mark.parametrize("flood", [reset_at_once, ping, change_settings])
def test_a_flood_ends_its_own_connection(
    ca: CertificateAuthority, flood: Callable[[H2Client], None]
) -> None:
    handler = Scripted(
        hello_plan=lambda connection: Intercept(site_first=False),
        request_plan=lambda exchange: Plan(Respond(200, Headers(), (b"own",))),
    )
    with running(handler, ca) as engine, connected(engine, ca) as calm:
        other = H2Client(calm, "shop.example")
        with connected(engine, ca) as connection:
            client = H2Client(connection, "shop.example")
            assert client.wait(client.ask("/")).body == b"own"
            with suppress(OSError):
                for _ in range(60):
                    for _ in range(50):
                        flood(client)
                    client.flush()
            assert ended_by(connection) == 11
            assert other.wait(other.ask("/")).body == b"own"
    assert len(handler.exchanges) < 300


def test_others_come_between_the_exchanges_of_one_read(ca: CertificateAuthority) -> None:
    asked: list[str] = []
    with socket.socket() as other:

        def plan(exchange: Exchange) -> RequestPlan:
            if not asked:
                other.sendall(b"GET http://a.example/other HTTP/1.1\r\nHost: a.example\r\n\r\n")
            asked.append(exchange.request.path)
            until = time.monotonic() + 0.002
            while time.monotonic() < until:
                pass
            return Plan(Respond(200, Headers(), (b"own",)))

        handler = Scripted(
            hello_plan=lambda connection: Intercept(site_first=False), request_plan=plan
        )
        with running(handler, ca) as engine, connected(engine, ca) as connection:
            other.connect(("127.0.0.1", engine.port))
            wait_until(lambda: handler.connections == 2)
            client = H2Client(connection, "shop.example")
            streams = [client.ask("/many", flush=False) for _ in range(90)]
            client.flush()
            assert all(client.wait(it).body == b"own" for it in streams)
            assert read_answer(other)[1] == b"own"
    assert len(asked) == 91
    assert asked.index("/other") < 20


def test_a_header_block_without_end_ends_its_connection(ca: CertificateAuthority) -> None:
    handler = Scripted(hello_plan=lambda connection: Intercept(site_first=False))
    with running(handler, ca) as engine, connected(engine, ca) as connection:
        client = H2Client(connection, "shop.example")
        client.flush()
        with suppress(OSError):
            connection.sendall(HeadersFrame(1, data=b"\0\1x\7fffffff").serialize())
            for _ in range(100):
                connection.sendall(ContinuationFrame(1, data=bytes(16_000)).serialize())
        # Bytes that are not read any more may turn the end into a reset, which loses the GOAWAY.
        assert ended_by(connection) in (1, 11, None)
        wait_until(lambda: handler.closed_connections)
    assert not handler.exchanges


@pytest.mark.parametrize("size", [300_000, 1_000_000])
def test_a_head_of_a_megabyte_is_refused(ca: CertificateAuthority, size: int) -> None:
    handler = Scripted()
    with running(handler, ca) as engine, tunnelled(engine.port, "127.0.0.1", 9) as client:
        client.settimeout(5)
        with suppress(OSError):
            client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + b"x" * size)
        assert read_to_end(client)[9:12] == b"431"
    assert [it.status for it in handler.rejections] == [431]
    assert not handler.exchanges


def test_a_frame_that_is_too_long_is_not_kept(ca: CertificateAuthority) -> None:
    handler = Scripted(hello_plan=lambda connection: Intercept(site_first=False))
    with running(handler, ca) as engine, connected(engine, ca) as connection:
        H2Client(connection, "shop.example").flush()
        connection.sendall((16_000_000).to_bytes(3) + bytes((0, 0)) + (1).to_bytes(4))
        assert ended_by(connection) == 6  # FRAME_SIZE_ERROR


def test_idle_connections_leave_others_unharmed(ca: CertificateAuthority, plain: Origin) -> None:
    with running(Scripted(), ca) as engine, ExitStack() as stack:
        for _ in range(IDLE):
            stack.enter_context(socket.create_connection(("127.0.0.1", engine.port)))
        with tunnelled(engine.port, "127.0.0.1", plain.port) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert read_answer(client)[1] == b"hello"


@pytest.mark.parametrize("first", [b"", b"G", b"GET / HTTP/1.1\r\nHost: a\r\n", b"\x16\x03\x01"])
def test_slow_writers_leave_others_unharmed(
    ca: CertificateAuthority, plain: Origin, first: bytes
) -> None:
    handler = Scripted()
    with running(handler, ca) as engine, ExitStack() as stack:
        for _ in range(50):
            slow = stack.enter_context(tunnelled(engine.port, "127.0.0.1", plain.port))
            slow.sendall(first)
        with tunnelled(engine.port, "127.0.0.1", plain.port) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert read_answer(client)[1] == b"hello"
    assert len(handler.exchanges) == 1


MEGABYTE = 1024 * 1024
ENDLESS = b"HTTP/1.1 200 OK\r\n\r\n"


def most_used(engine: Running, seconds: float = 0.5) -> int:
    """Wait until no more waits in an engine than a while before; return the most."""
    most, since = 0, time.monotonic()
    while time.monotonic() < since + seconds:
        if (used := engine.engine.buffers.used) > most:
            most, since = used, time.monotonic()
        time.sleep(0.005)
    return most


def test_clients_that_read_nothing_share_a_budget_and_others_go_on(
    ca: CertificateAuthority, plain: Origin
) -> None:
    plain.routes["/large"] = Answer(body=bytes(3 * MEGABYTE))
    with (
        running(Scripted(), ca, buffered=2 * MEGABYTE) as engine,
        EndlessSite(ENDLESS, bytes(65536), 64 * MEGABYTE) as site,
    ):
        with ExitStack() as stack:
            for _ in range(40):
                slow = stack.enter_context(tunnelled(engine.port, "127.0.0.1", site.port))
                slow.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert most_used(engine) < 2 * MEGABYTE + 40 * 4 * LEAST
            with tunnelled(engine.port, "127.0.0.1", plain.port) as client:
                client.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
                assert len(read_answer(client)[1]) == 3 * MEGABYTE
        wait_until(lambda: engine.engine.buffers.used == 0)


@pytest.mark.slow
def test_sites_that_read_nothing_share_a_budget_and_others_go_on(
    ca: CertificateAuthority, plain: Origin
) -> None:
    with (
        running(Scripted(), ca, buffered=2 * MEGABYTE) as engine,
        EndlessSite(b"", reads=False) as site,
    ):
        with ExitStack() as stack:
            for _ in range(20):
                sender = stack.enter_context(tunnelled(engine.port, "127.0.0.1", site.port))
                sender.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n")
                sender.setblocking(False)
                with suppress(BlockingIOError):
                    while True:
                        sender.send(bytes(65536))
            assert most_used(engine) < 2 * MEGABYTE + 20 * 4 * LEAST
            with tunnelled(engine.port, "127.0.0.1", plain.port) as client:
                body = bytes(MEGABYTE)
                head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body)
                client.sendall(head + body)
                assert read_answer(client)[1] == b"hello"
        wait_until(lambda: engine.engine.buffers.used == 0)  # Some bytes may still leave.


@pytest.mark.slow
def test_streams_that_are_not_read_share_a_budget_and_others_go_on(
    ca: CertificateAuthority, secure_h2: Origin
) -> None:
    secure_h2.routes["/large"] = Answer(body=bytes(MEGABYTE))
    with running(Scripted(), ca, buffered=2 * MEGABYTE) as engine:
        with ExitStack() as stack:
            for _ in range(4):
                connection = stack.enter_context(
                    secure(engine.port, "localhost", secure_h2.port, ca.certificate, "h2")
                )
                client = H2Client(connection, f"localhost:{secure_h2.port}", window=1000)
                for _ in range(30):
                    client.ask("/large")
            assert most_used(engine) < 6 * MEGABYTE
            connection = stack.enter_context(
                secure(engine.port, "localhost", secure_h2.port, ca.certificate, "h2")
            )
            other = H2Client(connection, f"localhost:{secure_h2.port}")
            assert len(other.wait(other.ask("/large")).body) == MEGABYTE
        wait_until(lambda: engine.engine.buffers.used == 0)


def connected(engine: Running, ca: CertificateAuthority) -> AbstractContextManager[ssl.SSLSocket]:
    return secure(engine.port, "shop.example", 443, ca.certificate, "h2")


def ended_by(connection: ssl.SSLSocket) -> int | None:
    """Return the error code of the GOAWAY with which a connection ended."""
    data = read_to_end(connection)
    at = len(data)
    while (at := data.rfind(b"\0\0\x08\x07\0\0\0\0\0", 0, at)) >= 0:
        return int.from_bytes(data[at + 13 : at + 17])
    return None


def test_an_answer_reaches_the_client_as_it_came_or_is_cut(ca: CertificateAuthority) -> None:
    full = 0
    with running(Scripted(), ca) as engine, RawSite() as site:
        for name, answer in answers():
            if answer.startswith(b"HTTP/1.1 101"):
                continue
            site.expects(answer, closes=True)
            with tunnelled(engine.port, "127.0.0.1", site.port) as client:
                client.settimeout(2)
                client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                got = read_to_end(client)
            assert answer.startswith(got), (name, got[:300])
            full += got == answer
    assert full > 200


@pytest.mark.parametrize(
    "fields",
    [
        b"Content-Length: 5\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: chunked\r\nContent-Length: 5",
        b"Transfer-Encoding: \x0bchunked",
        b"Transfer-Encoding: chunked, identity",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        b"Content-Length : 0\r\nContent-Length: 5",
        b"Content-Length: 0\r\nContent-Length: 5",
        b"Content-Length: +5",
        b"Content-Length: 5, 5",
        b"X: a\rTransfer-Encoding: chunked",
    ],
)
def test_a_request_with_two_readings_reaches_no_site(
    ca: CertificateAuthority, plain: Origin, fields: bytes
) -> None:
    handler = Scripted()
    with (
        running(handler, ca) as engine,
        tunnelled(engine.port, "127.0.0.1", plain.port) as client,
    ):
        client.settimeout(5)
        client.sendall(b"POST / HTTP/1.1\r\nHost: a\r\n%b\r\n\r\n0\r\n\r\n" % fields)
        assert read_to_end(client).startswith(b"HTTP/1.1 400 ")
    assert [it.status for it in handler.rejections] == [400]
    assert plain.paths == []


@pytest.mark.slow
def test_a_site_reads_the_request_that_was_read(ca: CertificateAuthority) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    passed = refused = 0
    handler = Scripted()
    with running(handler, ca) as engine, RawSite() as site:
        for name, request in requests(b"127.0.0.1:%d" % site.port):
            count = len(handler.raw_connections)
            site.expects(answer, closes=True)
            with tunnelled(engine.port, "127.0.0.1", site.port) as client:
                client.settimeout(1)
                client.sendall(request)
                got = read_to_end(client)
            if len(handler.raw_connections) > count:
                continue  # No HTTP: passed unread, and told.
            if got.startswith(answer[:15]):
                head = site.head.lower()
                framings = head.count(b"\ncontent-length"), head.count(b"\ntransfer-encoding")
                assert sum(framings) <= 1, (name, site.head)
                passed += 1
            else:
                assert got[9:12] in (b"400", b"431", b"505", b"100", b""), (name, got)
                refused += 1
    assert passed > 50
    assert refused > 80
