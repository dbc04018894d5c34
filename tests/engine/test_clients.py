"""A client's connection: requests one after another, bodies both ways, and peers that are slow."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest

from tests.engine.running import Running, Scripted, running, wait_until
from tests.proxy.support.client import read_answer, read_until_closed, tunnelled
from tests.proxy.support.origin import Answer, Origin
from warex.engine.handler import Plan, Respond
from warex.engine.http.heads import Headers
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire

HOST = b"Host: localhost\r\n"


def test_pipelined_requests_are_answered_in_order(ca: CertificateAuthority, plain: Origin) -> None:
    plain.routes["/1"] = Answer(body=b"one")
    plain.routes["/2"] = Answer(body=b"two")
    with running(Scripted(), ca) as engine, to(engine, plain) as client:
        client.sendall(
            b"GET /1 HTTP/1.1\r\n"
            + HOST
            + b"\r\nGET /2 HTTP/1.1\r\n"
            + HOST
            + b"Connection: close\r\n\r\n"
        )
        got = read_until_closed(client)
    assert got.index(b"one") < got.index(b"two")
    assert plain.paths == ["/1", "/2"]


def test_a_body_passes_as_it_came(ca: CertificateAuthority, plain: Origin) -> None:
    body = b"3;x\r\nabc\r\n2\r\nde\r\n0\r\nX-End: z\r\n\r\n"
    with raw_site(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", until=b"z\r\n\r\n") as (
        port,
        got,
    ):
        handler = Scripted()
        head = b"POST / HTTP/1.1\r\n" + HOST + b"transfer-ENCODING: chunked\r\n\r\n"
        with running(handler, ca) as engine, tunnelled(engine.port, "127.0.0.1", port) as client:
            client.sendall(head + body)
            assert read_until_closed(client).startswith(b"HTTP/1.1 204 ")
            assert handler.outcome().request_bytes == 5
    assert got == [head + body]


def test_a_request_to_the_proxy_reaches_the_site_as_its_own(
    ca: CertificateAuthority, plain: Origin
) -> None:
    other = f"127.0.0.1:{plain.port}"
    request = f"GET http://{other}/a?b HTTP/1.1\r\nHost: {other}\r\nX-Odd:  1\r\n"
    with (
        running(Scripted(), ca) as engine,
        socket.create_connection(("127.0.0.1", engine.port), timeout=30) as client,
    ):
        for _ in range(2):
            client.sendall(
                f"{request}Proxy-Connection: keep-alive\r\nProxy-Authorization: x\r\n\r\n".encode()
            )
            assert read_answer(client)[1] == b"hello"
    expected = f"GET /a?b HTTP/1.1\r\nHost: {other}\r\nX-Odd:  1\r\n\r\n".encode()
    assert [seen.head for seen in plain.seen] == [expected, expected]
    assert plain.connections == 1


@pytest.mark.parametrize("need", ["whole", "stream"])
def test_a_client_that_expects_100_gets_it(
    ca: CertificateAuthority, plain: Origin, need: str
) -> None:
    handler = Scripted(need=need)  # type: ignore[arg-type]
    with running(handler, ca) as engine, to(engine, plain) as client:
        client.sendall(
            b"POST / HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        )
        assert client.recv(4096).startswith(b"HTTP/1.1 100 Continue\r\n")
        client.sendall(b"ab")
        assert read_answer(client)[1] == b"hello"
    assert plain.seen[0].body == b"ab"


def test_informational_responses_pass(ca: CertificateAuthority, plain: Origin) -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"
    plain.routes["/"] = Answer(raw=early + b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    with running(Scripted(), ca) as engine, to(engine, plain) as client:
        client.sendall(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
        got = b""
        while not got.endswith(b"ok"):
            got += client.recv(4096)
    assert got.startswith(early)


def test_an_upgraded_connection_passes_both_ways(ca: CertificateAuthority) -> None:
    switch = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: upgrade\r\n\r\n"
    handler = Scripted()
    with raw_site(switch + b"first", echo=True) as (port, _), running(handler, ca) as engine:
        with tunnelled(engine.port, "127.0.0.1", port) as client:
            client.sendall(
                b"GET / HTTP/1.1\r\n" + HOST + b"Upgrade: echo\r\nConnection: upgrade\r\n\r\n"
            )
            got = b""
            while not got.endswith(b"first"):
                got += client.recv(4096)
            assert got == switch + b"first"
            assert handler.outcome().end == "complete"
            client.sendall(b"\x00ping")
            assert client.recv(100) == b"\x00ping"
        wait_until(lambda: handler.upgrades_closed)


SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
UPGRADE = b"GET / HTTP/1.1\r\n" + HOST + b"Upgrade: x\r\nConnection: upgrade\r\n\r\n"


def test_what_a_client_sends_before_its_upgrade_passes_right_after_it(
    ca: CertificateAuthority,
) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as site,
        running(Scripted(), ca) as engine,
        tunnelled(engine.port, "127.0.0.1", site.getsockname()[1]) as client,
    ):
        client.sendall(UPGRADE)
        peer, _ = site.accept()
        with peer:
            peer.settimeout(5)
            read_until(peer, b"\r\n\r\n")
            client.sendall(b"early" + b"x" * 200_000)
            peer.sendall(SWITCH)
            assert read_until(peer, b"x" * 200_000).startswith(b"early")
            assert client.recv(4096) == SWITCH


@pytest.mark.parametrize("first", ["client", "site"])
def test_each_side_of_an_upgraded_connection_may_outlast_the_other(
    ca: CertificateAuthority, first: str
) -> None:
    handler = Scripted()
    with (
        socket.create_server(("127.0.0.1", 0)) as site,
        running(handler, ca) as engine,
        tunnelled(engine.port, "127.0.0.1", site.getsockname()[1]) as client,
    ):
        client.sendall(UPGRADE)
        peer, _ = site.accept()
        with peer:
            read_until(peer, b"\r\n\r\n")
            peer.sendall(SWITCH)
            read_until(client, b"\r\n\r\n")
            ended, other = (client, peer) if first == "client" else (peer, client)
            ended.shutdown(socket.SHUT_WR)
            assert other.recv(100) == b""
            other.sendall(b"still here")
            other.shutdown(socket.SHUT_WR)
            assert read_until_closed(ended) == b"still here"
        wait_until(lambda: handler.upgrades_closed)
    assert handler.closed_by_client == [first == "client"]


def test_sending_to_a_lost_upgraded_site_closes_the_client(
    ca: CertificateAuthority,
) -> None:
    handler = Scripted()
    with (
        socket.create_server(("127.0.0.1", 0)) as site,
        running(handler, ca) as engine,
        tunnelled(engine.port, "127.0.0.1", site.getsockname()[1]) as client,
    ):
        client.sendall(UPGRADE)
        peer, _ = site.accept()
        read_until(peer, b"\r\n\r\n")
        peer.sendall(SWITCH)
        read_until(client, b"\r\n\r\n")
        peer.close()

        def is_closed() -> bool:
            with suppress(OSError):
                client.sendall(b"anybody?")
            return bool(handler.upgrades_closed)

        wait_until(is_closed)


def read_until(peer: socket.socket, mark: bytes) -> bytes:
    data = b""
    while mark not in data:
        piece = peer.recv(65536)
        assert piece, data[-100:]
        data += piece
    return data


def test_a_long_upload_does_not_fill_memory(ca: CertificateAuthority) -> None:
    size = 64 * 1024 * 1024
    with (
        raw_site(b"", hold=threading.Event()) as (port, _),
        running(Scripted(), ca) as engine,
        tunnelled(engine.port, "127.0.0.1", port) as client,
    ):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        client.sendall(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % size)
        client.settimeout(0.5)
        sent = 0
        with suppress(TimeoutError):
            while sent < size:
                sent += client.send(b"x" * 65536)
        # What the kernel and our buffers hold, and no more.
        assert sent < 32 * 1024 * 1024


def test_a_long_upload_arrives_whole(ca: CertificateAuthority, plain: Origin) -> None:
    body = bytes(range(256)) * 8192
    with running(Scripted(), ca) as engine, to(engine, plain) as client:
        client.sendall(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(body))
        client.sendall(body)
        assert read_answer(client)[1] == b"hello"
    assert plain.seen[0].body == body


def test_a_slow_reader_makes_the_site_wait(ca: CertificateAuthority) -> None:
    size = 64 * 1024 * 1024
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size
    handler = Scripted()
    with raw_site(head, body=size) as (port, got), running(handler, ca) as engine:
        with tunnelled(engine.port, "127.0.0.1", port) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            client.sendall(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
            client.recv(10)
            sent = -1
            while sent != (sent := len(got)):
                time.sleep(0.2)
            assert len(got) * 65536 < 32 * 1024 * 1024
        outcome = handler.outcome()
    assert outcome.end == "client_left"
    assert outcome.response_bytes < size


def test_a_client_that_closes_right_after_its_answer_has_read_it(
    ca: CertificateAuthority, plain: Origin
) -> None:
    handler = Scripted(request_plan=lambda exchange: Plan(Respond(500, Headers(), (b"x" * 1000,))))
    with running(handler, ca) as engine:
        for _ in range(50):
            with to(engine, plain) as client:
                client.sendall(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
                read_answer(client)
        wait_until(lambda: len(handler.outcomes) == 50)
    assert {(it.end, it.arrived) for it in handler.outcomes} == {("complete", True)}


def test_an_unread_request_body_ends_the_connection(
    ca: CertificateAuthority, plain: Origin
) -> None:
    handler = Scripted(request_plan=lambda exchange: Plan(Respond(413, Headers(), (b"no",))))
    with running(handler, ca) as engine, to(engine, plain) as client:
        client.sendall(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 100\r\n\r\nabc")
        assert read_until_closed(client).endswith(b"no")
        assert handler.outcome().arrived


def test_a_client_that_sends_on_reads_why_it_is_refused(
    ca: CertificateAuthority, plain: Origin
) -> None:
    handler = Scripted(request_plan=lambda exchange: Plan(Respond(413, Headers(), (b"no",))))
    with running(handler, ca) as engine, to(engine, plain) as client:
        client.sendall(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 10000000\r\n\r\nabc")
        wait_until(lambda: handler.outcomes)
        for _ in range(20):
            client.sendall(bytes(10000))
        assert read_until_closed(client).endswith(b"no")


def test_a_site_that_answers_early_is_heard(ca: CertificateAuthority) -> None:
    answer = b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno"
    with (
        raw_site(answer) as (port, _),
        running(Scripted(), ca) as engine,
        tunnelled(engine.port, "127.0.0.1", port) as client,
    ):
        client.sendall(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 100\r\n\r\nabc")
        assert read_until_closed(client).endswith(b"no")


def test_the_end_of_the_engine_ends_open_exchanges(ca: CertificateAuthority) -> None:
    handler = Scripted()
    with (
        raw_site(b"", hold=threading.Event()) as (port, _),
        ExitStack() as stack,
        running(handler, ca) as engine,
    ):
        client = stack.enter_context(tunnelled(engine.port, "127.0.0.1", port))
        client.sendall(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
        wait_until(lambda: handler.exchanges)
    assert [it.end for it in handler.outcomes] == ["shut_down"]
    assert len(handler.closed_connections) == 1


@contextmanager
def to(engine: Running, site: Origin) -> Iterator[socket.socket]:
    with tunnelled(engine.port, "127.0.0.1", site.port) as client:
        yield client


@contextmanager
def raw_site(
    answer: bytes,
    *,
    until: bytes = b"\r\n\r\n",
    echo: bool = False,
    hold: threading.Event | None = None,
    body: int = 0,
) -> Iterator[tuple[int, list[bytes]]]:
    """A site that answers one connection with these bytes; yield its port and what it read.

    With ``body`` it counts the pieces that it could send instead.
    """
    got: list[bytes] = []

    def serve() -> None:
        peer, _ = server.accept()
        with peer:
            if hold is not None:
                hold.wait(10)
                return
            data = b""
            while until not in data:
                piece = peer.recv(65536)
                if not piece:
                    return
                data += piece
            if not body:
                got.append(data)
            peer.sendall(answer)
            try:
                for _ in range(body // 65536):
                    peer.sendall(b"x" * 65536)
                    got.append(b"")
                while echo and (piece := peer.recv(65536)):
                    peer.sendall(piece)
            except OSError:
                return
            if not (echo or body) and b"close" not in answer:
                peer.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as server:
        # The kernel may buffer a hundred megabytes otherwise.
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1], got
        if hold is not None:
            hold.set()
        thread.join(5)
