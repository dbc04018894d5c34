"""What a client speaks decides how its connection is served: TLS, HTTP, or bytes unread."""

import asyncio
import gc
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from bench.fuzz.mutants_websocket import frame

from tests.engine.running import Scripted, running, shake_hands, wait_until
from tests.ports import reserved_port
from tests.proxy.support.client import (
    read_answer,
    read_until_closed,
    secure,
    trusting,
    tunnelled,
)
from tests.proxy.support.origin import Answer, Origin
from warex.engine import connection
from warex.engine.handler import (
    Abort,
    AbortConnection,
    Address,
    Connection,
    Exchange,
    Forward,
    FrameUse,
    Intercept,
    Plan,
    Respond,
    Site,
    Stall,
    Tunnel,
)
from warex.engine.http.heads import Headers
from warex.engine.net.dialling import Dialler
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
JOIN = b"\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"


def test_the_sites_protocol_is_offered_to_the_client(
    ca: CertificateAuthority, secure_h1: Origin
) -> None:
    with (
        running(Scripted(), ca) as engine,
        secure(
            engine.port, "localhost", secure_h1.port, ca.certificate, "h2", "http/1.1"
        ) as client,
    ):
        assert client.selected_alpn_protocol() == "http/1.1"
        client.sendall(GET)
        assert read_answer(client)[1] == b"hello"
    assert secure_h1.alpn == ["http/1.1"]


@pytest.mark.parametrize("protocol", ["http/1.1", "h2"])
def test_a_connection_that_is_over_is_freed_without_the_garbage_collector(
    ca: CertificateAuthority, secure_h1: Origin, secure_h2: Origin, protocol: str
) -> None:
    """Its TLS is memory of OpenSSL's, of which the collector knows nothing."""
    origin = secure_h2 if protocol == "h2" else secure_h1
    handler = Scripted()
    with running(handler, ca) as engine, all_tls_is_freed():
        for _ in range(3):
            with secure(engine.port, "localhost", origin.port, ca.certificate, protocol) as client:
                if protocol == "http/1.1":
                    client.sendall(GET)
                    assert read_answer(client)[1] == b"hello"
        wait_until(lambda: len(handler.closed_connections) == 3)


def test_a_connection_is_freed_after_every_kind_of_ending(
    ca: CertificateAuthority, secure_h1: Origin
) -> None:
    half = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n"
    secure_h1.routes["/cut"] = Answer(raw=half + b"Connection: close\r\n\r\nhalf")
    secure_h1.routes["/half"] = Answer(raw=half + b"\r\nhalf")
    secure_h1.routes["/socket"] = Answer(raw=SWITCH + frame(1, b"half"))
    handler = ReadsFrames(
        request_plan=lambda it: Plan(
            Abort("close") if it.request.path == "/abort" else Forward(),
            (0.001,),
        )
    )
    with running(handler, ca) as engine, all_tls_is_freed():
        for path in ("/cut", "/half", "/socket", "/abort"):
            with secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client:
                client.settimeout(5)
                client.sendall(GET.replace(b"/ ", path.encode() + b" ").replace(b"\r\n\r\n", JOIN))
                # A client that left at once would come before the end of the site.
                leaves = path != "/cut"
                while (got := client.recv(4096)) and not (leaves and got.endswith(b"half")):
                    pass
        wait_until(lambda: len(handler.closed_connections) == 4)
    ends = {(it.end, it.head_sent) for it in handler.outcomes}  # The next may begin before.
    assert ends == {
        ("site_failed", True),
        ("client_left", True),
        ("complete", True),
        ("aborted", False),
    }


class ReadsFrames(Scripted):
    """Reads the frames of WebSockets."""

    def wants_frames(self, exchange: Exchange) -> FrameUse | None:
        return "read"


@contextmanager
def all_tls_is_freed() -> Iterator[None]:
    """Wait until the TLS of the block's connections is freed, without the garbage collector."""

    def sessions() -> int:
        return sum(isinstance(each, ssl.SSLObject) for each in gc.get_objects())

    gc.collect()
    before = sessions()
    gc.disable()
    try:
        yield
        wait_until(lambda: sessions() <= before)
    finally:
        gc.enable()


def test_a_client_without_alpn_gets_none(ca: CertificateAuthority, secure_h1: Origin) -> None:
    with (
        running(Scripted(), ca) as engine,
        secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client,
    ):
        assert client.selected_alpn_protocol() is None
    assert secure_h1.alpn == [None]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_sessions_of_both_versions_of_tls_are_resumed(
    ca: CertificateAuthority, secure_h1: Origin, version: ssl.TLSVersion
) -> None:
    context = trusting(ca.certificate)
    context.minimum_version = context.maximum_version = version
    session: ssl.SSLSession | None = None
    with running(Scripted(), ca) as engine:
        for resumed in (False, True):
            raw = tunnelled(engine.port, "localhost", secure_h1.port)
            with context.wrap_socket(raw, server_hostname="localhost", session=session) as client:
                client.sendall(GET)
                assert read_answer(client)[1] == b"hello"
                assert (client.version(), client.session_reused) == (
                    version.name.replace("_", "."),
                    resumed,
                )
                session = client.session


def test_a_dead_site_fails_the_client_before_the_handshake(ca: CertificateAuthority) -> None:
    handler = Scripted()
    with running(handler, ca) as engine:
        raw = tunnelled(engine.port, "localhost", reserved_port())
        with raw, pytest.raises(ConnectionResetError):
            shake_hands(raw, "localhost", ca)
        wait_until(lambda: handler.closed_connections)
    assert "refused" in handler.unreached[0]
    assert handler.handshakes == []


def test_a_dead_site_may_fail_the_first_request_instead(ca: CertificateAuthority) -> None:
    handler = Scripted(hello_plan=lambda connection: Intercept(needs_site=False))
    with (
        running(handler, ca) as engine,
        secure(engine.port, "localhost", reserved_port(), ca.certificate) as client,
    ):
        client.sendall(GET)
        assert read_until_closed(client) == b""
        outcome = handler.outcome()
    assert (outcome.end, outcome.unreachable) == ("site_failed", "connection_refused")
    assert handler.unreached == []


def test_an_untrusted_site_is_not_shown_as_trusted(
    ca: CertificateAuthority, secure_h1: Origin
) -> None:
    handler = Scripted()
    with running(handler, ca) as engine:
        raw = tunnelled(engine.port, "127.0.0.1", secure_h1.port)
        with raw, pytest.raises(OSError, match=r"reset|EOF"):
            shake_hands(raw, "127.0.0.1", ca)
        wait_until(lambda: handler.closed_connections)
    assert "not trusted" in handler.unreached[0]


def test_a_response_of_our_own_needs_no_site(ca: CertificateAuthority) -> None:
    handler = Scripted(
        hello_plan=lambda connection: Intercept(site_first=False),
        request_plan=lambda exchange: Plan(Respond(200, Headers(), (b"own",))),
    )
    with (
        running(handler, ca) as engine,
        secure(engine.port, "shop.example", 443, ca.certificate, "http/1.1") as client,
    ):
        client.sendall(GET)
        assert read_answer(client)[1] == b"own"


def test_a_mapped_host_is_served_by_its_site(ca: CertificateAuthority, plain: Origin) -> None:
    site = Site("http", Address("127.0.0.1", plain.port))
    handler = Scripted(hello_plan=lambda connection: Intercept(site=site))
    with (
        running(handler, ca) as engine,
        secure(engine.port, "shop.example", 443, ca.certificate, "h2", "http/1.1") as client,
    ):
        assert client.selected_alpn_protocol() == "http/1.1"
        client.sendall(b"GET /a HTTP/1.1\r\nHost: shop.example\r\n\r\n")
        assert read_answer(client)[1] == b"hello"
    assert plain.seen[0].header("host") == "shop.example"
    assert handler.exchanges[0].request.url == "https://shop.example/a"


@pytest.mark.parametrize(
    ("defect", "message"),
    [
        ("expired", "certificate has expired"),
        ("wrong_host", "Hostname mismatch"),
        ("self_signed", "self-signed certificate"),
        ("unknown_ca", "unable to get local issuer"),
    ],
)
def test_a_certificate_has_one_defect(
    ca: CertificateAuthority, secure_h1: Origin, defect: str, message: str
) -> None:
    plan = Intercept(defect=defect)  # type: ignore[arg-type]
    handler = Scripted(hello_plan=lambda connection: plan)
    with running(handler, ca) as engine:
        raw = tunnelled(engine.port, "localhost", secure_h1.port)
        with raw, pytest.raises(ssl.SSLCertVerificationError, match=message):
            shake_hands(raw, "localhost", ca)
        wait_until(lambda: handler.closed_connections)
    ((ended, reason),) = handler.handshakes
    assert ended == "rejected"
    assert "alert" in reason
    assert handler.closed_connections[0].certificate_sent


@pytest.mark.parametrize(("how", "error"), [("close", ssl.SSLError), ("reset", OSError)])
def test_a_connection_ends_before_its_handshake(
    ca: CertificateAuthority, how: str, error: type[Exception]
) -> None:
    plan = AbortConnection(how)  # type: ignore[arg-type]
    handler = Scripted(hello_plan=lambda connection: plan)
    with running(handler, ca) as engine:
        raw = tunnelled(engine.port, "localhost", 443)
        with raw, pytest.raises(error):
            shake_hands(raw, "localhost", ca)
        wait_until(lambda: handler.closed_connections)
    assert handler.handshakes == [("aborted", "")]


def test_a_handshake_stalls_until_the_client_leaves(ca: CertificateAuthority) -> None:
    handler = Scripted(hello_plan=lambda connection: Stall())
    with running(handler, ca) as engine:
        raw = tunnelled(engine.port, "localhost", 443)
        raw.settimeout(0.3)
        with pytest.raises(TimeoutError):
            shake_hands(raw, "localhost", ca)
        wait_until(lambda: handler.closed_connections)
    assert handler.handshakes == [("left", "")]


def test_a_connection_passes_unread(ca: CertificateAuthority, secure_h1: Origin) -> None:
    handler = Scripted(hello_plan=lambda connection: Tunnel())
    with running(handler, ca) as engine:
        with secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client:
            client.sendall(GET)
            assert read_answer(client)[1] == b"hello"
            issuer = client.getpeercert()
        wait_until(lambda: handler.closed_connections)
    assert issuer
    (connection,) = handler.closed_connections
    assert connection.sent_to_site > len(GET)
    assert connection.sent_to_client > 500
    assert handler.exchanges == []


def test_plain_http_in_a_tunnel_is_read(ca: CertificateAuthority, plain: Origin) -> None:
    handler = Scripted()
    with (
        running(handler, ca) as engine,
        tunnelled(engine.port, "127.0.0.1", plain.port) as client,
    ):
        client.sendall(b"GET /a HTTP/1.1\r\nHost: other.example\r\n\r\n")
        assert read_answer(client)[1] == b"hello"
    assert handler.exchanges[0].request.url == "http://other.example/a"


@pytest.mark.parametrize("server_first", [True, False])
def test_what_is_not_http_passes_unread_and_half_closed(
    ca: CertificateAuthority, server_first: bool
) -> None:
    handler = Scripted()
    with raw_site(server_first) as port, running(handler, ca) as engine:
        with tunnelled(engine.port, "127.0.0.1", port) as client:
            if server_first:
                assert client.recv(100) == b"220 ready\r\n"
            client.sendall(b"\x00\x01odd")
            client.shutdown(socket.SHUT_WR)
            assert read_until_closed(client) == b"got \x00\x01odd"
        wait_until(lambda: handler.closed_connections)
    assert len(handler.raw_connections) == 1
    assert handler.closed_connections[0].sent_to_site == 5


def test_a_client_that_is_slow_to_speak_is_read_after_all(
    ca: CertificateAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_SERVER_FIRST_DELAY", 0.01)
    handler = Scripted()
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        running(handler, ca) as engine,
        tunnelled(engine.port, "127.0.0.1", server.getsockname()[1]) as client,
    ):
        server.settimeout(5)
        # The engine waits for either side to speak.
        asked, _ = server.accept()
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        with asked:
            assert asked.recv(1) == b""
        site, _ = server.accept()
        with site:
            site.recv(1000)
            site.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            assert read_answer(client)[1] == b"hello"
    assert handler.raw_connections == []
    assert len(handler.exchanges) == 1


def test_a_silent_client_may_leave(
    ca: CertificateAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_SERVER_FIRST_DELAY", 0.01)
    handler = Scripted()
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        running(handler, ca) as engine,
    ):
        server.settimeout(5)
        with tunnelled(engine.port, "127.0.0.1", server.getsockname()[1]):
            asked, _ = server.accept()
        with asked:
            assert asked.recv(1) == b""
        wait_until(lambda: handler.closed_connections)
    assert handler.raw_connections == []


def test_an_invalid_request_is_refused_and_reported(
    ca: CertificateAuthority, plain: Origin
) -> None:
    handler = Scripted()
    with (
        running(handler, ca) as engine,
        tunnelled(engine.port, "127.0.0.1", plain.port) as client,
    ):
        client.sendall(
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        )
        assert read_until_closed(client).startswith(b"HTTP/1.1 400 ")
        wait_until(lambda: handler.rejections)
    assert plain.seen == []
    assert handler.outcomes == []


def test_a_broken_client_hello_ends_the_connection(ca: CertificateAuthority) -> None:
    with running(Scripted(), ca) as engine, tunnelled(engine.port, "localhost", 443) as client:
        client.sendall(b"\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00")
        assert read_until_closed(client) == b""


def test_a_client_that_leaves_while_the_site_is_dialled_ends_the_dialling(
    ca: CertificateAuthority,
) -> None:
    handler = Scripted()
    with running(handler, ca) as engine:
        # TEST-NET-1 answers nothing (RFC 5737).
        raw = tunnelled(engine.port, "192.0.2.1", 443)
        raw.settimeout(0.2)
        with pytest.raises((TimeoutError, OSError)):
            shake_hands(raw, "localhost", ca)
        wait_until(lambda: handler.closed_connections)


def site_first(connection: Connection) -> Site | None:
    assert connection.destination is not None
    return Site("https", connection.destination, direct=False)


def connect(port: int, authority: str, more: bytes = b"") -> tuple[socket.socket, bytes]:
    """Ask a proxy for a tunnel; return its answer's head."""
    client = socket.create_connection(("127.0.0.1", port), timeout=30)
    line = f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode()
    client.sendall(line + more)
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += client.recv(1)
    return client, head


@pytest.mark.parametrize(
    ("host", "failure"),
    [
        ("127.0.0.1", b"connection_refused"),
        ("localhost", b"connection_refused"),
        ("no-such-host.invalid", b"dns_error"),
    ],
)
def test_a_tunnel_to_a_site_that_is_down_is_refused_with_a_reason_only(
    ca: CertificateAuthority, host: str, failure: bytes
) -> None:
    handler = Scripted(connect_plan=site_first)
    with running(handler, ca) as engine:
        client, head = connect(engine.port, f"{host}:{reserved_port()}")
        with client:
            assert read_until_closed(client) == b""
        wait_until(lambda: handler.closed_connections)
    assert head == (
        b"HTTP/1.1 502 Bad Gateway\r\nProxy-Status: proxy; error=%b\r\n"
        b"Content-Length: 0\r\nConnection: close\r\n\r\n" % failure
    )
    assert [it.encode() for it in handler.failures] == [failure]
    assert handler.handshakes == []


def test_a_tunnel_uses_the_connection_that_was_made_before_it_was_answered(
    ca: CertificateAuthority, secure_h1: Origin
) -> None:
    before = secure_h1.connections
    with running(Scripted(connect_plan=site_first), ca) as engine:
        for _ in range(2):
            with secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client:
                client.sendall(GET)
                assert read_answer(client)[1] == b"hello"
    assert secure_h1.connections == before + 2


def test_a_tunnel_that_its_client_leaves_unused_leaves_no_connection(
    ca: CertificateAuthority,
) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as site,
        running(Scripted(connect_plan=site_first), ca) as engine,
    ):
        client, head = connect(engine.port, f"127.0.0.1:{site.getsockname()[1]}")
        assert b" 200 " in head
        peer, _ = site.accept()
        client.close()
        with peer:
            peer.settimeout(5)
            assert peer.recv(1) == b""


def test_a_site_that_has_closed_an_unused_connection_is_connected_to_again(
    ca: CertificateAuthority,
) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as site,
        running(Scripted(connect_plan=site_first), ca) as engine,
    ):
        client, _ = connect(engine.port, f"127.0.0.1:{site.getsockname()[1]}")
        site.accept()[0].close()
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        peer, _ = site.accept()
        with peer:
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            assert read_answer(client)[1] == b"hi"
        client.close()


def test_what_a_site_says_first_comes_through_a_tunnel(ca: CertificateAuthority) -> None:
    with (
        raw_site(server_first=True) as port,
        running(Scripted(connect_plan=site_first), ca) as engine,
    ):
        client, _ = connect(engine.port, f"127.0.0.1:{port}", b"\x00\x01odd")
        with client:
            client.shutdown(socket.SHUT_WR)
            assert read_until_closed(client) == b"220 ready\r\ngot \x00\x01odd"


def test_a_client_that_leaves_before_its_tunnel_has_no_site_that_failed(
    ca: CertificateAuthority, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled = threading.Event()

    async def dial(dialler: Dialler, host: str, port: int) -> socket.socket:
        dialled.set()
        never: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()
        return await never

    monkeypatch.setattr(Dialler, "dial", dial)
    handler = Scripted(connect_plan=site_first)
    with running(handler, ca) as engine:
        with socket.create_connection(("127.0.0.1", engine.port), timeout=30) as client:
            client.sendall(b"CONNECT shop.example:443 HTTP/1.1\r\nHost: x\r\n\r\n")
            assert dialled.wait(5)
        wait_until(lambda: handler.closed_connections)
    assert handler.failures == []


def test_a_proxy_does_not_connect_to_itself(ca: CertificateAuthority) -> None:
    handler = Scripted()
    with running(handler, ca) as engine:
        url = f"http://127.0.0.1:{engine.port}/"
        with socket.create_connection(("127.0.0.1", engine.port), timeout=30) as client:
            client.sendall(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert read_until_closed(client) == b""
        assert "is this proxy itself" in (handler.outcome().error or "")
    assert len(handler.exchanges) == 1


def test_ipv6_is_served(ca: CertificateAuthority) -> None:
    with (
        raw_site(server_first=False, host="::1") as port,
        running(Scripted(), ca) as engine,
        tunnelled(engine.port, "[::1]", port) as client,
    ):
        client.sendall(b"\x00\x01odd")
        client.shutdown(socket.SHUT_WR)
        assert read_until_closed(client) == b"got \x00\x01odd"


@contextmanager
def raw_site(server_first: bool, host: str = "127.0.0.1") -> Iterator[int]:
    """A site that speaks no HTTP, and answers once the client has sent its last byte."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET

    def serve() -> None:
        peer, _ = server.accept()
        with peer:
            if server_first:
                peer.sendall(b"220 ready\r\n")
            peer.sendall(b"got " + read_until_closed(peer))

    with socket.create_server((host, 0), family=family) as server:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        thread.join(5)
