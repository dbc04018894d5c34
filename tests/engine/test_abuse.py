"""Peers that flood, and messages that are hardly any: others go on, nothing passes half-read."""

import socket
import ssl
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

import pytest
from bench.fuzz.mutants_http import answers, requests

from tests.engine.running import Running, Scripted, running, wait_until
from tests.proxy.support.client import H2Client, read_answer, secure, tunnelled
from tests.proxy.support.raw_sockets import RawSite, read_to_end
from warex.engine.handler import Exchange, Intercept, Plan, RequestPlan, Respond
from warex.engine.http.heads import Headers
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire


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
    whole = 0
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
            whole += got == answer
    assert whole > 200


@pytest.mark.slow
def test_a_site_reads_the_request_that_was_read(ca: CertificateAuthority) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    passed = refused = 0
    handler = Scripted()
    with running(handler, ca) as engine, RawSite() as site:
        for name, request in requests(b"127.0.0.1:%d" % site.port):
            told = len(handler.raw_connections)
            site.expects(answer, closes=True)
            with tunnelled(engine.port, "127.0.0.1", site.port) as client:
                client.settimeout(1)
                client.sendall(request)
                got = read_to_end(client)
            if len(handler.raw_connections) > told:
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
