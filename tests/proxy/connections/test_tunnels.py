"""What is passed through is not read, and its account is right to the byte."""

import socket
import ssl
from collections.abc import Callable

import httpx
import pytest

from tests.proxy.support.client import read_answer, secure, trusting, tunnelled
from tests.proxy.support.lanes import Begin, scenario
from tests.proxy.support.origin import Origin
from warex.faults.server.http_error import HttpError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.traces import FaultPlanned, RequestSeen, Tunnel

pytestmark = pytest.mark.wire

ALWAYS = scenario(HttpError(status=500))


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"pass_through": ("localhost",), "scenario": ALWAYS}, "pass_through"),
        ({"record": "concerned"}, "not_concerned"),
    ],
)
def test_the_client_meets_the_sites_own_certificate(
    begin: Begin,
    ca: CertificateAuthority,
    secure_h2: Origin,
    config: dict[str, object],
    why: str,
) -> None:
    with (
        begin(**config) as lane,
        secure(lane.port, "localhost", secure_h2.port, ca.certificate, "h2") as connection,
    ):
        shown = connection.getpeercert(binary_form=True)
    direct = socket.create_connection(("127.0.0.1", secure_h2.port))
    with (
        direct,
        trusting(ca.certificate).wrap_socket(direct, server_hostname="localhost") as connection,
    ):
        own = connection.getpeercert(binary_form=True)
    assert shown == own
    (tunnel,) = lane.events(Tunnel)
    assert (tunnel.host, tunnel.port, tunnel.why) == ("localhost", secure_h2.port, why)
    assert tunnel.seconds >= 0
    assert not lane.events(RequestSeen)
    assert not lane.events(FaultPlanned)


def test_only_what_a_rule_concerns_is_read(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    rule = scenario(HttpError(status=500), match={"url": f"https://localhost:{secure_h1.port}/*"})
    with (
        begin(record="concerned", scenario=rule) as lane,
        httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client,
    ):
        assert client.get(f"https://localhost:{secure_h1.port}/").status_code == 500
    assert lane.events(Tunnel) == []


def test_a_tunnels_bytes_are_those_behind_the_connect(begin: Begin, secure_h1: Origin) -> None:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    sent = received = 0
    with (
        begin(pass_through=("localhost",)) as lane,
        tunnelled(lane.port, "localhost", secure_h1.port) as raw,
    ):

        def step[T](call: Callable[[], T]) -> T:
            nonlocal sent, received
            while True:
                try:
                    return call()
                except ssl.SSLWantReadError:
                    out = outgoing.read()
                    sent += len(out)
                    raw.sendall(out)
                    data = raw.recv(65536)
                    received += len(data)
                    incoming.write(data)

        step(tls.do_handshake)
        tls.write(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = step(lambda: tls.read(1000))
        while not answer.endswith(b"hello"):
            answer += step(lambda: tls.read(1000))
    (tunnel,) = lane.events(Tunnel)
    assert (tunnel.sent, tunnel.received) == (sent, received)


def test_plain_http_to_a_host_that_is_passed_through_is_not_read(
    begin: Begin, plain: Origin
) -> None:
    with (
        begin(pass_through=("127.0.0.1",), scenario=ALWAYS) as lane,
        socket.create_connection(("127.0.0.1", lane.port), timeout=30) as client,
    ):
        url = f"http://127.0.0.1:{plain.port}/a"
        client.sendall(
            f"POST {url} HTTP/1.1\r\nHost: 127.0.0.1:{plain.port}\r\n"
            "Content-Length: 3\r\n\r\nabc".encode()
        )
        head, body = read_answer(client)
    assert body == b"hello"
    (tunnel,) = lane.events(Tunnel)
    assert (tunnel.host, tunnel.port, tunnel.why) == ("127.0.0.1", plain.port, "pass_through")
    assert tunnel.sent == len(plain.seen[0].head) + 3
    assert tunnel.received == len(head) + 4 + 5
    assert not lane.events(RequestSeen)
    assert not lane.events(FaultPlanned)


def test_a_tunnel_that_is_open_at_the_end_is_recorded(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    with begin(pass_through=("localhost",)) as lane:
        raw = tunnelled(lane.port, "localhost", secure_h1.port)
        wrapped = trusting(ca.certificate).wrap_socket(raw, server_hostname="localhost")
    wrapped.close()
    assert len(lane.events(Tunnel)) == 1
    assert lane.trace.entries[-1].event.event == "trial_ended"


def test_what_is_not_http_is_relayed_as_it_is(begin: Begin) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, begin() as lane:
        port = server.getsockname()[1]
        with tunnelled(lane.port, "127.0.0.1", port) as client:
            client.sendall(b"\x00\x01 hello?")
            site, _ = server.accept()
            with site:
                assert site.recv(100) == b"\x00\x01 hello?"
                site.sendall(b"\xff\xfe")
                assert client.recv(100) == b"\xff\xfe"
    (tunnel,) = lane.events(Tunnel)
    assert (tunnel.why, tunnel.sent, tunnel.received) == ("not_http", 9, 2)
