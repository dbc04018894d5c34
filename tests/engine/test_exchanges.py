"""Plans are done to real sockets, and outcomes tell what the wire has seen."""

import socket
import time
from math import inf

import pytest

from tests.engine.running import Scripted, running, wait_until
from tests.ports import reserved_port
from tests.proxy.support.client import (
    read_answer,
    read_until_closed,
    secure,
    tunnelled,
    was_reset,
)
from tests.proxy.support.origin import Answer, Origin
from warex.engine.handler import Abort, Forward, Pace, Plan, ReadWhole, Relay, Respond, Stop
from warex.engine.http.heads import Headers
from warex.proxy.certificates.ca import CertificateAuthority

pytestmark = pytest.mark.wire

GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_an_exchange_passes_as_it_came(ca: CertificateAuthority, secure_h1: Origin) -> None:
    raw = b"HTTP/1.1 200 Fine  \r\nX-odd:  a \r\ncontent-LENGTH: 5\r\n\r\nhello"
    secure_h1.routes["/"] = Answer(raw=raw)
    handler = Scripted()
    with (
        running(handler, ca) as engine,
        secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client,
    ):
        for count in (1, 2):
            client.sendall(GET)
            head, body = read_answer(client)
            assert head + b"\r\n\r\n" + body == raw
            outcome = handler.outcome(count)
            assert (outcome.end, outcome.arrived, outcome.response_bytes) == ("complete", True, 5)
    assert [seen.head for seen in secure_h1.seen] == [GET, GET]
    assert secure_h1.connections == 1
    assert handler.handshakes == [("established", "")]


def test_chunks_and_trailers_pass_as_they_came(ca: CertificateAuthority, secure_h1: Origin) -> None:
    raw = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"5 ;x=y\r\nhello\r\n0001\r\n!\r\n0\r\nX-End: z\r\n\r\n"
    )
    secure_h1.routes["/"] = Answer(raw=raw)
    handler = Scripted()
    with (
        running(handler, ca) as engine,
        secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client,
    ):
        client.sendall(GET)
        got = b""
        while not got.endswith(b"X-End: z\r\n\r\n"):
            got += client.recv(4096)
        assert got == raw
        assert handler.outcome().response_bytes == 6


def test_a_hold_comes_before_the_site_is_asked(ca: CertificateAuthority, secure_h1: Origin) -> None:
    handler = Scripted(request_plan=lambda exchange: Plan(Forward(), hold_s=(0.2, 0.1)))
    with (
        running(handler, ca) as engine,
        secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client,
    ):
        began = time.monotonic()
        client.sendall(GET)
        read_answer(client)
        assert 0.29 <= handler.outcome().held_s <= time.monotonic() - began


def test_a_client_that_leaves_during_a_hold_ends_the_exchange(
    ca: CertificateAuthority, secure_h1: Origin
) -> None:
    handler = Scripted(request_plan=lambda exchange: Plan(Forward(), hold_s=(60,)))
    with running(handler, ca) as engine:
        with secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client:
            client.sendall(GET)
            wait_until(lambda: handler.exchanges)
        outcome = handler.outcome()
    assert (outcome.end, outcome.left_while_held) == ("client_left", True)
    assert secure_h1.seen == []


def test_a_response_of_our_own_arrives(ca: CertificateAuthority, secure_h1: Origin) -> None:
    own = Respond(503, Headers.of_text([("Retry-After", "1")]), (b"sor", b"ry"))
    handler = Scripted(request_plan=lambda exchange: Plan(own))
    with (
        running(handler, ca) as engine,
        secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client,
    ):
        client.sendall(GET)
        head, body = read_answer(client)
        assert head.startswith(b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n")
        assert body == b"sorry"
        outcome = handler.outcome()
        assert (outcome.end, outcome.arrived, outcome.response_bytes) == ("complete", True, 5)
        # The connection is still good.
        client.sendall(GET)
        assert read_answer(client)[1] == b"sorry"


@pytest.mark.parametrize("how", ["close", "reset"])
def test_an_abort_ends_the_connection(
    ca: CertificateAuthority, secure_h1: Origin, how: str
) -> None:
    handler = Scripted(request_plan=lambda exchange: Plan(Abort(how)))  # type: ignore[arg-type]
    with (
        running(handler, ca) as engine,
        secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client,
    ):
        client.sendall(GET)
        if how == "close":
            assert read_until_closed(client) == b""
        else:
            assert was_reset(client)
        outcome = handler.outcome()
        assert (outcome.end, outcome.arrived, outcome.head_sent) == ("aborted", True, False)


def test_the_last_piece_of_a_response_leaves_with_its_end(
    ca: CertificateAuthority, secure_h1: Origin
) -> None:
    chunked = Headers.of_text([("Transfer-Encoding", "chunked")])
    own = Respond(200, chunked, (b"one", b"two"), Pace(pause_s=0.01))
    handler = Scripted(response_plan=lambda exchange: Plan(own))
    with (
        running(handler, ca) as engine,
        secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client,
    ):
        client.sendall(GET)
        # Each read returns one record of TLS, which is one write.
        assert client.recv(4096).endswith(b"\r\n\r\n3\r\none\r\n")
        assert client.recv(4096) == b"3\r\ntwo\r\n0\r\n\r\n"


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_response_is_paced_and_cut(ca: CertificateAuthority, secure_h1: Origin, how: str) -> None:
    own = Respond(
        200,
        Headers.of_text([("Content-Length", "100")]),
        (b"a", b"b", b"c"),
        Pace(pause_s=0.1, stops=(Stop(3, then=how),)),  # type: ignore[arg-type]
    )
    handler = Scripted(response_plan=lambda exchange: Plan(own))
    with (
        running(handler, ca) as engine,
        secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client,
    ):
        began = time.monotonic()
        client.sendall(GET)
        got, times = b"", []
        try:
            while piece := client.recv(4096):
                got += piece
                times.append(time.monotonic())
        except ConnectionResetError:
            assert how == "reset"
        assert got.endswith(b"\r\n\r\nabc")
        assert times[-1] - began >= 0.19  # The first piece may have been read late.
        outcome = handler.outcome()
        assert (outcome.end, outcome.arrived, outcome.response_bytes) == ("aborted", True, 3)
        assert 0.19 <= outcome.held_s <= time.monotonic() - began


def test_a_response_falls_silent_before_one_of_its_pieces(
    ca: CertificateAuthority, secure_h1: Origin
) -> None:
    chunked = Headers.of_text([("Transfer-Encoding", "chunked")])
    pace = Pace(stops=(Stop(3, 0.1), Stop(6, inf)))
    own = Respond(200, chunked, (b"one", b"two"), pace)
    handler = Scripted(response_plan=lambda exchange: Plan(own))
    with (
        running(handler, ca) as engine,
        secure(engine.port, "localhost", secure_h1.port, ca.certificate) as client,
    ):
        client.sendall(GET)
        assert client.recv(4096).endswith(b"3\r\none\r\n")
        assert client.recv(4096) == b"3\r\ntwo\r\n"
    outcome = handler.outcome()
    assert (outcome.end, outcome.left_while_held, outcome.head_sent) == ("client_left", True, True)
    assert outcome.held_s >= 0.1
    assert outcome.stops == 2


def test_a_response_is_read_whole_and_changed(ca: CertificateAuthority, plain: Origin) -> None:
    def decide(exchange: object) -> Plan[Relay | Respond | Abort]:
        body = handler.exchanges[0].response_body or b""
        return Plan(Respond(200, Headers(), (body.upper(),)))

    handler = Scripted(response_plan=lambda exchange: Plan(ReadWhole(1000)), buffered_plan=decide)
    with running(handler, ca) as engine, tunnelled(engine.port, "127.0.0.1", plain.port) as client:
        client.sendall(request(plain))
        assert read_answer(client)[1] == b"HELLO"


def test_a_response_longer_than_its_limit_is_relayed(
    ca: CertificateAuthority, plain: Origin
) -> None:
    plain.routes["/"] = Answer(body=b"x" * 300_000)
    handler = Scripted(response_plan=lambda exchange: Plan(ReadWhole(1000)))
    with running(handler, ca) as engine, tunnelled(engine.port, "127.0.0.1", plain.port) as client:
        client.sendall(request(plain))
        assert read_answer(client)[1] == b"x" * 300_000
        assert handler.outcome().response_bytes == 300_000


def test_a_tap_may_change_the_length(ca: CertificateAuthority, plain: Origin) -> None:
    handler = Scripted(
        response_plan=lambda exchange: Plan(Relay(tap=True, changes_length=True)),
        piece=lambda piece, last: [b"end"] if last else [piece, b"+"],
    )
    with running(handler, ca) as engine, tunnelled(engine.port, "127.0.0.1", plain.port) as client:
        client.sendall(request(plain))
        got = b""
        while not got.endswith(b"0\r\n\r\n"):
            got += client.recv(4096)
        assert got.endswith(b"5\r\nhello\r\n1\r\n+\r\n3\r\nend\r\n0\r\n\r\n")


def test_what_is_only_read_is_reported_before_its_client_has_the_end(
    ca: CertificateAuthority, plain: Origin
) -> None:
    handler = Scripted(
        response_plan=lambda exchange: Plan(Relay(tap=True, only_reads=True)),
        piece=lambda piece, last: [] if last else [piece],
    )
    with running(handler, ca) as engine, tunnelled(engine.port, "127.0.0.1", plain.port) as client:
        for count in range(1, 11):
            client.sendall(request(plain))
            assert read_answer(client)[1] == b"hello"
            assert len(handler.outcomes) == count
    assert {(it.end, it.arrived) for it in handler.outcomes} == {("complete", True)}


def test_a_request_is_sent_as_often_as_planned(ca: CertificateAuthority, plain: Origin) -> None:
    handler = Scripted(need="whole", request_plan=lambda exchange: Plan(Forward(copies=2)))
    with running(handler, ca) as engine, tunnelled(engine.port, "127.0.0.1", plain.port) as client:
        client.sendall(request(plain, b"POST", b"Content-Length: 2\r\n") + b"ab")
        read_answer(client)
        assert handler.outcome().copies_sent == 2
    assert [seen.body for seen in plain.seen] == [b"ab"] * 3


def test_a_site_that_fails_within_its_answer_ends_the_clients_too(
    ca: CertificateAuthority, plain: Origin
) -> None:
    plain.routes["/"] = Answer(
        raw=b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 10\r\n\r\nabc"
    )
    handler = Scripted()
    with running(handler, ca) as engine, tunnelled(engine.port, "127.0.0.1", plain.port) as client:
        client.sendall(request(plain))
        assert read_until_closed(client).endswith(b"abc")
        outcome = handler.outcome()
        assert (outcome.end, outcome.response_bytes) == ("site_failed", 3)


def test_a_site_that_is_down_is_not_a_client_that_left(ca: CertificateAuthority) -> None:
    port = reserved_port()
    handler = Scripted()
    with running(handler, ca) as engine, proxied(engine.port) as client:
        client.sendall(f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert read_until_closed(client) == b""
        outcome = handler.outcome()
        assert (outcome.end, outcome.unreachable) == ("site_failed", "connection_refused")
        assert "refused" in (outcome.error or "")


def proxied(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30)


def request(site: Origin, method: bytes = b"GET", fields: bytes = b"") -> bytes:
    return b"%b / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%b\r\n" % (method, site.port, fields)
