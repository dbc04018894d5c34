"""HTTP/2 on both sides: streams beside each other, flow control, and how they end."""

import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from h2.settings import SettingCodes

from tests.engine.running import Running, Scripted, running, wait_until
from tests.proxy.support.client import (
    Got,
    H2Client,
    read_answer,
    read_until_closed,
    secure,
    trusting,
    tunnelled,
    was_reset,
)
from tests.proxy.support.origin import Answer, Origin, served
from warex.engine.ends import End
from warex.engine.handler import (
    Abort,
    Address,
    Exchange,
    Forward,
    Intercept,
    Plan,
    Relay,
    RequestPlan,
    Respond,
    Site,
)
from warex.engine.http.heads import Headers
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire


def test_streams_pass_beside_each_other(ca: CertificateAuthority, secure_h2: Origin) -> None:
    body = bytes(range(256)) * 2000
    secure_h2.routes["/large"] = Answer(body=body, trailers=[(b"x-end", b"z")])

    def plan(exchange: Exchange) -> RequestPlan:
        return Plan(Forward(), hold_s=(0.3,) if exchange.request.path == "/held" else ())

    handler = Scripted(request_plan=plan)
    with running(handler, ca) as engine, client_of(engine, secure_h2, ca) as client:
        began = time.monotonic()
        pending = client.ask("/held")
        large = [client.ask("/large", flush=number == 9) for number in range(10)]
        for stream in large:
            got = client.wait(stream)
            assert (got.body, got.trailers) == (body, [(b"x-end", b"z")])
        assert client.wait(pending).body == b"hello"
        assert time.monotonic() - began >= 0.29
        handler.outcome(11)
    assert secure_h2.connections == 1
    assert {(it.end, it.arrived) for it in handler.outcomes} == {("complete", True)}
    assert sorted(it.response_bytes for it in handler.outcomes) == [5] + [len(body)] * 10


def test_the_requests_of_one_turn_leave_for_the_site_in_one_write(
    ca: CertificateAuthority, secure_h2: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: Counter[int] = Counter()
    write = End.write

    def counted(end: End, data: bytes) -> None:
        writes[id(end)] += 1
        write(end, data)

    handler = Scripted()
    with running(handler, ca) as engine, client_of(engine, secure_h2, ca) as client:
        assert client.wait(client.ask("/")).body == b"hello"
        monkeypatch.setattr(End, "write", counted)
        for stream in [client.ask("/", flush=number == 19) for number in range(20)]:
            assert client.wait(stream).body == b"hello"
    assert {(it.end, it.arrived) for it in handler.outcomes} == {("complete", True)}
    assert min(writes.values()) < 10


def test_an_upload_passes(ca: CertificateAuthority, secure_h2: Origin) -> None:
    with running(Scripted(), ca) as engine, client_of(engine, secure_h2, ca) as client:
        assert client.wait(client.ask("/", "POST", b"x" * 16000)).body == b"hello"
    assert secure_h2.seen[0].body == b"x" * 16000


def test_what_flow_control_holds_back_has_not_left(
    ca: CertificateAuthority, secure_h2: Origin
) -> None:
    own = Respond(200, Headers(), (b"x" * 1000,))
    handler = Scripted(request_plan=lambda exchange: Plan(own))
    with running(handler, ca) as engine:
        with client_of(engine, secure_h2, ca, window=400) as client:
            stream = client.ask("/")
            client.read_until(lambda: len(client.streams[stream].body) == 400, stream)
            assert handler.outcomes == []
            client.give_up(stream)
            outcome = handler.outcome()
            assert (outcome.end, outcome.arrived) == ("client_left", False)
            assert (outcome.response_bytes, outcome.head_sent) == (400, True)
        wait_until(lambda: handler.closed_connections)


def test_a_stream_that_is_cancelled_after_its_answer_has_it(
    ca: CertificateAuthority, secure_h2: Origin
) -> None:
    handler = Scripted(request_plan=lambda exchange: Plan(Respond(500, Headers(), (b"own",))))
    with running(handler, ca) as engine, client_of(engine, secure_h2, ca) as client:
        for _ in range(20):
            stream = client.ask("/")
            assert client.wait(stream).body == b"own"
        handler.outcome(20)
    assert {(it.end, it.arrived) for it in handler.outcomes} == {("complete", True)}


@pytest.mark.parametrize("how", ["close", "reset"])
def test_an_abort_ends_the_stream_or_the_connection(
    ca: CertificateAuthority, secure_h2: Origin, how: str
) -> None:
    def plan(exchange: Exchange) -> RequestPlan:
        if exchange.request.path == "/cut":
            return Plan(Abort(how))  # type: ignore[arg-type]
        return Plan(Forward(), hold_s=(60,))

    handler = Scripted(request_plan=plan)
    with running(handler, ca) as engine, client_of(engine, secure_h2, ca) as client:
        client.ask("/other")
        cut = client.ask("/cut")
        if how == "close":
            assert client.wait(cut).reset == 2
            assert handler.outcome().end == "aborted"
        else:
            assert was_reset(client.connection)
            handler.outcome(2)
            assert [it.end for it in handler.outcomes] == ["aborted"] * 2
        assert handler.outcomes[0].arrived


def test_a_client_that_leaves_ends_every_stream(
    ca: CertificateAuthority, secure_h2: Origin
) -> None:
    handler = Scripted(request_plan=lambda exchange: Plan(Forward(), hold_s=(60,)))
    with running(handler, ca) as engine:
        with client_of(engine, secure_h2, ca) as client:
            for _ in range(3):
                client.ask("/")
            wait_until(lambda: len(handler.exchanges) == 3)
        handler.outcome(3)
    assert [it.end for it in handler.outcomes] == ["client_left"] * 3


def test_a_tap_may_change_the_length(ca: CertificateAuthority, secure_h2: Origin) -> None:
    secure_h2.routes["/"] = Answer(headers=[(b"content-length", b"5")])
    handler = Scripted(
        response_plan=lambda exchange: Plan(Relay(tap=True, changes_length=True)),
        piece=lambda piece, last: [b"end"] if last else [piece, b"+"],
    )
    with running(handler, ca) as engine, client_of(engine, secure_h2, ca) as client:
        got = client.wait(client.ask("/"))
        assert got.body == b"hello+end"
        assert b"content-length" not in dict(got.headers)


def test_an_http1_site_answers_an_http2_client(ca: CertificateAuthority, plain: Origin) -> None:
    raw = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nKeep-Alive: 5\r\n\r\n"
    plain.routes["/a"] = Answer(raw=raw + b"5\r\nhello\r\n0\r\nX-End: z\r\n\r\n")
    site = Site("http", Address("127.0.0.1", plain.port))

    def plan(exchange: Exchange) -> RequestPlan:
        return Plan(Forward(site=site))

    handler = Scripted(hello_plan=lambda connection: Intercept(site_first=False), request_plan=plan)
    with (
        running(handler, ca) as engine,
        secure(engine.port, "shop.example", 443, ca.certificate, "h2") as connection,
    ):
        client = H2Client(connection, "shop.example")
        got = client.wait(client.ask("/a", "POST", b"abc"))
        assert (got.status, got.body) == (200, b"hello")
        assert not {b"transfer-encoding", b"keep-alive"} & dict(got.headers).keys()
    assert (plain.seen[0].body, plain.seen[0].header("host")) == (b"abc", "shop.example")


def test_http2_without_tls_is_read_in_a_tunnel(ca: CertificateAuthority) -> None:
    handler = Scripted()
    with (
        served(h2c=True) as site,
        running(handler, ca) as engine,
        tunnelled(engine.port, "127.0.0.1", site.port) as connection,
    ):
        client = H2Client(connection, f"127.0.0.1:{site.port}")
        assert client.wait(client.ask("/")).body == b"hello"
    assert handler.exchanges[0].connection.version == "HTTP/2.0"


def test_a_site_that_wants_a_client_certificate_may_do_without(
    ca: CertificateAuthority, leaf: tuple[Path, Path]
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*leaf)
    context.verify_mode = ssl.CERT_OPTIONAL
    context.load_verify_locations(ca.certificate)
    with (
        served(context) as site,
        running(Scripted(), ca) as engine,
        secure(engine.port, "localhost", site.port, ca.certificate) as client,
    ):
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert read_answer(client)[1] == b"hello"


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_the_alert_of_a_site_that_needs_a_client_certificate_is_kept(
    ca: CertificateAuthority, leaf: tuple[Path, Path], version: ssl.TLSVersion
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*leaf)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(ca.certificate)
    context.minimum_version = context.maximum_version = version
    handler = Scripted()
    with refusing(context) as port, running(handler, ca) as engine:
        raw = tunnelled(engine.port, "localhost", port)
        tls = trusting(ca.certificate)
        with (
            raw,
            suppress(ConnectionResetError),
            tls.wrap_socket(raw, server_hostname="localhost") as client,
        ):
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert read_until_closed(client) == b""
        wait_until(lambda: handler.failures or handler.outcomes)
    if version == ssl.TLSVersion.TLSv1_2:
        assert handler.failures == ["tls_protocol_error"]
        assert "alert handshake failure" in handler.unreached[0]
    else:  # The site refuses once the handshake is over for its client.
        assert handler.outcome().end == "site_failed"
        assert "certificate required" in (handler.outcome().error or "")


@contextmanager
def refusing(context: ssl.SSLContext) -> Iterator[int]:
    """A site that refuses each handshake, and then reads until its client closes."""

    def refuse(peer: socket.socket) -> None:
        wrapped = context.wrap_socket(peer, server_side=True, do_handshake_on_connect=False)
        with suppress(OSError), wrapped:  # The client may be gone at any moment.
            try:
                wrapped.do_handshake()
            except ssl.SSLError:  # The alert is sent; a close with unread bytes would reset it.
                socket.socket.shutdown(wrapped, socket.SHUT_WR)
                while socket.socket.recv(wrapped, 4096):
                    pass

    def serve() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=refuse, args=(site.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as site:
        threading.Thread(target=serve, daemon=True).start()
        yield site.getsockname()[1]
        site.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    "fields",
    [
        [(":method", "CONNECT"), (":authority", "other.example:443")],
        [
            (":method", "CONNECT"),
            (":protocol", "websocket"),
            (":scheme", "https"),
            (":authority", "localhost"),
            (":path", "/socket"),
        ],
    ],
)
def test_a_stream_cannot_become_a_tunnel_and_others_go_on(
    ca: CertificateAuthority, secure_h2: Origin, fields: list[tuple[str, str]]
) -> None:
    handler = Scripted()
    with running(handler, ca) as engine, client_of(engine, secure_h2, ca) as client:
        assert client.wait(client.ask("/before")).body == b"hello"
        # WebSockets over HTTP/2 (RFC 8441) are not offered: browsers use HTTP/1.1 for them.
        assert not client.conn.remote_settings[SettingCodes.ENABLE_CONNECT_PROTOCOL]
        stream = client.conn.get_next_available_stream_id()
        client.streams[stream] = Got()
        client.conn.config.validate_outbound_headers = False
        client.conn.send_headers(stream, fields)
        client.flush()
        assert client.wait(stream).status == 400
        assert client.wait(client.ask("/after")).body == b"hello"
    assert [it.status for it in handler.rejections] == [400]


@contextmanager
def client_of(
    engine: Running, site: Origin, ca: CertificateAuthority, window: int | None = None
) -> Iterator[H2Client]:
    with secure(engine.port, "localhost", site.port, ca.certificate, "h2") as connection:
        assert connection.selected_alpn_protocol() == "h2"
        yield H2Client(connection, f"localhost:{site.port}", window)


def test_a_stream_that_is_reset_as_it_is_opened_is_given_up(
    ca: CertificateAuthority, secure_h2: Origin
) -> None:
    handler = Scripted()
    with running(handler, ca) as engine, client_of(engine, secure_h2, ca) as client:
        client.conn.reset_stream(client.ask("/given-up", flush=False))
        assert client.wait(client.ask("/other")).body == b"hello"
        wait_until(lambda: len(handler.outcomes) == 2)
    given_up = {it.request.path: it.is_given_up for it in handler.exchanges}
    assert given_up == {"/given-up": True, "/other": False}
