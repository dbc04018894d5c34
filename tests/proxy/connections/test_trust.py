"""Below HTTP: who is read, and who refuses to be."""

import ssl

import h2.connection
import httpx
import pytest
from h2.events import DataReceived

from tests.proxy.support.client import trusting, tunnelled
from tests.proxy.support.lanes import Begin, scenario, wait_until
from tests.proxy.support.origin import Origin, served
from warex.faults.server.http_error import HttpError
from warex.proxy.certificates.ca import CertificateAuthority
from warex.traces import RequestSeen, TlsRejected, Tunnel

pytestmark = pytest.mark.wire
ALWAYS = scenario(HttpError(status=500))


def test_a_host_whose_client_refuses_us_is_passed_through_from_then_on(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    stranger = ssl.create_default_context()
    with begin(scenario=ALWAYS) as lane:
        raw = tunnelled(lane.port, "localhost", secure_h1.port)
        with raw, pytest.raises(ssl.SSLCertVerificationError):
            stranger.wrap_socket(raw, server_hostname="localhost")
        wait_until(lambda: lane.notices)
        with httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client:
            assert client.get(f"https://localhost:{secure_h1.port}/a").text == "hello"
    assert [event.host for event in lane.events(TlsRejected)] == ["localhost"]
    assert [event.why for event in lane.events(Tunnel)] == ["tls_rejected"]
    assert "does not trust" in lane.notices[0]


def test_http_2_without_tls_is_read_in_a_tunnel(begin: Begin) -> None:
    # As gRPC's insecure channels do behind a proxy.
    with served(h2c=True) as site, begin() as lane:
        raw = tunnelled(lane.port, "127.0.0.1", site.port)
        client = h2.connection.H2Connection()
        client.initiate_connection()
        head = [(":method", "GET"), (":scheme", "http"), (":authority", "site"), (":path", "/a")]
        client.send_headers(1, head, end_stream=True)
        with raw:
            raw.sendall(client.data_to_send())
            body = b""
            while b"hello" not in body:
                received = raw.recv(65536)
                assert received, "the connection was closed"
                events = client.receive_data(received)
                body += b"".join(it.data for it in events if isinstance(it, DataReceived))
        assert [(seen.target, seen.version) for seen in site.seen] == [("/a", "HTTP/2.0")]
    assert [event.http_version for event in lane.events(RequestSeen)] == ["HTTP/2.0"]


def test_a_client_that_only_goes_away_has_refused_nobody(
    begin: Begin, ca: CertificateAuthority, secure_h1: Origin
) -> None:
    with begin(scenario=ALWAYS) as lane:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = trusting(ca.certificate).wrap_bio(incoming, outgoing, server_hostname="localhost")
        with tunnelled(lane.port, "localhost", secure_h1.port) as raw:
            with pytest.raises(ssl.SSLWantReadError):
                tls.do_handshake()
            raw.sendall(outgoing.read())
            assert raw.recv(1)
        with httpx.Client(proxy=lane.url, verify=trusting(ca.certificate)) as client:
            assert client.get(f"https://localhost:{secure_h1.port}/a").status_code == 500
    assert lane.events(TlsRejected) == []
